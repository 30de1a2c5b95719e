/** After the last play: stragglers are charged to their scenarios, and what belongs to none is told as well. */
import { ENDPOINTS } from '../../contract/endpoints.ts'
import type { Entry, EntryOf } from '../../journal/entry.ts'
import { judge } from '../../scenario/judge/referee.ts'
import { leaksBetween } from '../../scenario/tokens/echo.ts'
import type { Failure, Played } from '../../scenario/verdict.ts'
import { maskedJournal } from './journal.ts'
import { strictly } from './strict.ts'
import type { Show, SuiteOptions } from './suite.ts'

export interface Books {
  readonly plays: readonly Played[]
  readonly failures: readonly Failure[]
  /** Entries of no play. */
  readonly journal: readonly Entry[]
}

export function closeBooks(options: SuiteOptions, shows: readonly Show[]): Books {
  const plays = shows.map(show => charged(options, show))
  const journal = maskedJournal(options.house.server)
  for (const { stage } of shows) stage?.close()
  return { plays, failures: [...orphansIn(journal), ...leaksBetween(plays)], journal }
}

/** What came after a scenario had ended is judged with the rest of it. */
function charged(options: SuiteOptions, { plan, stage, played, judgedTo }: Show): Played {
  if (stage === null || stage.core.journal.nextSeq - 1 === judgedTo) return played
  const journal = maskedJournal(stage.sim)
  return { ...played, ...strictly(options, judge(plan, journal)), journal }
}

type Call = EntryOf<'api'>

function orphansIn(journal: readonly Entry[]): Failure[] {
  const calls = journal.filter((entry): entry is Call => entry.kind === 'api')
  return calls.filter(call => call.status >= 400).map(orphan)
}

function orphan({ seq, method, path, chat_id, endpoint, status, response }: Call): Failure {
  const said = (response as { error?: { message?: string } } | null)?.error?.message
  return {
    kind: endpoint === null ? 'contract' : 'unexpected',
    step: null,
    lane: null,
    wanted: 'every call belongs to a chat of a scenario',
    happened: `${method} ${path} ${chat_id === undefined ? 'names no chat' : `is about chat ${JSON.stringify(chat_id)}, which no scenario has`}: answered ${status}${said === undefined ? '' : ` (${said})`}`,
    rules: endpoint === null ? ['V1'] : [ENDPOINTS[endpoint].rule],
    nearest: [],
    marks: [seq],
    soft: false,
  }
}
