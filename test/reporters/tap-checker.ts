/** Reads TAP 14 by its rules; anything else throws. */
import { expect } from 'vitest'
import { parse } from 'yaml'

interface Point {
  readonly ok: boolean
  readonly number: number
  readonly text: string
  readonly skip: string | null
  readonly todo: string | null
  readonly facts: Record<string, unknown>
}

export interface Tap {
  readonly plan: number
  readonly points: readonly Point[]
  readonly bail: string | null
}

/** By the rules of TAP 14, line for line; anything else throws. */
export function readTap(source: string): Tap {
  const lines = source.split('\n')
  expect(lines.shift()).toBe('TAP version 14')
  expect(lines.pop()).toBe('')
  const plan = Number(/^1\.\.(\d+)$/.exec(lines.shift()!)![1])
  const points: Point[] = []
  let bail: string | null = null
  while (lines.length > 0) {
    const line = lines.shift()!
    if (line.startsWith('Bail out! ')) {
      bail = line.slice('Bail out! '.length)
      continue
    }
    const [, not, number, rest] = /^(not )?ok (\d+) - (.*)$/.exec(line)!
    const [text, kind, why = null] = rest!.split(/(?<=[^\\](?:\\\\)*) # (SKIP|TODO) ?/)
    const [skip, todo] = [kind === 'SKIP' ? why : null, kind === 'TODO' ? why : null]
    const end = lines.indexOf('  ...')
    const block = lines.splice(0, end + 1).slice(1, -1)
    points.push({
      ok: not === undefined,
      number: Number(number),
      text: text!,
      skip,
      todo,
      facts: parse(block.join('\n')),
    })
  }
  return { plan, points, bail }
}
