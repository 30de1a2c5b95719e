/** What a rule of the linter is, and what it looks at. */

import type { Entry, EntryOf } from '../journal/entry.ts'
import type { Plan } from '../scenario/plan.ts'
import { type ConversationOf, conversationsIn } from '../scenario/run-events.ts'

export interface History {
  readonly plan: Plan
  readonly entries: readonly Entry[]
  /** Entries by chat; those of no chat are left out. */
  readonly chats: ReadonlyMap<string, readonly Entry[]>
  readonly calls: readonly EntryOf<'api'>[]
  readonly conversationOf: ConversationOf
}

export interface Rule {
  /** A heading of docs/lint.md. */
  readonly id: string
  find(history: History): readonly Found[]
}

export interface LintFinding {
  /** `message-after-end`. */
  readonly rule: string
  readonly message: string
  readonly conversation: string | null
  readonly marks: readonly number[]
}

/** What happened, why it matters, what to do: three sentences or more. */
export type Found = Pick<LintFinding, 'message' | 'conversation' | 'marks'>

export function historyOf(plan: Plan, entries: readonly Entry[]): History {
  const chats = new Map<string, Entry[]>()
  for (const entry of entries) {
    if (entry.chat_id === undefined) continue
    const chat = chats.get(entry.chat_id)
    if (chat === undefined) chats.set(entry.chat_id, [entry])
    else chat.push(entry)
  }
  const calls = entries.filter(entry => entry.kind === 'api')
  return { plan, entries, chats, calls, conversationOf: conversationsIn(entries) }
}

/** A rule that looks at one chat at a time. */
export const perChat = (id: string, find: (chat: readonly Entry[], history: History) => readonly Sighting[]): Rule => ({
  id,
  find: history =>
    [...history.chats].flatMap(([chatId, chat]) =>
      find(chat, history).map(found => ({ ...found, conversation: history.conversationOf(chatId) })),
    ),
})

export type Sighting = Omit<Found, 'conversation'>

export const succeeded = ({ status }: EntryOf<'api'>): boolean => status >= 200 && status < 300

/** Its answer was lost or damaged on purpose: who got none may well call again. */
export const wasSpoilt = ({ faults }: EntryOf<'api'>): boolean => faults !== undefined

/** `#12 POST /api/v2/handover/start`. */
export const callAt = ({ seq, method, path }: EntryOf<'api'>): string => `#${seq} ${method} ${path}`

export function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, 5).map(seq => `#${seq}`)
  return seqs.length > 5 ? `${shown.join(', ')} and ${seqs.length - 5} more` : shown.join(', ')
}
