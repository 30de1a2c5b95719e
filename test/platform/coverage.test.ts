/** Compares the rules of docs/reference/platform.md with the titles of the tests and with the rules that reports name. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { FINDINGS } from '../../src/evaluation/rules/accepted-with-finding.ts'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { ENDPOINTS } from '../../src/platform/contract/endpoints.ts'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Rules that no test of this simulator can check, and why. */
const NOT_TESTABLE: Record<string, string> = {
  W4: 'describes who builds which system; nothing the simulator could do or leave undone',
  'R-SENDER.6': 'about the legacy chat bubble, a widget the simulator has no counterpart of',
  'E9.5': 'about dialogue webhooks, which are another product and not simulated',
  WH4: 'a duty of the intermediary towards its support platform; scenarios judge it, the platform cannot',
}

const rows = [...readFileSync(`${ROOT}docs/reference/platform.md`, 'utf8').matchAll(/^\| (\S+) \| /gm)]
  .map(row => row[1]!)
  .filter(id => id !== 'id')
/** A row such as E1 names the rules E1.1 to E1.4, EV and L a section; GP and PUB are no rules of the description. */
const rules = rows.filter(id => !['EV', 'L', 'GP', 'PUB'].includes(id) && !rows.includes(`${id}.1`))

/** The first argument of every `it(...)` and `it.each(...)(...)`, as far as it is a plain text. */
const TITLE = /(?:\bit\(|^\s*(?:\]\s*(?:as .*)?)?\)\(|\bit\.each\([^\n]*\)\()\s*(['"`])(.+?)\1,/gm

const named = new Set(
  ['platform', 'api']
    .flatMap(folder => readdirSync(`${ROOT}test/${folder}`).map(name => `${ROOT}test/${folder}/${name}`))
    .flatMap(file => [...readFileSync(file, 'utf8').matchAll(TITLE)])
    .flatMap(title => title[2]!.split(/[\s,:;()]+/)),
)

it('W1 every rule of docs/reference/platform.md is named by a test, or listed with the reason why not', () => {
  expect(rules.length).toBeGreaterThan(150)
  expect(new Set(rows).size).toBe(rows.length)
  const untested = rules.filter(id => !named.has(id))
  expect(untested.sort(), 'rules no test names').toEqual(Object.keys(NOT_TESTABLE).sort())
})

it('W1 every rule that reports name has its row', () => {
  const reported = [
    ...Object.keys(FINDINGS),
    ...[...Object.values(ENDPOINTS), ...Object.values(ASSUMPTIONS)].map(({ rule }) => rule),
    ...CHECKS.flatMap(check => check.rules),
  ]
  expect(reported.filter(id => !rows.includes(id))).toEqual([])
})
