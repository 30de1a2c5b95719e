/** Reads from the journal of a conversation how long an intermediary took, as the people in it see it. */
import { isMap, keysOf } from '../../base/objects.ts'
import { isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { Entry } from '../../platform/journal/entry.ts'

/** How a report names them. */
export const TIMING_TEXTS = {
  ack: 'acknowledgement',
  user_to_agent: 'user to agent',
  agent_to_user: 'agent to user',
  accept_to_start: 'accept to start',
} as const
export type Timing = keyof typeof TIMING_TEXTS

export const TIMINGS: readonly Timing[] = keysOf(TIMING_TEXTS)

/** Milliseconds, in the order in which they began. */
export type Timings = Readonly<Record<Timing, readonly number[]>>

/** What a person did, and waits for. */
interface Act {
  readonly chatId: string | undefined
  readonly text: string
  readonly atMs: number
}

/**
 * `ack`: from the request of an event to its answer. `user_to_agent`: from a text of the user until the agent driver showed it
 * in the inbox, which is read only for a `sees`, every 5 to 200 ms. `agent_to_user`: from the driver's `says` to the call that
 * brings the text. `accept_to_start`: from the driver's `accept` to the call. What never comes has no time.
 */
export function timingsIn(entries: readonly Entry[]): Timings {
  const ack: number[] = []
  const written: Act[] = []
  const texts: Act[] = []
  const accepted: Act[] = []
  for (const entry of entries) {
    const { chat_id: chatId, at_ms: endMs } = entry
    if (entry.kind === 'delivery' && entry.outcome === 'delivered') ack.push(entry.duration_ms)
    else if (entry.kind === 'user' && entry.action === 'message')
      written.push({ chatId, text: entry.text ?? '', atMs: endMs })
    else if (isDriverCall(entry)) {
      const act = { chatId, text: entry.text ?? '', atMs: endMs - entry.duration_ms }
      if (entry.verb === 'says') texts.push(act)
      else if (entry.verb === 'accept') accepted.push(act)
    }
  }
  const user_to_agent: number[] = []
  const agent_to_user: number[] = []
  const accept_to_start: number[] = []
  /** How many items of a chat have had a text. */
  const seen = new Map<string, number>()
  /** The first act that waits for it has its time. */
  const take = (acts: Act[], times: number[], chatId: string | undefined, atMs: number, text?: string) => {
    const at = acts.findIndex(
      act => act.chatId === chatId && act.atMs <= atMs && (text === undefined || act.text === text),
    )
    const [act] = at < 0 ? [] : acts.splice(at, 1)
    if (act !== undefined) times.push(atMs - act.atMs)
  }
  for (const entry of entries) {
    const { chat_id: chatId, at_ms: atMs } = entry
    if (entry.kind === 'api' && entry.status < 300) {
      const { endpoint, request } = entry
      if (endpoint === 'start') take(accepted, accept_to_start, chatId, atMs)
      else if (endpoint === 'message' && isMap(request.body))
        take(texts, agent_to_user, chatId, atMs, String(request.body.message))
    } else if (isDriverCall(entry) && entry.verb === 'inbox') {
      // Each read has all items: of equal texts, those that an earlier read had are not new.
      const had = new Map<string, number>()
      for (const { text } of entry.items ?? []) {
        if (text === undefined) continue
        const key = `${chatId} ${text}`
        const count = (had.get(key) ?? 0) + 1
        had.set(key, count)
        if (count <= (seen.get(key) ?? 0)) continue
        seen.set(key, count)
        take(written, user_to_agent, chatId, atMs, text)
      }
    }
  }
  return { ack, user_to_agent, agent_to_user, accept_to_start }
}
