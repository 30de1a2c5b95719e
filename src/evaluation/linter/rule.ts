/** Defines the rules of the linter: what they read of a journal, and what they report. */
import { groupBy } from '../../base/objects.ts'
import type { Entry, EntryOf, FaultEffect, Finding } from '../../platform/journal/entry.ts'
import type { Plan } from '../scenario/plan.ts'
import { type ConversationOf, conversationsIn } from '../scenario/run-events.ts'

type Call = EntryOf<'api'>
type CallRef = Pick<Call, 'seq' | 'method' | 'path'>

/** What each rule reports beside the conversation and the entries. Each name is a heading of docs/lint.md. */
export interface LintDetails {
  readonly 'message-after-end': { readonly call: CallRef; readonly endSeq: number }
  readonly 'start-twice': { readonly call: CallRef; readonly startSeq: number }
  /** `timeoutMs` is null when the call has no timeout. */
  readonly 'typing-never-stopped': { readonly call: CallRef; readonly timeoutMs: number | null }
  /** `refusedEnds` counts calls of `end` that failed after the agent left. */
  readonly 'chat-never-ended': { readonly leaveSeq: number; readonly refusedEnds: number }
  readonly 'call-before-ack': {
    readonly call: CallRef
    readonly event: string
    readonly deliverySeq: number
    readonly earlyMs: number
  }
  /** The attempt `deliverySeq` had no answer in time; `repeatedSeq` sent the event again. */
  readonly 'ack-slower-than-retry': {
    readonly event: string
    readonly timeoutMs: number
    readonly retryMs: number
    readonly deliverySeq: number
    readonly repeatedSeq: number
  }
  readonly 'transcript-polling': { readonly call: CallRef; readonly reads: number; readonly withinMs: number }
  readonly 'secret-exposed': { readonly seq: number; readonly secret: Secret['kind']; readonly place: SecretPlace }
  readonly 'alias-mixed': { readonly handoverSeqs: readonly number[]; readonly takeoverSeqs: readonly number[] }
  readonly 'fault-unused': { readonly fault: string; readonly effect: FaultEffect; readonly seq: number }
  readonly 'unknown-fields': ForgivenCalls
  readonly 'sender-incomplete': ForgivenCalls
  readonly 'content-type': ForgivenCalls
  readonly 'end-without-takeover': ForgivenCalls
}

export type LintRule = keyof LintDetails

/** A secret that journals must not show; `parameter` is recognized by its name. */
export interface Secret {
  readonly kind: 'api_key' | 'signature' | 'parameter'
  readonly value: string
}
export type SecretPlace = 'text' | 'address' | 'webhook_answer'

/** Calls of one endpoint, or path, that the platform accepted with the same finding. */
export interface ForgivenCalls {
  readonly target: string
  readonly finding: Finding
  readonly seqs: readonly number[]
}

/** A call that works and is likely to cause trouble; `entrySeqs` are the entries to show. */
export interface LintFinding<Id extends LintRule = LintRule> {
  readonly rule: Id
  readonly details: LintDetails[Id]
  readonly conversation: string | null
  readonly entrySeqs: readonly number[]
}

type Found<Id extends LintRule> = Pick<LintFinding<Id>, 'details' | 'entrySeqs'>

/** A rule reads the entries of all chats, or one chat at a time. */
export interface LinterRule<Id extends LintRule = LintRule> {
  readonly id: Id
  /** A finding with `chat_id` is about that chat. */
  findInRun?(history: History): Iterable<Found<Id> & { readonly chat_id?: string | undefined }>
  findInChat?(chat: readonly Entry[], history: History): Iterable<Found<Id>>
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

export const callRef = ({ seq, method, path }: Call): CallRef => ({ seq, method, path })
