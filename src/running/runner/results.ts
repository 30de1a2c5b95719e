/** Builds the results of scenarios, and the counts and the exit code of a run. */

import { isMap } from '../../base/objects.ts'
import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import type { Failure } from '../../evaluation/evaluator/failure.ts'
import { internalFailure } from '../../evaluation/evaluator/step-evaluator.ts'
import {
  INTERNAL_ERROR_CODE,
  type Reason,
  type RunResult,
  type ScenarioResult,
  type Verdict,
  type Warning,
} from '../../evaluation/evaluator/verdict.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { isInternalError } from '../../platform/journal/journal.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { RunContext } from './run-context.ts'

/** The reason why a scenario with `$(env.X)` cannot run; null when every variable is set. */
export function unsetVariable({ env: names }: Plan, env: Readonly<Record<string, string | undefined>>): Reason | null {
  const unset = names.find(name => env[name] === undefined)
  return unset === undefined ? null : { code: 'env_unset', name: unset }
}

/** What a result says beside the plan and the verdict. */
interface RunFacts {
  readonly seed: number
  readonly instance: number
  readonly rerunCommand: string
}

const planFields = ({ name, file, place, tags, spec }: Plan) => ({ name, file, place, tags, spec })

/** The result of a scenario that ran. `started` is a moment of `elapsedMs()`. */
export function scenarioResult(
  context: RunContext,
  verdict: Verdict,
  { startedAt, started, ...facts }: RunFacts & { readonly startedAt: string; readonly started: number },
): ScenarioResult {
  return {
    ...verdict,
    ...planFields(context.plan),
    ...facts,
    clock: context.core.clock.mode,
    startedAt,
    durationMs: elapsedMs() - started,
    journal: maskedJournal(context.sim),
    conversations: Object.fromEntries([...context.conversations].map(([name, { id }]) => [name, id])),
  }
}

/** The verdict of a run. It cannot pass when its journal lost entries: the saved journal would not show the same. */
export function finalVerdict({ core, evaluator }: RunContext): Verdict {
  const verdict = evaluator.finish()
  const { firstSeq } = core.journal
  if (verdict.outcome !== 'pass' || firstSeq <= (evaluator.index.started?.seq ?? 0)) return verdict
  return { ...verdict, outcome: 'inconclusive', reason: { code: 'evicted', firstSeq } }
}

/** The result of a scenario that did not run. */
export const skippedResult = (
  plan: Plan,
  why: Pick<Verdict, 'outcome' | 'reason'>,
  facts: RunFacts,
): ScenarioResult => ({
  ...why,
  ...planFields(plan),
  ...facts,
  failures: [],
  warnings: [],
  steps: [],
  captures: {},
  clock: plan.clock?.mode ?? 'real',
  startedAt: wallTime(),
  durationMs: 0,
  journal: [],
  conversations: {},
})

/** The journal of a scenario from its first entry on, without keys. */
export function maskedJournal(sim: PlatformSimulator): Entry[] {
  const entries = sim.journal.query()
  const first = entries.findIndex(entry => entry.kind === 'note' && entry.note === 'scenario_started')
  const header = coreOf(sim).platform.knobs['webhook.signatureHeader']
  return entries.slice(Math.max(0, first)).map(entry => presentEntry(entry, header))
}

/** Counts the outcomes of a run, and decides its exit code. */
export function runResult(run: Omit<RunResult, 'counts' | 'exitCode'>, strict = false): RunResult {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  for (const { outcome } of run.scenarios) counts[outcome]++
  // A call in one scenario shows that the intermediary knows the address of the platform.
  const { scenarios, journal } = run
  const journals = [journal, ...scenarios.map(scenario => scenario.journal)]
  const isCalled = journals.some(entries => entries.some(({ kind }) => kind === 'api'))
  return {
    ...run,
    scenarios: isCalled
      ? scenarios.map(one => ({ ...one, failures: one.failures.map(withoutAddressHint) }))
      : scenarios,
    counts,
    exitCode: exitCodeOf(counts, run, strict),
  }
}

const isInternal = ({ kind }: Failure): boolean => kind === 'internal'

/** 70: internal error. 1: an expectation failed. 3: environment error. 4: incomplete, or nothing but inconclusive results. 0: passed. */
function exitCodeOf(
  { pass, fail, error, inconclusive }: RunResult['counts'],
  { failures, scenarios, stopped }: Pick<RunResult, 'failures' | 'scenarios' | 'stopped'>,
  strict: boolean,
): number {
  if ([...failures, ...scenarios.flatMap(one => one.failures)].some(isInternal)) return INTERNAL_ERROR_CODE
  if (fail > 0 || failures.length > 0) return 1
  if (error > 0) return 3
  if (stopped !== null || (strict && inconclusive > 0)) return 4
  return pass > 0 ? 0 : 4
}

function withoutAddressHint({ hint, ...failure }: Failure): Failure {
  return hint === undefined || hint.code === 'platform_address' ? failure : { ...failure, hint }
}

/** Turns warnings into failures when the run is strict. */
export function applyStrict({ strict }: { readonly strict: boolean }, verdict: Verdict): Verdict {
  if (!strict || verdict.warnings.length === 0) return verdict
  const failures = [...verdict.failures, ...verdict.warnings.map(asFailure)]
  return { ...verdict, failures, outcome: verdict.outcome === 'error' ? 'error' : 'fail' }
}

const asFailure = (warning: Warning): Failure =>
  failureOfWarning(warning, { kind: 'lint', expected: { code: 'no_warning', rule: warning.rule } })

const failureOfWarning = (warning: Warning, as: Pick<Failure, 'kind' | 'expected'>): Failure => ({
  ...EMPTY_FAILURE,
  ...as,
  conversation: warning.conversation,
  happened: 'failure' in warning ? warning.failure.happened : { code: 'warning', finding: warning },
  entrySeqs: warning.entrySeqs,
})

/** The fields of a failure that belongs to no step. */
export const EMPTY_FAILURE = {
  step: null,
  conversation: null,
  rules: [],
  nearest: [],
  entrySeqs: [],
  soft: false,
} as const

/** Refused calls that belong to no scenario, and internal errors outside of every scenario. */
export function orphanFailures(journal: readonly Entry[]): Failure[] {
  const calls = journal.filter((entry): entry is EntryOf<'api'> => entry.kind === 'api')
  return [
    ...calls.filter(call => call.status >= 400).map(orphanFailure),
    ...journal.filter(isInternalError).map(note => ({ ...EMPTY_FAILURE, ...internalFailure(note) })),
  ]
}

function orphanFailure({ seq, method, path, chat_id, endpoint, status, response }: EntryOf<'api'>): Failure {
  const error = isMap(response) && isMap(response.error) ? response.error : {}
  const message = typeof error.message === 'string' ? error.message : null
  return {
    ...EMPTY_FAILURE,
    kind: endpoint === null ? 'contract' : 'unexpected',
    expected: { code: 'chat_of_a_scenario' },
    happened: { code: 'call_of_no_scenario', method, path, chatId: chat_id ?? null, status, message },
    rules: endpoint === null ? ['V1'] : [ENDPOINTS[endpoint].rule],
    entrySeqs: [seq],
  }
}
