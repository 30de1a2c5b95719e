/** Holds tests, table, defaults and rules together. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { defaultKnobs, formatKnobs, KNOB_NAMES } from '../../src/platform/contract/knobs.ts'
import { read, trackedFiles } from '../architecture/files.ts'
import { DEFAULTS } from './defaults.ts'

const here = new URL('.', import.meta.url)
const readText = (url: URL) => readFileSync(url, 'utf8')

/** The titles of every test in this folder, templates with their placeholders. */
function titles(): string[] {
  const files = readdirSync(here).filter(name => name.endsWith('.test.ts'))
  return files.flatMap(name =>
    [
      ...readText(new URL(name, here)).matchAll(/(?<=\n|^)\s*(?:test\(|test\.each\((?:.|\n)*?\)\()\s*(['`])(.*?)\1/g),
    ].map(match => match[2]!),
  )
}

test('every knob and every assumption has a test that names it', () => {
  const all = titles()
  const wanted = new Set([...KNOB_NAMES, ...ASSUMPTIONS.map(({ name }) => name)])
  const missing = [...wanted].filter(name => !all.some(title => title.split(/[\s,:]+/).includes(name)))
  expect(missing).toEqual([])
})

test('every name of an assumption is unique, and that of its principal knob where it has knobs', () => {
  const names = ASSUMPTIONS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter(name => !/^[a-z]+\.[a-zA-Z]+$/.test(name))).toEqual([])
  expect(ASSUMPTIONS.filter(({ name, knobs }) => knobs.length > 0 && knobs[0] !== name)).toEqual([])
})

test('every knob belongs to exactly one assumption', () => {
  const listed = ASSUMPTIONS.flatMap(({ knobs }) => knobs)
  expect(listed.toSorted()).toEqual([...KNOB_NAMES].sort())
})

test('every assumption points at a rule of docs/reference/platform.md', () => {
  const page = readText(new URL('../../docs/reference/platform.md', here))
  const ids = [...page.matchAll(/^\| ([A-Z][A-Z-]*[\d.]*) \|/gm)].map(match => match[1]!)
  expect(ids.length).toBeGreaterThan(150)
  const known = (rule: string) =>
    ids.some(
      id =>
        id === rule ||
        (id.startsWith(rule) && /^\.?\d/.test(id.slice(rule.length)) && !/\d$/.test(rule)) ||
        id.startsWith(`${rule}.`),
    )
  expect(ASSUMPTIONS.filter(({ rule }) => !known(rule)).map(({ name, rule }) => `${name}: ${rule}`)).toEqual([])
})

test('docs/reference/platform.md names every assumption', () => {
  const page = readText(new URL('../../docs/reference/platform.md', here))
  expect(ASSUMPTIONS.map(({ name }) => name).filter(name => !page.includes(`\`${name}\``))).toEqual([])
})

test('every default is the documented one', () => {
  expect(formatKnobs(defaultKnobs())).toEqual(DEFAULTS)
})

test('no file refers to an assumption by a number', () => {
  const places = /^(src|docs|schema|test|scripts|examples|scenarios|fixtures|README\.md)/
  const files = trackedFiles().filter(file => places.test(file))
  const unexpectedCalls = files.flatMap(file =>
    [...read(file).matchAll(/\b(?:assumption|row)s? #?\d+/gi)].map(([text]) => [file, text]),
  )
  expect(unexpectedCalls).toEqual([])
})
