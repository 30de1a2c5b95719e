/** After the last play: stragglers are charged to their scenarios, and what belongs to none is told as well. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { evaluate } from '../evaluator/evaluation.ts'
import { leaksBetween } from '../evaluator/tokens/echo.ts'
import type { Failure, ScenarioResult } from '../evaluator/verdict.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { applyStrict, maskedJournal } from './results.ts'
import type { ScenarioRun, SuiteOptions } from './suite.ts'

export interface FinalizedRun {
  readonly scenarios: readonly ScenarioResult[]
  readonly failures: readonly Failure[]
  /** Entries of no play. */
  readonly journal: readonly Entry[]
}

export function finalizeRun(options: SuiteOptions, runs: readonly ScenarioRun[]): FinalizedRun {
  const scenarios = runs.map(run => reevaluated(options, run))
  const journal = maskedJournal(options.router.server)
  for (const { context } of runs) context?.close()
  return { scenarios, failures: [...orphanFailures(journal), ...leaksBetween(scenarios)], journal }
}

/** What came after a scenario had ended is judged with the rest of it. */
function reevaluated(options: SuiteOptions, { plan, context, played, evaluatedTo }: ScenarioRun): ScenarioResult {
  if (context === null || context.core.journal.nextSeq - 1 === evaluatedTo) return played
  const journal = maskedJournal(context.sim)
  return { ...played, ...applyStrict(options, evaluate(plan, journal)), journal }
}

type Call = EntryOf<'api'>

function orphanFailures(journal: readonly Entry[]): Failure[] {
  const calls = journal.filter((entry): entry is Call => entry.kind === 'api')
  return calls.filter(call => call.status >= 400).map(orphanFailure)
}

function orphanFailure({ seq, method, path, chat_id, endpoint, status, response }: Call): Failure {
  const said = (response as { error?: { message?: string } } | null)?.error?.message
  return {
    kind: endpoint === null ? 'contract' : 'unexpected',
    step: null,
    conversation: null,
    wanted: 'every call belongs to a chat of a scenario',
    happened: `${method} ${path} ${chat_id === undefined ? 'names no chat' : `is about chat ${JSON.stringify(chat_id)}, which no scenario has`}: answered ${status}${said === undefined ? '' : ` (${said})`}`,
    rules: endpoint === null ? ['V1'] : [ENDPOINTS[endpoint].rule],
    nearest: [],
    marks: [seq],
    soft: false,
  }
}
