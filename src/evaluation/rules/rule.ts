/** Defines a rule: it reads the history of a journal, and says which calls are a mistake and which show that none was made. */
import type { Finding, Level } from '../finding.ts'
import type { CallEntry, ChatHistory, History, InboxRead } from '../history.ts'
import type { Plan } from '../scenario/plan.ts'

/** What a rule says of some entries. */
export type Observation = Mistake | Proof

export interface Mistake extends Pick<Finding, 'happened' | 'hint'> {
  /** Equal for the same mistake. */
  readonly details?: Finding['details']
  readonly entries: readonly { readonly seq: number }[]
  /** When they differ from those of the rule. */
  readonly code?: string
  readonly level?: Level
  /** For rules that read all chats. */
  readonly chat_id?: string | undefined
}

/** `right`: the mistake could have been made here, and was not. `unclear`: an earlier mistake may be mended, or not. */
export interface Proof {
  readonly proof: 'right' | 'unclear'
  readonly entry: { readonly seq: number }
}

export const right = (entry: { readonly seq: number }): Proof => ({ proof: 'right', entry })
export const unclear = (entry: { readonly seq: number }): Proof => ({ proof: 'unclear', entry })
export const isProof = (observation: Observation): observation is Proof => 'proof' in observation

/** What rules need beside the entries. Who does not know a fact leaves it null, and the rules that need it say nothing. */
export interface Facts {
  readonly plan: JudgedPlan
  /** `at_ms` now, while calls may still come; null when no more will come. */
  readonly nowMs: number | null
  /** Until an effect must be visible. */
  readonly effectMs: number
  /** How long the user may see a typing indicator. */
  readonly typingMs: number
  /** Calls after which the user sees no typing indicator. */
  readonly typingEnds: readonly string[]
  /** Whether the webhook has answered any event, of any chat. */
  readonly hasAnswered: boolean
  /** What the agent sees of the chat, when it was read beside the journal. */
  readonly inbox: InboxRead | null
}

/** What the rules read of a plan. */
export type JudgedPlan = Pick<Plan, 'config' | 'steps' | 'finally'>

/** A rule reads one chat at a time, or all. */
export interface Rule {
  /** The code of its findings. */
  readonly id: string
  readonly level: Level
  judgeChat?(chat: ChatHistory, facts: Facts): Iterable<Observation>
  judgeAll?(history: History, facts: Facts): Iterable<Observation>
}

/** Milliseconds since the entry; infinite when no more will come. */
export const ageOf = ({ nowMs }: Facts, { at_ms }: { readonly at_ms: number }): number =>
  nowMs === null ? Number.POSITIVE_INFINITY : nowMs - at_ms

export const toFinding = (
  { id, level }: Pick<Rule, 'id' | 'level'>,
  { entries, details = {}, code = id, happened, hint, ...own }: Mistake,
  conversation: string | null,
): Finding => ({
  code,
  level: own.level ?? level,
  happened,
  ...(hint !== undefined && { hint }),
  details,
  entrySeqs: entries.map(({ seq }) => seq),
  conversation,
})

/** All that these rules say of a history. */
export function* judge(
  rules: readonly Rule[],
  history: History,
  facts: Facts,
): Generator<{ readonly rule: Rule; readonly observation: Observation; readonly chatId: string | null }> {
  for (const rule of rules) {
    for (const observation of rule.judgeAll?.(history, facts) ?? [])
      yield { rule, observation, chatId: ('chat_id' in observation && observation.chat_id) || null }
    for (const [chatId, chat] of history.chats)
      for (const observation of rule.judgeChat?.(chat, facts) ?? []) yield { rule, observation, chatId }
  }
}

/** Whether a fault changed the call, so that a repetition of it is right. */
export const isFaulty = ({ faults }: CallEntry): boolean => faults !== undefined

/** The most of these calls that came within so many milliseconds. */
export function densest(calls: readonly CallEntry[], withinMs: number): readonly CallEntry[] {
  let most: readonly CallEntry[] = []
  let latest: CallEntry[] = []
  for (const call of calls) {
    latest = [...latest, call].filter(({ at_ms }) => call.at_ms - at_ms <= withinMs)
    if (latest.length > most.length) most = latest
  }
  return most
}

/** `#12 POST /api/v2/handover/start`. */
export const callText = ({ seq, method, path }: CallEntry): string => `#${seq} ${method} ${path}`

export function listed(calls: readonly { readonly seq: number }[]): string {
  const shown = calls.slice(0, 5).map(({ seq }) => `#${seq}`)
  return calls.length > 5 ? `${shown.join(', ')} and ${calls.length - 5} more` : shown.join(', ')
}
