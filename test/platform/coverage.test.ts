import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Rules no test can hold this simulator against, and why. */
const NOT_TESTABLE: Record<string, string> = {
  W4: 'describes who builds which system; nothing the simulator could do or leave undone',
  'R-SENDER.6': 'about the legacy chat bubble, a widget the simulator has no counterpart of',
  'E9.5': 'about dialogue webhooks, which are another product and not simulated',
  WH4: 'a duty of the intermediary towards its support platform; scenarios judge it, the platform cannot',
}

const rules = [...readFileSync(`${ROOT}docs/platform.md`, 'utf8').matchAll(/^\| (\S+) \| /gm)]
  .map(row => row[1]!)
  .filter(id => id !== 'id')

const sources = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.ts'))
  .map(name => readFileSync(`${ROOT}test/${name}`, 'utf8'))

/** The first argument of every `it(...)` and `it.each(...)(...)`, as far as it is a plain text. */
const TITLE = /(?:\bit\(|^\s*(?:\]\s*(?:as const)?)?\)\(|\bit\.each\([^\n]*\)\()\s*(['"`])(.+?)\1,/gm

const named = new Set(
  sources.flatMap(source => [...source.matchAll(TITLE)]).flatMap(title => title[2]!.split(/[\s,:;()]+/)),
)

it('W1 every rule of docs/platform.md is named by a test, or listed with the reason why not', () => {
  expect(rules.length).toBeGreaterThan(150)
  const missing = rules.filter(id => !named.has(id) && !Object.hasOwn(NOT_TESTABLE, id))
  expect(missing, 'rules no test names').toEqual([])
})

it('W1 the list of exceptions holds existing rules only, and none that a test names', () => {
  const listed = Object.keys(NOT_TESTABLE)
  expect(listed.filter(id => !rules.includes(id))).toEqual([])
  expect(listed.filter(id => named.has(id))).toEqual([])
})

it('W1 rules have one id each', () => {
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([])
})
