/** Checks that the example passes the shipped scenarios, and that each scenario finds its bugs. */
import { beforeAll, describe, expect, it, type RunnerTask } from 'vitest'
import { evaluate } from '../../src/evaluation/evaluator/evaluator.ts'
import { readJournal } from '../../src/evaluation/evaluator/journal-file.ts'
import type { Verdict } from '../../src/evaluation/evaluator/verdict.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../../src/evaluation/scenario/load/load.ts'
import { SCENARIO_GROUPS } from '../../src/running/runner/schedule.ts'
import { filesIn } from '../architecture/files.ts'
import { read } from '../docs/pages.ts'
import { BUGS, type Bug } from '../mutants/bugs.ts'
import type { DesignName } from '../mutants/designs.ts'
import { applyPatch } from '../mutants/patch.ts'
import { PATCHES } from '../mutants/patches.ts'
import { type Outcome, type ReportedPlay, runMinimal, runShipped, startInPool } from './target.ts'

const loaded = await loadScenarios(['scenarios'], { cwd: process.cwd(), nodeVersion: process.version })
const FILES = filesIn('scenarios', '.yaml').filter(file => !file.startsWith('parts/'))

describe('the files', () => {
  it('load without warnings, and a run of the folder finds all of them', () => {
    expect(loaded.map(({ file }) => file).sort()).toEqual(FILES.map(file => `scenarios/${file}`).sort())
    expect(loaded.flatMap(({ warnings }) => warnings)).toEqual([])
  })

  it('name rules of the platform, one group and a description', () => {
    const rules = new Set(
      [...read('docs/reference/platform.md').matchAll(/^\| ([A-Z][\w.-]*) \|/gm)].map(([, id]) => id!),
    )
    for (const { name, value } of loaded) {
      expect(
        value.spec?.filter(id => !rules.has(id)),
        name,
      ).toEqual([])
      expect(value.tags?.filter(tag => Object.hasOwn(SCENARIO_GROUPS, tag)).length, name).toBe(1)
      expect(value.description, name).toMatch(/\.$/)
    }
  })

  it('wait only on a virtual clock', () => {
    for (const plan of compile(loaded)) {
      const waits = JSON.stringify(plan.steps).includes('"verb":"wait"')
      expect(waits && plan.clock?.mode !== 'virtual', plan.name).toBe(false)
    }
  })
})

describe('the bugs', () => {
  it.each(Object.entries(PATCHES))('%s changes the example', (_, patches) => {
    const sources = new Map<string, string>()
    for (const patch of patches) {
      const before = sources.get(patch.file) ?? read(`examples/intermediary/${patch.file}`)
      sources.set(patch.file, applyPatch(before, patch))
    }
    for (const [file, source] of sources) expect(source).not.toBe(read(`examples/intermediary/${file}`))
  })

  it('every bug has a scenario or a check, and every scenario has a bug', () => {
    const checks = filesIn('test/certifier', '.ts').map(file => read(`test/certifier/${file}`))
    const hasCheck = (bug: string) => checks.some(text => text.includes(`'${bug}'`))
    const hasScenario = (bug: string) => BUGS.some(one => one.bug === bug)
    expect(Object.keys(PATCHES).filter(bug => !hasScenario(bug) && !hasCheck(bug))).toEqual([])
    expect([...new Set(BUGS.map(({ scenario }) => `${scenario}.yaml`))].sort()).toEqual(FILES)
  })
})

it('the example passes all scenarios without warnings', { timeout: 300_000 }, async () => {
  const { exitCode, scenarios, failures, stderr } = await runShipped(null, ['scenarios'])
  const others = scenarios.filter(({ outcome, warnings }) => outcome !== 'pass' || warnings.length > 0)
  expect(
    others.map(({ name, outcome, reason, failures, warnings }) => ({ name, outcome, reason, failures, warnings })),
  ).toEqual([])
  expect({ exitCode, failures, scenarios: scenarios.length }, stderr).toEqual({
    exitCode: 0,
    failures: [],
    scenarios: compile(loaded).length,
  })
})

it('an intermediary that does only what is required, and never retries, passes with warnings', {
  timeout: 120_000,
}, async () => {
  const { exitCode, scenarios, failures, stderr } = await runMinimal()
  expect(read('test/shipped/minimal-intermediary.mjs').split('\n').length).toBeLessThan(80)
  const failed = scenarios.filter(({ outcome }) => outcome !== 'pass')
  // It has no verb for notices and transfers.
  expect(failed.map(({ name, outcome }) => `${outcome}: ${name}`).sort(), stderr).toEqual([
    'inconclusive: Agent transfers',
    'inconclusive: Notice before the takeover',
    'inconclusive: Queue position',
  ])
  expect({ exitCode, failures }).toEqual({ exitCode: 0, failures: [] })
  const rules = new Set(scenarios.flatMap(({ warnings }) => warnings.map(({ rule }) => rule)))
  expect(rules).toEqual(new Set(['recommended', 'sender-incomplete', 'reason-missing', 'typing-never-stopped']))
})

/** What cannot pass with a design is left out. */
const DESIGNS: readonly [design: DesignName, flags: readonly string[]][] = [
  // Its help desk takes no text of an agent until `start` is answered.
  ['records-calls-late', ['--skip', 'Slow platform', '--skip', 'Lost answers [call=start']],
  // It loses an event when it is killed right after the acknowledgement.
  ['works-in-batches', ['--skip', 'Restart in the middle']],
]

it.for(DESIGNS)('a design that %s passes the scenarios', { concurrent: true }, async ([design, flags], { expect }) => {
  const { scenarios } = await runShipped(design, ['scenarios'], ...flags)
  const others = scenarios.filter(({ outcome }) => outcome !== 'pass')
  expect(others.map(({ name, failures }) => ({ name, failures }))).toEqual([])
})

/** Other kinds of the same failure: on a busy machine, a forbidden call may arrive after its step has ended. */
const KINDS: { readonly [kind: string]: readonly string[] } = { none: ['none', 'unexpected', 'late'] }

/** Evaluates a saved journal again. */
function verdictsOf(journal: string): Verdict[] {
  const plans = new Map(compile(loaded).map(plan => [plan.name, plan]))
  return readJournal('run.jsonl', journal).scenarios.flatMap(({ name, journal }) => {
    const plan = plans.get(name)
    return plan === undefined ? [] : [evaluate(plan, journal)]
  })
}

describe('a scenario reports its bug', () => {
  let outcomeOf: (bug: Bug, task: RunnerTask) => Promise<Outcome>
  beforeAll(() => {
    outcomeOf = startInPool(BUGS, 10, ({ bug, scenario, only }) =>
      runShipped(bug, [`scenarios/${scenario}.yaml`], ...(only === undefined ? [] : ['--only', only])),
    )
  })

  it.for(BUGS)('$bug by $scenario', async (row, { task }) => {
    const { exitCode, scenarios, stderr } = await outcomeOf(row, task)
    // A recommended step reports a warning, which does not fail the run.
    const required = scenarios.flatMap(play => play.failures)
    const recommended = scenarios.flatMap(({ warnings }) => warnings.flatMap(one => one.failure ?? []))
    const failures = row.isRecommended ? recommended : required
    const [first] = failures
    expect(
      first,
      `${stderr}\n${JSON.stringify(scenarios.map(({ outcome, reason }) => ({ outcome, reason })))}`,
    ).toBeDefined()
    const all = failures.map(({ kind, happened }) => `${kind}: ${happened}`).join('\n')
    expect({ exitCode, kind: first!.kind }, all).toEqual({
      exitCode: row.isRecommended ? 0 : 1,
      kind: expect.toBeOneOf(KINDS[row.kind] ?? [row.kind]),
    })
    expect(`${first!.expected} | ${first!.happened}`).toMatch(row.says)
    if (row.also !== undefined) expect(failures.map(({ kind }) => kind)).toContain(row.also)
  })

  it.for(BUGS)('$bug by $scenario has the same verdict from its saved journal', async (row, { task }) => {
    const { journal, scenarios } = await outcomeOf(row, task)
    const verdicts = verdictsOf(journal)
    const summaryOf = ({ outcome, warnings }: Pick<Verdict | ReportedPlay, 'outcome' | 'warnings'>) => ({
      outcome,
      warnings: warnings.map(({ rule }) => rule),
    })
    const isFound = row.isRecommended
      ? verdicts.some(({ warnings }) => warnings.some(({ rule }) => rule === 'recommended'))
      : verdicts.some(({ outcome }) => outcome === 'fail')
    expect(isFound).toBe(true)
    expect(verdicts.map(summaryOf)).toEqual(scenarios.map(summaryOf))
  })
})
