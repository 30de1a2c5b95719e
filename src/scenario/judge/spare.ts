/**
 * Calls nobody claimed that an earlier `expect` of the lane still explains: as one of several it allows, or as one too
 * many of it.
 */
import type { Expectation } from '../action.ts'
import { type Call, isLater } from './call.ts'
import type { ExpectWatch } from './expect.ts'
import { AVAILABILITY, type LaneKey } from './facts.ts'
import { takes } from './fit.ts'
import type { Court } from './referee.ts'

/** One leaf of an `expect`, with what came of it. */
export interface Taken {
  readonly watch: ExpectWatch
  readonly leaf: Expectation
  readonly claimed: readonly Call[]
  /** Beyond what was needed, within what is allowed. */
  readonly spare: Call[]
  /** Beyond what is allowed. */
  readonly excess: Call[]
}

/** The calls that are within the bounds of a `times`. */
export const spareCalls = (court: Court, lane: string): Set<Call> =>
  new Set(allotted(court, [lane, AVAILABILITY]).flatMap(({ spare }) => spare))

/** Every unclaimed call of these lanes, given to the latest `expect` that would have taken it. */
export function allotted(court: Court, lanes: readonly LaneKey[]): Taken[] {
  const all = [...court.expects.values()].flatMap(leavesTaken).reverse()
  const free = lanes.flatMap(lane => court.facts.callsOf(lane)).filter(call => isFree(court, call))
  for (const call of free) {
    const fitting = all.filter(taken => wouldTake(court, taken, call))
    const roomy = fitting.find(({ leaf, claimed, spare }) => claimed.length + spare.length < leaf.times.max)
    if (roomy !== undefined) roomy.spare.push(call)
    else fitting.find(taken => isRepetition(court, taken, call))?.excess.push(call)
  }
  return all
}

const isFree = ({ ledger }: Court, call: Call) => ledger.ownerOf(call) === null && !ledger.isReported(call)

const leavesTaken = (watch: ExpectWatch): Taken[] =>
  (watch.attempt?.way.leaves ?? []).map((leaf, at) => ({
    watch,
    leaf,
    claimed: watch.attempt!.taken[at]!,
    spare: [],
    excess: [],
  }))

const wouldTake = (court: Court, { watch, leaf, claimed }: Taken, call: Call) =>
  claimed.length >= leaf.times.min && takes({ ...watch.wantedOf(leaf), floor: null, untilMs: null }, call, court)

/** Of the same turn, or the same words again; another call of that kind much later is a matter of its own. */
function isRepetition(court: Court, { watch, claimed }: Taken, call: Call): boolean {
  const next = nextStimulus(court, watch)
  if (next === null || call.readAt < next) return true
  const text = JSON.stringify(call.body)
  return claimed.some(one => JSON.stringify(one.body) === text && isLater(call, one))
}

function nextStimulus({ facts, windows }: Court, { step }: ExpectWatch): number | null {
  const starts = [...facts.steps.values()].flatMap(later => {
    const turn = windows.turnStart(later)
    return later.number > step.number && later.lane === step.lane && (turn.step ?? 0) > step.number ? [turn.atMs] : []
  })
  return starts.length === 0 ? null : Math.min(...starts)
}
