/** Reads the formats of reports by their rules. A text that breaks a rule throws or fails an expectation. */
// @ts-expect-error: jsdom has no types

import { JSDOM } from 'jsdom'
import { expect } from 'vitest'
import { parse } from 'yaml'

const { DOMParser } = new JSDOM('').window

/** Parses well-formed XML. */
export function readXml(source: string): Document {
  const document: Document = new DOMParser().parseFromString(source, 'application/xml')
  expect(document.querySelector('parsererror')?.textContent).toBeUndefined()
  return document
}

export const attributesOf = (element: Element | null | undefined): Record<string, string> =>
  Object.fromEntries([...(element?.attributes ?? [])].map(({ name, value }) => [name, value]))

/** A plan, points with a title, a directive and a YAML block each, and a line that bails out, as TAP 14 has them. */
export function readTap(source: string) {
  const [version, plan, ...lines] = source.split('\n')
  expect([version, lines.pop()]).toEqual(['TAP version 14', ''])
  const bail = lines.at(-1)?.startsWith('Bail out! ') ? lines.pop()!.slice('Bail out! '.length) : null
  const points = []
  while (lines.length > 0) {
    const [, not, , rest] = /^(not )?ok (\d+) - (.*)$/.exec(lines.shift()!)!
    const [title, kind, why] = rest!.split(/(?<=[^\\](?:\\\\)*) # (SKIP|TODO) ?/)
    const block = lines.splice(0, lines.indexOf('  ...') + 1)
    const facts: Record<string, unknown> = parse(block.slice(1, -1).join('\n'))
    points.push({ ok: not === undefined, title, directive: kind === undefined ? null : `${kind} ${why}`, facts })
  }
  expect(plan).toBe(`1..${points.length}`)
  return { points, bail }
}

/** Takes the commands apart as a runner of GitHub does. */
export function readCommands(source: string): Record<string, string>[] {
  const decode = (text: string) =>
    text.replaceAll('%0A', '\n').replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%')
  return source
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [, command, properties = '', message] = /^::(\w+)(?: (.*?))?::(.*)$/.exec(line)!
      const pairs = properties.split(',').filter(pair => pair !== '')
      const values = pairs.map(pair => pair.split(/=(.*)/s).slice(0, 2).map(decode))
      return { command: command!, ...Object.fromEntries(values), message: decode(message!) }
    })
}
