/** Checks that the example passes the shipped scenarios, and that each scenario finds its bugs. */
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../src/evaluation/evaluator/evaluator.ts'
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../../src/evaluation/scenario/load/load.ts'
import { SCENARIO_GROUPS } from '../../src/running/runner/schedule.ts'
import { filesIn } from '../architecture/files.ts'
import { BUGS } from '../mutants/bugs.ts'
import type { DesignName } from '../mutants/designs.ts'
import { runInProcess } from './in-process.ts'

const loaded = await loadScenarios(['scenarios'], { cwd: process.cwd(), nodeVersion: process.version })
const FILES = filesIn('scenarios', '.yaml').filter(file => !file.startsWith('parts/'))
const PLANS = new Map(compile(loaded).map(plan => [plan.name, plan]))
/** Nothing in this process can be killed and started again. */
const RESTART = 'restart.yaml'

function clockOf(file: string): 'real' | 'virtual' {
  const plans = [...PLANS.values()].filter(plan => plan.file === `scenarios/${file}`)
  return plans.some(({ clock }) => clock?.mode === 'virtual') ? 'virtual' : 'real'
}

const runFile = (changes: Parameters<typeof runInProcess>[0], file: string) =>
  runInProcess(changes, `scenarios/${file}`, clockOf(file))

describe('the files', () => {
  it('load without warnings, and a run of the folder finds all of them', () => {
    expect(loaded.map(({ file }) => file).sort()).toEqual(FILES.map(file => `scenarios/${file}`).sort())
    expect(loaded.flatMap(({ warnings }) => warnings)).toEqual([])
  })

  it('are of one group each, and wait only on a virtual clock', () => {
    for (const { name, value } of loaded)
      expect(value.tags?.filter(tag => Object.hasOwn(SCENARIO_GROUPS, tag)).length, name).toBe(1)
    for (const { name, steps, clock } of PLANS.values()) {
      const waits = JSON.stringify(steps).includes('"verb":"wait"')
      expect(waits && clock?.mode !== 'virtual', name).toBe(false)
    }
  })

  it('have a bug each that they find', () => {
    expect([...new Set(BUGS.map(({ scenario }) => `${scenario}.yaml`))].sort()).toEqual(FILES)
  })
})

it.for(FILES.filter(file => file !== RESTART))('the example passes %s without warnings', async file => {
  const scenarios = await runFile(null, file)
  expect(scenarios.length).toBeGreaterThan(0)
  expect(scenarios.filter(({ outcome, warnings }) => outcome !== 'pass' || warnings.length > 0)).toEqual([])
})

/** What cannot pass with a design is left out. */
const DESIGNS: readonly [design: DesignName, without: readonly string[]][] = [
  // Its help desk takes no text of an agent until `start` is answered.
  ['records-calls-late', ['Slow platform', 'Lost answers']],
  ['works-in-batches', []],
]

it.for(DESIGNS)('a design that %s passes the scenarios', async ([design, without]) => {
  const others: unknown[] = []
  // With a virtual clock, a webhook that is a function must take no time.
  for (const file of FILES.filter(one => one !== RESTART && clockOf(one) === 'real'))
    for (const { name, outcome, failures } of await runFile(design, file))
      if (outcome !== 'pass' && !without.some(beginning => name.startsWith(beginning))) others.push([name, failures])
  expect(others).toEqual([])
})

/** The verdict of the same journal once it was saved. */
function verdictAgain({ name, journal }: ScenarioResult) {
  const { outcome, warnings } = evaluate(PLANS.get(name)!, JSON.parse(JSON.stringify(journal)))
  return { outcome, warnings: warnings.map(({ code }) => code) }
}

it.for(BUGS.filter(({ scenario }) => `${scenario}.yaml` !== RESTART))('$scenario finds $bug', async row => {
  const all = await runFile(row.bug, `${row.scenario}.yaml`)
  const scenarios = all.filter(({ name }) => name.includes(row.only ?? ''))
  // A recommended step reports a warning, which does not fail the scenario.
  const required = scenarios.flatMap(({ failures }) => failures)
  const recommended = scenarios.flatMap(({ warnings }) => warnings.flatMap(({ failure }) => failure ?? []))
  const failures = row.isRecommended ? recommended : required
  const [first] = failures
  expect(first?.kind).toBe(row.kind)
  expect(`${first?.expected} | ${first?.happened}`).toMatch(row.says)
  expect(scenarios.map(({ outcome }) => outcome)).toContain(row.isRecommended ? 'pass' : 'fail')
  if (row.also !== undefined) expect(failures.map(({ kind }) => kind)).toContain(row.also)
  expect(scenarios.map(verdictAgain)).toEqual(
    scenarios.map(({ outcome, warnings }) => ({ outcome, warnings: warnings.map(({ code }) => code) })),
  )
})
