/** Defines what a rule of the linter reads and reports. */
import { groupBy } from '../../../base/objects.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import type { Finding } from '../../finding.ts'
import type { Plan } from '../../scenario/plan.ts'
import { type ConversationOf, conversationsIn } from '../../scenario/run-events.ts'

export type Call = EntryOf<'api'>
/** `details`: equal for the same mistake. */
export type Found = Pick<Finding, 'happened' | 'entrySeqs'> & Partial<Pick<Finding, 'details'>>

/** A rule reads the entries of all chats, or one chat at a time. Its id is a heading of docs/reference/lint.md. */
export interface LinterRule {
  readonly id: string
  /** A finding with `chat_id` is about that chat. */
  findInRun?(history: History): Iterable<Found & { readonly chat_id?: string | undefined }>
  findInChat?(chat: readonly Entry[], history: History): Iterable<Found>
}

/** What the rules read of a plan. */
export type LintedPlan = Pick<Plan, 'config' | 'steps' | 'finally'>

export interface History {
  readonly plan: LintedPlan
  readonly entries: readonly Entry[]
  /** Entries by chat id; entries of no chat are left out. */
  readonly chats: ReadonlyMap<string, readonly Entry[]>
  readonly calls: readonly Call[]
  readonly conversationOf: ConversationOf
}

export function historyOf(plan: LintedPlan, entries: readonly Entry[]): History {
  const chats = groupBy(
    entries.filter(({ chat_id }) => chat_id !== undefined),
    ({ chat_id }) => String(chat_id),
  )
  const calls = entries.filter(entry => entry.kind === 'api')
  return { plan, entries, chats, calls, conversationOf: conversationsIn(entries) }
}

export const succeeded = ({ status }: Call): boolean => status >= 200 && status < 300

/** Whether a fault changed the call, so that a repetition of it is right. */
export const isFaulty = ({ faults }: Call): boolean => faults !== undefined

/** The most of these calls that came within so many milliseconds. */
export function densest(calls: readonly Call[], withinMs: number): readonly Call[] {
  let most: readonly Call[] = []
  let latest: Call[] = []
  for (const call of calls) {
    latest = [...latest, call].filter(({ at_ms }) => call.at_ms - at_ms <= withinMs)
    if (latest.length > most.length) most = latest
  }
  return most
}

/** `#12 POST /api/v2/handover/start`. */
export const callText = ({ seq, method, path }: Call): string => `#${seq} ${method} ${path}`

export function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, 5).map(seq => `#${seq}`)
  return seqs.length > 5 ? `${shown.join(', ')} and ${seqs.length - 5} more` : shown.join(', ')
}
