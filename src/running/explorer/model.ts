/**
 * Models a conversation: what a user and an agent can do in each state of a chat, and which state follows.
 *
 *   bot ──press──> asked ──accept──> agent ──leave──> ended ──press──> asked ...
 *
 * `ended` is `bot` after a handover. A press asks only while the agents are available. Users may write and press in every
 * state; agents act in chats that they have.
 */

export const CHAT_STATES = ['bot', 'asked', 'agent', 'ended'] as const
export type ChatState = (typeof CHAT_STATES)[number]

/**
 * `human`: some hundred milliseconds after everything the act before has to cause. `quick`: as soon as the act before is
 * acknowledged. `during`: while the call that the act before causes is still being answered. `slow`: as `human`, after seconds.
 */
export const PACES = ['human', 'quick', 'during', 'slow'] as const
export type Pace = (typeof PACES)[number]

interface ActRule {
  /** In which states of its chat it is possible. */
  readonly in: readonly ChatState[]
  /** The state of the chat after it; that before it when absent. */
  readonly to?: ChatState
  /** The verb of the agent driver that does it; null for the user. */
  readonly verb: string | null
  /** A person has to see what came before, so it is never quick. */
  readonly isDeliberate: boolean
  /** It is about the whole help desk, and not about a chat. */
  readonly isOfDesk?: true
}

const ALWAYS = CHAT_STATES

export const ACT_RULES = {
  /** The user writes. Only in `agent` it is for the agent; otherwise the bot answers. */
  user: { in: ALWAYS, verb: null, isDeliberate: false },
  /** The user presses the handover button. In `asked` and `agent` it repeats the request. */
  press: { in: ALWAYS, to: 'asked', verb: null, isDeliberate: true },
  /** The user closes the chat: the handover goes on, and a later act of the user comes back (`chat.closed`, `chat.reopens`). */
  close: { in: ALWAYS, verb: null, isDeliberate: true },
  /** The user deletes the log of the chat, which ends a handover that the desk cannot know of: only without one. */
  delete: { in: ['bot', 'ended'], verb: null, isDeliberate: true },
  accept: { in: ['asked'], to: 'agent', verb: 'accept', isDeliberate: true },
  says: { in: ['agent'], verb: 'says', isDeliberate: false },
  type: { in: ['agent'], verb: 'type', isDeliberate: false },
  stop: { in: ['agent'], verb: 'stop', isDeliberate: false },
  leave: { in: ['agent'], to: 'ended', verb: 'leave', isDeliberate: false },
  away: { in: ALWAYS, verb: 'away', isDeliberate: true, isOfDesk: true },
  back: { in: ALWAYS, verb: 'back', isDeliberate: true, isOfDesk: true },
  /** The process of the intermediary is killed and started. */
  restart: { in: ALWAYS, verb: 'target.restart', isDeliberate: true, isOfDesk: true },
} as const satisfies Readonly<Record<string, ActRule>>

export type ActKind = keyof typeof ACT_RULES
export const ruleOf = (kind: ActKind): ActRule => ACT_RULES[kind]

/** What the platform and the network may do once, to the event or the call that an act causes. */
export const ACT_FAULTS = {
  'event-twice': { of: ['user', 'press'], about: 'its event is delivered twice' },
  'event-late': { of: ['user', 'press'], about: 'its event comes late, in its order' },
  refused: { of: ['accept', 'says', 'leave'], about: 'its call is refused once with 429 and Retry-After' },
  'request-lost': { of: ['accept', 'says', 'leave'], about: 'its call is lost once, before it is processed' },
  'answer-lost': { of: ['accept', 'says', 'leave'], about: 'the answer to its call is lost once' },
} as const satisfies Readonly<Record<string, { readonly of: readonly ActKind[]; readonly about: string }>>
export type ActFault = keyof typeof ACT_FAULTS

/** A text, and how it was made: `plain`, the name of a hard text, or another kind of `generate.ts`. */
export interface ActText {
  readonly kind: string
  readonly value: string
}

export interface ActFile {
  readonly name: string
  readonly type: string
  readonly size_kb: number
}

export interface Act {
  readonly kind: ActKind
  /** The number of its chat, from 0. */
  readonly chat: number
  readonly pace: Pace
  readonly text?: ActText
  readonly files?: readonly ActFile[]
  readonly fault?: ActFault
}

/** A conversation before it is a scenario: acts in one or several chats, in order. */
export interface ActSequence {
  /** The number it was generated from. */
  readonly seed: number
  readonly acts: readonly Act[]
  /** At most one knob of the platform that has another value than usual. */
  readonly knobs: Readonly<Record<string, unknown>>
}

export interface ModelState {
  readonly chats: readonly { readonly status: ChatState; readonly isTyping: boolean }[]
  readonly isAway: boolean
}

export const startState = (chats: number): ModelState => ({
  chats: Array.from({ length: chats }, () => ({ status: 'bot', isTyping: false })),
  isAway: false,
})

export function isPossible({ chats, isAway }: ModelState, { kind, chat }: Pick<Act, 'kind' | 'chat'>): boolean {
  const { status, isTyping } = chats[chat] ?? {}
  if (status === undefined || !ruleOf(kind).in.includes(status)) return false
  if (kind === 'stop') return isTyping === true
  if (kind === 'away' || kind === 'accept') return !isAway
  if (kind === 'back') return isAway
  // A help desk may forget chats that have ended, and an inbox that begins anew looks like the old one.
  if (kind === 'restart') return chats.every(chatState => chatState.status !== 'ended')
  return true
}

/** Whether a press asks for an agent: later ones repeat the request, and while the agents are away it has no effect. */
export const isRequest = ({ chats, isAway }: ModelState, { kind, chat }: Pick<Act, 'kind' | 'chat'>): boolean =>
  kind === 'press' && !isAway && (chats[chat]?.status === 'bot' || chats[chat]?.status === 'ended')

export function stateAfter(state: ModelState, act: Pick<Act, 'kind' | 'chat'>): ModelState {
  const { kind } = act
  if (kind === 'away' || kind === 'back') return { ...state, isAway: kind === 'away' }
  const to = kind === 'press' && !isRequest(state, act) ? undefined : ruleOf(kind).to
  const chats = state.chats.map((chat, index) => {
    if (index !== act.chat) return chat
    // A message of the agent, and the end of the handover, end the typing.
    const isTyping = kind === 'type' || (chat.isTyping && !['stop', 'says', 'leave'].includes(kind))
    return { status: to ?? chat.status, isTyping }
  })
  return { ...state, chats }
}

/** Whether the act causes the event or the call to which the fault applies. */
export function canHaveFault(state: ModelState, act: Pick<Act, 'kind' | 'chat'>, fault: ActFault): boolean {
  if (!(ACT_FAULTS[fault].of as readonly ActKind[]).includes(act.kind)) return false
  if (act.kind === 'user') return state.chats[act.chat]?.status === 'agent'
  return act.kind !== 'press' || isRequest(state, act)
}

/** One act of a sequence with the states around it. */
export interface ActInState {
  readonly act: Act
  readonly before: ModelState
  readonly after: ModelState
}

/**
 * Leaves out the acts that the model does not allow, so that any list of acts is a conversation, also when others were
 * taken out of it. Numbers the chats anew in the order in which they begin.
 */
export function inModel({ acts }: Pick<ActSequence, 'acts'>): ActInState[] {
  const numbers = new Map<number, number>()
  for (const { kind, chat } of acts) if (!ruleOf(kind).isOfDesk && !numbers.has(chat)) numbers.set(chat, numbers.size)
  let state = startState(Math.max(1, numbers.size))
  const allowed: ActInState[] = []
  let hasFault = false
  for (const given of acts) {
    const chat = numbers.get(given.chat) ?? 0
    if (!isPossible(state, { kind: given.kind, chat })) continue
    const { fault, ...rest } = given
    const isFaulty: boolean =
      fault !== undefined &&
      !hasFault &&
      canHaveFault(state, { kind: given.kind, chat }, fault) &&
      !(fault === 'event-twice' && isRepeated(given, acts))
    hasFault ||= isFaulty
    const act: Act = {
      ...rest,
      chat,
      // A fault applies to the next call, which has to be that of its act.
      pace: isFaulty ? 'human' : paceIn(given, allowed),
      ...(isFaulty && { fault }),
    }
    const after = stateAfter(state, act)
    allowed.push({ act, before: state, after })
    state = after
  }
  // Chats count from their first act that is possible.
  const used = new Set(allowed.filter(({ act }) => !ruleOf(act.kind).isOfDesk).map(({ act }) => act.chat))
  const isInOrder = used.size === numbers.size && [...used].every((chat, index) => chat === index)
  return isInOrder ? allowed : inModel({ acts: allowed.map(({ act }) => act) })
}

/** The acts that the model allows, as they are run. */
export const possibleActs = (sequence: Pick<ActSequence, 'acts'>): Act[] => inModel(sequence).map(({ act }) => act)

/** Whether the user writes the same text again: which event an item of the inbox belongs to could not be told. */
const isRepeated = (act: Act, acts: readonly Act[]): boolean =>
  act.text !== undefined &&
  acts.some(
    otherAct =>
      otherAct !== act &&
      otherAct.kind === act.kind &&
      otherAct.chat === act.chat &&
      otherAct.text?.value === act.text?.value,
  )

/** The pace that is possible: a person sees the beginning and the end of a handover before the next act. */
function paceIn({ kind, pace }: Act, earlier: readonly ActInState[]): Pace {
  const previous = earlier.at(-1)
  if (previous === undefined) return 'human'
  if (pace === 'human' || pace === 'slow') return pace
  if (ruleOf(kind).isDeliberate) return 'human'
  const last = previous.act
  if (last.fault !== undefined || ruleOf(last.kind).isOfDesk || last.kind === 'leave' || last.kind === 'press')
    return 'human'
  // The agent may leave right after a text of its own, but sees what the user wrote until then.
  if (kind === 'leave') {
    const sinceHuman = earlier.slice(earlier.findLastIndex(({ act }) => act.pace === 'human' || act.pace === 'slow'))
    if (last.kind !== 'says' || sinceHuman.some(({ act }) => act.kind === 'user')) return 'human'
  }
  if (last.kind === 'accept') return pace === 'during' && (kind === 'user' || kind === 'says') ? 'during' : 'human'
  return pace === 'during' && last.kind !== 'says' ? 'quick' : pace
}
