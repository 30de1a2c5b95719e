/** After the end: calls nobody claimed, calls that were one too many, and calls that came when all was over. */
import type { EndpointId } from '../../contract/endpoints.ts'
import { flow } from '../match/text.ts'
import type { PlannedStep } from '../plan.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Charge } from './charge.ts'
import { closeOf } from './expect.ts'
import { tooClose } from './expect-failure.ts'
import { AVAILABILITY, type LaneKey } from './facts.ts'
import type { Court } from './referee.ts'
import { allotted, type Taken } from './spare.ts'
import { howOften, inLane, listed, offset, seconds, wishText } from './words.ts'

/** `told`: calls that another failure has told already. */
export function leftovers(court: Court, told: ReadonlySet<number>): Charge[] {
  const { facts } = court
  const lanes: LaneKey[] = [...facts.plan.lanes.map(({ name }) => name), AVAILABILITY]
  return lanes.flatMap(lane => ofLane(court, lane, told))
}

function ofLane(court: Court, lane: LaneKey, told: ReadonlySet<number>): Charge[] {
  const { facts, ledger } = court
  const taken = allotted(court, [lane])
  const counted = new Set(taken.flatMap(({ spare, excess }) => [...spare, ...excess]))
  const cut = cutOff(court, lane)
  const free = facts.callsOf(lane).filter(call => {
    const mine = ledger.ownerOf(call) !== null || counted.has(call) || told.has(call.seq)
    return !mine && call.readAt < cut && matters(court, call)
  })
  const ended = facts.ended?.at_ms ?? Number.POSITIVE_INFINITY
  return [
    ...taken.filter(one => one.excess.length > 0).flatMap(one => tooMany(court, one, lane, cut)),
    ...taken.filter(one => one.spare.length > 0).flatMap(one => tooCloseLater(one, lane)),
    ...grouped(free.filter(call => call.readAt <= ended)).map(calls => unexpected(court, calls, lane)),
    ...lateCalls(
      court,
      free.filter(call => call.readAt > ended),
      lane,
    ),
  ]
}

const matters = ({ facts: { plan } }: Court, { endpoint }: Call): boolean =>
  endpoint !== null &&
  !plan.strict.allow.includes(endpoint) &&
  (endpoint !== 'availability' || plan.mentionsAvailability)

/** From the turn of the first failure on a lane was not played to its end: what comes then explains itself. */
function cutOff(court: Court, lane: LaneKey): number {
  const { facts, windows } = court
  const own = [...facts.steps.values()].filter(step => lane === AVAILABILITY || step.lane === lane)
  const failed = own.filter(step => stopsLane(court, step)).map(step => windows.turnStart(step).atMs)
  return Math.min(Number.POSITIVE_INFINITY, ...failed)
}

const stopsLane = (court: Court, step: PlannedStep): boolean =>
  !step.soft && court.facts.begun(step.number) !== null && court.ruling(step, true).outcome !== 'pass'

function tooMany(court: Court, { watch, leaf, claimed, spare, excess }: Taken, lane: LaneKey, cut: number): Charge[] {
  const { strict, lanes } = court.facts.plan
  const once = leaf.times.min === 1 && leaf.times.max === 1
  const within = excess.filter(call => call.readAt < cut)
  if (within.length === 0 || (once && !within.every(call => matters(court, call)))) return []
  const all = [...claimed, ...spare, ...within].map(({ seq }) => seq).sort((a, b) => a - b)
  const often = once ? ` ${howOften(leaf.times)}` : ''
  return [
    {
      at: within[0]!.seq,
      step: watch.step,
      lane: nameOfLane(lane),
      severity: once ? strict.unexpected : 'fail',
      rule: 'too-many-calls',
      told: {
        kind: 'times',
        wanted: `${wishText(leaf)}${often}${inLane(nameOfLane(lane), lanes.length > 1)}`,
        happened: cameText(all, [...claimed, ...spare].at(-1), within[0]!),
        rules: leaf.call === 'any' ? [] : [ruleOf(leaf.call)],
        nearest: [],
        marks: within.map(({ seq }) => seq),
        ...repeatedHint(court, claimed.at(-1), within[0]!),
      },
    },
  ]
}

/** Between those the step waited for, the step itself has judged it. */
function tooCloseLater({ watch, leaf, claimed, spare }: Taken, lane: LaneKey): Charge[] {
  const close = closeOf(leaf, [...claimed.slice(-1), ...spare])
  if (close === null) return []
  const about = { step: watch.step, lane: nameOfLane(lane), severity: 'fail', rule: 'too-close' } as const
  return [{ ...about, at: close.second.seq, told: tooClose(close) }]
}

/** `it came 2 times: #9 and, 3.0 s later, #11` */
function cameText(all: readonly number[], first: Call | undefined, second: Call): string {
  const gap = first === undefined ? '' : `${seconds(Math.abs(second.readAt - first.readAt))} after #${first.seq}`
  if (all.length === 2 && first !== undefined) {
    return `it came 2 times: #${first.seq} and, ${gap.replace(/ after .*/, ' later')}, #${second.seq}`
  }
  return `it came ${all.length} times: ${listed(all)}; one too many is #${second.seq}${gap === '' ? '' : `, ${gap}`}`
}

/** An answer that was lost is tried again, and the platform cannot tell. */
function repeatedHint(court: Court, first: Call | undefined, second: Call): { hint?: string } {
  const lost = first !== undefined && 'answer_lost' in first.entry
  if (lost)
    return { hint: 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.' }
  const again = court.facts.entries.some(
    entry =>
      entry.kind === 'delivery' &&
      entry.attempt > 1 &&
      entry.seq < second.seq &&
      entry.chat_id === second.entry.chat_id,
  )
  return again ? { hint: 'An event was delivered more than once before: is the repetition taken for a new one?' } : {}
}

/** By endpoint: a line for each of fifty typing_start would hide the rest. */
function grouped(calls: readonly Call[]): Call[][] {
  const groups = new Map<EndpointId | null, Call[]>()
  for (const call of calls) groups.set(call.endpoint, [...(groups.get(call.endpoint) ?? []), call])
  return [...groups.values()]
}

function unexpected(court: Court, calls: readonly Call[], lane: LaneKey): Charge {
  const { strict, lanes } = court.facts.plan
  const first = calls[0]!
  const more =
    calls.length === 1 ? '' : `, and ${calls.length - 1} more of it (${listed(calls.slice(1).map(({ seq }) => seq))})`
  return {
    at: first.seq,
    step: null,
    lane: nameOfLane(lane),
    severity: strict.unexpected,
    rule: 'unexpected-call',
    told: {
      kind: 'unexpected',
      wanted: `a step for every call${inLane(nameOfLane(lane), lanes.length > 1)}`,
      happened: `${said(first)} at ${offset(sincePlay(court, first))}: no step expects it${more}`,
      rules: [ruleOf(first.endpoint)],
      nearest: [],
      marks: calls.map(({ seq }) => seq),
      hint: `If it is right, expect it, or allow it with strict: { allow: [${first.endpoint}] }.`,
    },
  }
}

function lateCalls(court: Court, calls: readonly Call[], lane: LaneKey): Charge[] {
  const [first, ...more] = calls
  if (first === undefined) return []
  const { plan, ended } = court.facts
  const others = more.length === 0 ? '' : `, and ${more.length} more (${listed(more.map(({ seq }) => seq))})`
  return [
    {
      at: first.seq,
      step: null,
      lane: nameOfLane(lane),
      severity: plan.strict.unexpected,
      rule: 'late-call',
      told: {
        kind: 'late',
        wanted: `no call after the end of the scenario${inLane(nameOfLane(lane), plan.lanes.length > 1)}`,
        happened: `${said(first)} came ${seconds(first.readAt - ended!.at_ms)} after it had ended${others}`,
        rules: [ruleOf(first.endpoint)],
        nearest: [],
        marks: calls.map(({ seq }) => seq),
        hint: 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.',
      },
    },
  ]
}

const nameOfLane = (lane: LaneKey): string | null => (lane === AVAILABILITY ? null : lane)
const sincePlay = ({ facts }: Court, call: Call) => call.readAt - (facts.started?.at_ms ?? 0)

/** `#11 message { message: "Hi" }`: without the ids, which say nothing to a reader. */
function said(call: Call): string {
  if (typeof call.body !== 'object' || call.body === null) return `${shortName(call)} ${flow(call.body, 60)}`
  const { bot_id: _, chat_id: __, ...rest } = call.body as Record<string, unknown>
  return Object.keys(rest).length === 0 ? shortName(call) : `${shortName(call)} ${flow(rest, 60)}`
}
