/** Who has claimed which call. A call is claimed once, and the next step of its lane looks behind it. */
import { type Call, isLater } from './call.ts'
import type { ConversationKey } from './journal-index.ts'

export interface ClaimRegistry {
  /** The step that has it, or null. */
  ownerOf(call: Call): number | null
  /** All that the step has, in place of what it had before. */
  assign(step: number, calls: readonly Call[]): void
  claimedBy(step: number): readonly Call[]
  /** The last call claimed in a lane: the next one must be later. */
  floorOf(conversation: ConversationKey): Call | null
  raise(conversation: ConversationKey, call: Call): void
  /** It was told as a failure: it is not told again as one nobody expected. */
  report(call: Call): void
  isReported(call: Call): boolean
}

export function createClaimRegistry(): ClaimRegistry {
  const owners = new Map<number, number>()
  const claims = new Map<number, readonly Call[]>()
  const floors = new Map<ConversationKey, Call>()
  const reported = new Set<number>()
  return {
    ownerOf: ({ seq }) => owners.get(seq) ?? null,
    assign(step, calls) {
      for (const { seq } of claims.get(step) ?? []) owners.delete(seq)
      for (const { seq } of calls) owners.set(seq, step)
      claims.set(step, calls)
    },
    claimedBy: step => claims.get(step) ?? [],
    floorOf: conversation => floors.get(conversation) ?? null,
    raise(conversation, call) {
      const floor = floors.get(conversation)
      if (floor === undefined || isLater(call, floor)) floors.set(conversation, call)
    },
    report: ({ seq }) => void reported.add(seq),
    isReported: ({ seq }) => reported.has(seq),
  }
}
