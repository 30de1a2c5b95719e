/** Holds tests, table, defaults and rules together. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ASSUMPTIONS, rowOfKnob } from '../../src/contract/assumptions.ts'
import { ERRORS } from '../../src/contract/errors.ts'
import { defaultKnobs, KNOB_NAMES, showKnobs } from '../../src/contract/knobs.ts'
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

test('every knob has a test that names it and its row', () => {
  const all = titles()
  const missing = KNOB_NAMES.map(name => `${name} (${rowOfKnob(name)?.id})`).filter(
    wanted => !all.some(title => title.includes(wanted)),
  )
  expect(missing).toEqual([])
})

test('titles name no knob with another row', () => {
  const named = titles().flatMap(title => [...title.matchAll(/([a-z]+\.[a-zA-Z]+) \((\d+)\)/g)])
  expect(named.length).toBeGreaterThanOrEqual(KNOB_NAMES.length)
  const wrong = named.filter(([, name, row]) => !ASSUMPTIONS[Number(row) - 1]?.knobs.some(knob => knob === name))
  expect(wrong.map(match => match[0])).toEqual([])
})

test('rows are 1 to 47, each once, in order', () => {
  expect(ASSUMPTIONS.map(row => row.id)).toEqual(Array.from({ length: 47 }, (_, index) => index + 1))
})

test('every knob belongs to exactly one row and every row has one', () => {
  const listed = ASSUMPTIONS.flatMap(row => row.knobs)
  expect(listed.toSorted()).toEqual([...KNOB_NAMES].sort())
  expect(ASSUMPTIONS.filter(row => row.knobs.length === 0).map(row => row.id)).toEqual([])
})

test('every row points at a rule of docs/platform.md', () => {
  const page = readText(new URL('../../docs/platform.md', here))
  const ids = [...page.matchAll(/^\| ([A-Z][A-Z-]*[\d.]*) \|/gm)].map(match => match[1]!)
  expect(ids.length).toBeGreaterThan(150)
  const known = (rule: string) =>
    ids.some(
      id =>
        id === rule ||
        (id.startsWith(rule) && /^\.?\d/.test(id.slice(rule.length)) && !/\d$/.test(rule)) ||
        id.startsWith(`${rule}.`),
    )
  expect(ASSUMPTIONS.filter(row => !known(row.rule)).map(row => `${row.id}: ${row.rule}`)).toEqual([])
})

test('docs/platform.md names every assumption', () => {
  const page = readText(new URL('../../docs/platform.md', here))
  const named = new Set([...page.matchAll(/assumption (\d+)/g)].map(match => Number(match[1])))
  const unnamed = ASSUMPTIONS.map(row => row.id).filter(id => !named.has(id))
  expect(unnamed).toEqual([])
})

test('every default is the documented one', () => {
  expect(showKnobs(defaultKnobs())).toEqual(Object.assign({}, ...Object.values(DEFAULTS)))
})

test('the documented defaults stand in the rows of their knobs', () => {
  const byRow = Object.entries(DEFAULTS).map(([row, knobs]) => [Number(row), Object.keys(knobs).toSorted()])
  expect(byRow).toEqual(ASSUMPTIONS.map(row => [row.id, row.knobs.toSorted()]))
})

test('every error code leans on a row', () => {
  const rows = Object.values(ERRORS).map(error => error.row)
  expect(rows.filter(row => ASSUMPTIONS[row - 1] === undefined)).toEqual([])
})
