/** Builds the results of scenarios, and the counts and the exit code of a run. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { sharedCauses } from '../../evaluation/evaluator/causes.ts'
import { lintFailure, noWarning } from '../../evaluation/evaluator/compute-verdict.ts'
import { internalFailure } from '../../evaluation/evaluator/step-evaluator.ts'
import { refusalOf } from '../../evaluation/evaluator/unclaimed-calls.ts'
import {
  INTERNAL_ERROR_CODE,
  type Reason,
  type RunResult,
  type ScenarioResult,
  type Verdict,
} from '../../evaluation/evaluator/verdict.ts'
import { evictedText } from '../../evaluation/evaluator/words.ts'
import { causedBy, createOrphan, type Failure } from '../../evaluation/finding.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { isInternalError } from '../../platform/journal/journal.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { RunContext } from './run-context.ts'

/** The reason why a scenario with `$(env.X)` cannot run; null when every variable is set. */
export function unsetVariable({ env: names }: Plan, env: Readonly<Record<string, string | undefined>>): Reason | null {
  const unset = names.find(name => env[name] === undefined)
  return unset === undefined
    ? null
    : {
        code: 'env_unset',
        text: `the environment variable ${unset} is not set, and $(env.${unset}) reads it`,
        cause: causedBy('env_unset', `the environment variable ${unset} is not set`, unset),
      }
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
  return { ...verdict, outcome: 'inconclusive', reason: { code: 'evicted', text: evictedText(firstSeq) } }
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
export function runResult(run: Omit<RunResult, 'counts' | 'exitCode' | 'causes'>, strict = false): RunResult {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  const failures = [...run.failures]
  let isCalled = run.journal.some(({ kind }) => kind === 'api')
  for (const scenario of run.scenarios) {
    counts[scenario.outcome]++
    failures.push(...scenario.failures)
    isCalled ||= scenario.journal.some(({ kind }) => kind === 'api')
  }
  let exitCode = counts.pass > 0 ? 0 : 4
  if (failures.some(({ kind }) => kind === 'internal')) exitCode = INTERNAL_ERROR_CODE
  else if (counts.fail > 0 || run.failures.length > 0) exitCode = 1
  else if (counts.error > 0) exitCode = 3
  else if (run.stopped !== null || (strict && counts.inconclusive > 0)) exitCode = 4
  // A call in one scenario shows that the intermediary knows the address of the platform.
  const scenarios = isCalled
    ? run.scenarios.map(scenario => ({ ...scenario, failures: scenario.failures.map(withoutAddressHint) }))
    : run.scenarios
  return { ...run, scenarios, counts, causes: sharedCauses(scenarios), exitCode }
}

function withoutAddressHint(failure: Failure): Failure {
  if (failure.hintCode !== 'platform_address') return failure
  const { hint: _, hintCode: __, ...rest } = failure
  return rest
}

/** Turns warnings into failures when the run is strict. */
export function applyStrict({ strict }: { readonly strict: boolean }, verdict: Verdict): Verdict {
  if (!strict || verdict.warnings.length === 0) return verdict
  const failures = [...verdict.failures]
  for (const warning of verdict.warnings)
    failures.push(warning.failure ?? lintFailure('lint', warning, noWarning(warning)))
  return { ...verdict, failures, outcome: verdict.outcome === 'error' ? 'error' : 'fail' }
}

/** Refused calls that belong to no scenario, and internal errors outside of every scenario. */
export function orphanFailures(journal: readonly Entry[]): Failure[] {
  const failures: Failure[] = []
  const internal: Failure[] = []
  for (const entry of journal) {
    if (isInternalError(entry))
      internal.push({ ...internalFailure(entry), step: null, conversation: null, soft: false })
    if (entry.kind !== 'api' || entry.status < 400) continue
    const { seq, method, path, chat_id: chatId = null, endpoint, status } = entry
    const { message } = refusalOf(entry)
    const about = chatId === null ? 'names no chat' : `is about chat ${JSON.stringify(chatId)}, which no scenario has`
    const failure = createOrphan(endpoint === null ? 'contract' : 'unexpected', {
      code: 'call_of_no_scenario',
      expected: 'every call belongs to a chat of a scenario',
      happened: `${method} ${path} ${about}: answered ${status}${message === null ? '' : ` (${message})`}`,
      details: { method, path, status },
      rules: endpoint === null ? ['V1'] : [ENDPOINTS[endpoint].rule],
      entrySeqs: [seq],
    })
    failures.push(failure)
  }
  return [...failures, ...internal]
}
