import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { FINDINGS } from '../../src/evaluation/linter/lint.ts'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { ENDPOINTS } from '../../src/platform/contract/endpoints.ts'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Rules no test can hold this simulator against, and why. */
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

const sources = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.ts'))
  .map(name => readFileSync(`${ROOT}test/${name}`, 'utf8'))

/** The first argument of every `it(...)` and `it.each(...)(...)`, as far as it is a plain text. */
const TITLE = /(?:\bit\(|^\s*(?:\]\s*(?:as const)?)?\)\(|\bit\.each\([^\n]*\)\()\s*(['"`])(.+?)\1,/gm

const named = new Set(
  sources.flatMap(source => [...source.matchAll(TITLE)]).flatMap(title => title[2]!.split(/[\s,:;()]+/)),
)

it('W1 every rule of docs/reference/platform.md is named by a test, or listed with the reason why not', () => {
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
  expect(rows.filter((id, index) => rows.indexOf(id) !== index)).toEqual([])
})

it('W1 every rule that reports name has its row', () => {
  const ids = new Set<string>(Object.keys(FINDINGS))
  for (const { rule } of Object.values(ENDPOINTS)) ids.add(rule)
  for (const { rule } of Object.values(ASSUMPTIONS)) ids.add(rule)
  for (const check of CHECKS) for (const rule of check.rules) ids.add(rule)
  // Literals of the evaluator and the linter, such as `rules: ['W7', 'V1']` and `[E3.4]`.
  for (const name of readdirSync(`${ROOT}src/evaluation`, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const source = readFileSync(`${ROOT}src/evaluation/${name}`, 'utf8')
    for (const [, id] of source.matchAll(/['[]((?:WH|EV|ER|ST|R-[A-Z]+|[WEALV])\d*(?:\.\d+)?)['\]]/g)) ids.add(id!)
  }
  for (const name of readdirSync(`${ROOT}scenarios`).filter(file => file.endsWith('.yaml'))) {
    const [, spec = ''] = /^spec: \[(.*)\]$/m.exec(readFileSync(`${ROOT}scenarios/${name}`, 'utf8')) ?? []
    for (const id of spec.split(', ')) ids.add(id)
  }
  expect([...ids].filter(id => !rows.includes(id))).toEqual([])
})
