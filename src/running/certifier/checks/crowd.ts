/** Opens many chats with a token for each side, and follows their traffic by reading each journal entry once. */

import { makeId } from '../../../base/runtime/random.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatCall, CheckChat } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import type { Direction } from '../findings/load.ts'

/** One chat of a crowd. */
export interface Member {
  readonly chat: CheckChat
  /** What the user writes, and what the agent writes. */
  readonly tokens: { readonly user: string; readonly agent: string }
  /** To the user's request and message; those to typing events and to duplicates are the subject of other checks. */
  readonly answers: EventAnswer[]
  readonly calls: ChatCall[]
}

/** A token in a chat that is not its own. */
export interface Crossing {
  readonly direction: Direction
  readonly from: string
  readonly to: string
  readonly seq: number
}

export interface Crowd {
  readonly check: CheckContext
  readonly members: readonly Member[]
  readonly crossings: readonly Crossing[]
  /** When the round ends, on the clock of the journal. */
  readonly untilMs: number
  /** Milliseconds of each acknowledgement, and from one side to the other. */
  readonly times: Readonly<Record<'ack' | Direction, number[]>>
  /** Whether the condition is met for every member in time. Ends early when a token has crossed. */
  untilAll(condition: (member: Member) => boolean, withinMs: number): Promise<boolean>
  /** Finds tokens of other chats in what belongs to this one. */
  findCrossings(member: Member, value: unknown, direction: Direction, seq: number): void
  /** Records percentiles of the times. */
  measure(): void
  close(): void
}

export async function openCrowd(check: CheckContext, size: number): Promise<Crowd> {
  const names = Array.from({ length: size }, (_, index) => `${size} at once, ${index + 1}`)
  const members = await Promise.all(names.map(name => openMember(check, name)))
  const byChat = new Map(members.map(member => [member.chat.id, member]))
  const owners = new Map(members.flatMap(member => Object.values(member.tokens).map(token => [token, member])))
  const crossings: Crossing[] = []
  const crowd: Omit<Crowd, 'close'> = {
    check,
    members,
    crossings,
    untilMs: check.core.journal.atMs + check.limits.crowdMs,
    times: { ack: [], to_agent: [], to_user: [] },
    untilAll(condition, withinMs) {
      const isMet = () => crossings.length > 0 || members.every(condition)
      return check.until(isMet, withinMs).then(met => met && members.every(condition))
    },
    findCrossings(member, value, direction, seq) {
      for (const token of JSON.stringify(value ?? null).match(/token-[0-9a-f]{24}/g) ?? []) {
        const owner = owners.get(token)
        if (owner === undefined || owner === member) continue
        crossings.push({ direction, from: owner.chat.name, to: member.chat.name, seq })
      }
    },
    measure: () => measureTimes(check, size, crowd.times),
  }
  const close = check.core.journal.subscribe(entry => follow(crowd, byChat.get(entry.chat_id ?? ''), entry))
  return { ...crowd, close }
}

async function openMember(check: CheckContext, name: string): Promise<Member> {
  const token = (side: string) => `token-${makeId('hex24', check.seed, `${side} ${name}`)}`
  return {
    chat: await check.chat(name),
    tokens: { user: token('user'), agent: token('agent') },
    answers: [],
    calls: [],
  }
}

function follow(
  { findCrossings, times }: Pick<Crowd, 'findCrossings' | 'times'>,
  member: Member | undefined,
  entry: Entry,
): void {
  if (member === undefined) return
  if (
    entry.kind === 'delivery' &&
    entry.duplicate !== true &&
    (entry.event === 'REQUESTING TAKEOVER' || entry.event === 'MESSAGE FROM USER')
  ) {
    member.answers.push(entry)
    if (entry.status === 200) times.ack.push(entry.duration_ms)
  }
  if (entry.kind !== 'api') return
  member.calls.push(entry)
  findCrossings(member, entry.request.body, 'to_user', entry.seq)
}

function measureTimes(check: CheckContext, size: number, times: Crowd['times']): void {
  for (const [name, values] of Object.entries(times))
    for (const [share, value] of Object.entries(percentiles(values)))
      check.measure(`${name}_${size}_chats_${share}_ms`, value)
}

/** By nearest rank; empty without values. */
function percentiles(values: readonly number[]): Record<string, number> {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (percent: number) => sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]
  const named = [50, 95, 99].map(percent => [`p${percent}`, at(percent)] as const)
  return Object.fromEntries(named.flatMap(([name, value]) => (value === undefined ? [] : [[name, Math.round(value)]])))
}
