/** Who has claimed which call. A call is claimed once, and the next step of its lane looks behind it. */
import { type Call, isLater } from './call.ts'
import type { LaneKey } from './facts.ts'

export interface Ledger {
  /** The step that has it, or null. */
  ownerOf(call: Call): number | null
  /** All that the step has, in place of what it had before. */
  assign(step: number, calls: readonly Call[]): void
  claimedBy(step: number): readonly Call[]
  /** The last call claimed in a lane: the next one must be later. */
  floorOf(lane: LaneKey): Call | null
  raise(lane: LaneKey, call: Call): void
  /** It was told as a failure: it is not told again as one nobody expected. */
  report(call: Call): void
  isReported(call: Call): boolean
}

export function createLedger(): Ledger {
  const owners = new Map<number, number>()
  const claims = new Map<number, readonly Call[]>()
  const floors = new Map<LaneKey, Call>()
  const reported = new Set<number>()
  return {
    ownerOf: ({ seq }) => owners.get(seq) ?? null,
    assign(step, calls) {
      for (const { seq } of claims.get(step) ?? []) owners.delete(seq)
      for (const { seq } of calls) owners.set(seq, step)
      claims.set(step, calls)
    },
    claimedBy: step => claims.get(step) ?? [],
    floorOf: lane => floors.get(lane) ?? null,
    raise(lane, call) {
      const floor = floors.get(lane)
      if (floor === undefined || isLater(call, floor)) floors.set(lane, call)
    },
    report: ({ seq }) => void reported.add(seq),
    isReported: ({ seq }) => reported.has(seq),
  }
}
