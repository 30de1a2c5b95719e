/** Counts the situations that conversations have tried, so that the next ones try others; and stores them from run to run. */
import { keysOf } from '../../base/objects.ts'
import { ACT_RULES, type ActInState, type ActSequence, CHAT_STATES, inModel, ruleOf } from './model.ts'

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
    const otherStates = before.chats.filter((_, index) => index !== act.chat).map(({ status }) => status)
    const { status, isTyping } = before.chats[act.chat] ?? { status: 'bot', isTyping: false }
    const chats = `${status}${isTyping ? '*' : ''}${otherStates.length > 0 ? ` beside ${otherStates.sort().join('+')}` : ''}`
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
export interface Coverage {
  readonly columns: readonly string[]
  /** The states of a chat. A cell is null where the act is not possible. */
  readonly rows: readonly { readonly state: string; readonly cells: readonly (Tried | null)[] }[]
}

export function coverageOf(tried: Situations): Coverage {
  const sums = new Map<string, Tried>()
  for (const [situation, { times, failures }] of tried) {
    const [, state, kind] = /^([a-z]+).*?>([a-z]+)/.exec(situation) ?? []
    const sum = sums.get(`${state} ${kind}`) ?? { times: 0, failures: 0 }
    sums.set(`${state} ${kind}`, { times: sum.times + times, failures: sum.failures + failures })
  }
  const columns = keysOf(ACT_RULES)
  const rows = CHAT_STATES.map(state => ({
    state,
    cells: columns.map(kind =>
      ruleOf(kind).in.includes(state) ? (sums.get(`${state} ${kind}`) ?? { times: 0, failures: 0 }) : null,
    ),
  }))
  return { columns, rows }
}
