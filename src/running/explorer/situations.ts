/** Counts the situations that conversations have tried, so that the next ones try others; and stores them from run to run. */
import { type ActInState, type ActKind, type ActSequence, CHAT_STATES, type ChatState, inModel } from './model.ts'

/** How often a situation was tried, and how often a conversation failed in it. */
export interface Tried {
  readonly times: number
  readonly failures: number
}

export type Situations = ReadonlyMap<string, Tried>

/** `user:digits`: an act with the kind of its text. */
export const labelOf = ({ kind, text, files }: ActInState['act']): string =>
  `${kind}${text === undefined || text.kind === 'plain' ? '' : `:${text.kind}`}${files === undefined ? '' : '+file'}`

/** For each act: the states of all chats, the agents, this act and the one before, pace, fault and knob. */
export function situationsOf(sequence: ActSequence): string[] {
  const [knob = ''] = Object.keys(sequence.knobs)
  const situations: string[] = []
  let previous = ''
  for (const { act, before } of inModel(sequence)) {
    const others = before.chats.filter((_, index) => index !== act.chat).map(({ status }) => status)
    const { status, isTyping } = before.chats[act.chat] ?? { status: 'bot', isTyping: false }
    const chats = `${status}${isTyping ? '*' : ''}${others.length > 0 ? ` beside ${others.sort().join('+')}` : ''}`
    const label = labelOf(act)
    const conditions = [act.pace, before.isAway ? 'away' : '', act.fault ?? '', knob].filter(Boolean).join(' ')
    situations.push(`${chats} | ${previous}>${label} | ${conditions}`)
    previous = act.kind
  }
  return situations
}

/** Adds the situations of a conversation. `failedAt`: the index of the act at which it failed. */
export function countSituations(
  tried: Map<string, Tried>,
  sequence: ActSequence,
  failedAt: number | null = null,
): void {
  for (const [index, situation] of situationsOf(sequence).entries()) {
    const { times = 0, failures = 0 } = tried.get(situation) ?? {}
    // A failure is counted in addition, after its conversation was counted.
    if (failedAt === null) tried.set(situation, { times: times + 1, failures })
    else if (index === failedAt) tried.set(situation, { times, failures: failures + 1 })
  }
}

/** How often each act was tried in each state of its chat. */
export function coverageOf(tried: Situations): ReadonlyMap<ChatState, ReadonlyMap<ActKind, Tried>> {
  const table = new Map<ChatState, Map<ActKind, Tried>>()
  for (const state of CHAT_STATES) table.set(state, new Map())
  for (const [situation, { times, failures }] of tried) {
    const [, state, kind] = /^([a-z]+).*?>([a-z]+)/.exec(situation) ?? []
    const row = table.get(state as ChatState)
    if (row === undefined) continue
    const sum = row.get(kind as ActKind) ?? { times: 0, failures: 0 }
    row.set(kind as ActKind, { times: sum.times + times, failures: sum.failures + failures })
  }
  return table
}
