/** What is begun and not ended: takeovers and typing indicators. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { callAt, type History, perChat, type Sighting, succeeded } from './rule.ts'

/** Only where the agent left: a scenario may well stop in the middle of a conversation. */
export const chatNeverEnded = perChat('chat-never-ended', chat => {
  const started = chat.findLast(entry => isCall(entry, 'start'))
  const left = chat.findLast(entry => entry.kind === 'driver' && entry.verb === 'leave' && entry.outcome === 'ok')
  if (started === undefined || left === undefined || left.seq < started.seq) return []
  if (chat.some(entry => entry.seq > started.seq && isCall(entry, 'end'))) return []
  const tried = chat.filter(entry => entry.kind === 'api' && entry.endpoint === 'end' && entry.seq > left.seq)
  return [
    { marks: [started.seq, left.seq, ...tried.map(({ seq }) => seq)], message: neverEnded(left.seq, tried.length) },
  ]
})

const isCall = (entry: Entry, endpoint: string): entry is EntryOf<'api'> =>
  entry.kind === 'api' && entry.endpoint === endpoint && succeeded(entry)

function neverEnded(leftAt: number, tries: number): string {
  const what = tries === 0 ? '`end` was never called' : `no call of \`end\` succeeded (${tries} tried)`
  return (
    `The agent left (#${leftAt}) and ${what}. The chat stays taken over, the bot stays silent, and the user waits for ` +
    'somebody who is gone. Call `end` when the conversation is closed, and keep trying until it is answered.'
  )
}

/** Longer than this helps nobody when the agent walks away. */
const LONGEST_TIMEOUT_MS = 60_000

export const typingNeverStopped = perChat('typing-never-stopped', (chat, { plan, entries }) => {
  const ends = new Set<string | null>(['typing_stop', ...clearing(plan, entries)])
  let on: EntryOf<'api'> | null = null
  for (const entry of chat) {
    if (entry.kind !== 'api' || !succeeded(entry)) continue
    if (entry.endpoint === 'typing_start') on = stays(entry) ? entry : null
    else if (ends.has(entry.endpoint)) on = null
  }
  return on === null ? [] : [typing(on)]
})

/** As it was in force: set by the scenario, or for the whole run. */
function clearing(plan: History['plan'], entries: readonly Entry[]): readonly string[] {
  const begun = entries.find(entry => entry.kind === 'note' && entry.note === 'scenario_started')
  const { config = plan.config } = (begun ?? {}) as Partial<RunEventOf<'scenario_started'>>
  const set = config['typing.clearOn']
  return Array.isArray(set) ? set.map(String) : typeof set === 'string' ? set.split(',') : ['end']
}

const timeoutOf = ({ request }: EntryOf<'api'>): number => {
  const timeout = (request.body as { timeout?: unknown } | null)?.timeout
  return typeof timeout === 'number' ? timeout : Number.POSITIVE_INFINITY
}

const stays = (call: EntryOf<'api'>) => timeoutOf(call) > LONGEST_TIMEOUT_MS

function typing(call: EntryOf<'api'>): Sighting {
  const timeout = timeoutOf(call)
  const how = Number.isFinite(timeout) ? `a \`timeout\` of ${timeout} ms` : 'no `timeout`'
  const message =
    `${callAt(call)} had ${how} and no \`typing_stop\` followed. The user goes on seeing somebody type. ` +
    'Send a `timeout` of some seconds with `typing_start` and repeat the call while the agent types, or send `typing_stop`.'
  return { marks: [call.seq], message }
}
