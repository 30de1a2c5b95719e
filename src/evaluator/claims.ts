/** Registers which step has claimed which call or inbox item: each once, and in the order of its conversation. */

import { type Call, type ConversationKey, type InboxRead, isLater } from './journal-index.ts'

export interface ClaimRegistry {
  /** The step that has it, or null. */
  ownerOf(call: Call): number | null
  /** All that the step has, in place of what it had before. */
  assign(step: number, calls: readonly Call[]): void
  claimedBy(step: number): readonly Call[]
  /** The last call claimed in a conversation: the next one must be later. */
  floorOf(conversation: ConversationKey): Call | null
  raise(conversation: ConversationKey, call: Call): void
  /** A failure names the call, so that it is not reported again as unexpected. */
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

/** By their place in the inbox, for each conversation and reset of its inbox. */
export interface InboxClaims {
  /** The last one claimed; -1 when there is none. */
  floor(conversation: string, resets: number): number
  take(conversation: string, resets: number, step: number, places: readonly number[]): void
  ownerOf(conversation: string, resets: number, place: number): number | null
}

export function createInboxClaims(): InboxClaims {
  const owners = new Map<string, Map<number, number>>()
  const keyOf = (conversation: string, resets: number) => `${resets} ${conversation}`
  return {
    floor: (conversation, resets) => Math.max(-1, ...(owners.get(keyOf(conversation, resets))?.keys() ?? [])),
    take(conversation, resets, step, places) {
      const own = owners.get(keyOf(conversation, resets)) ?? new Map<number, number>()
      owners.set(keyOf(conversation, resets), own)
      for (const place of places) own.set(place, step)
    },
    ownerOf: (conversation, resets, place) => owners.get(keyOf(conversation, resets))?.get(place) ?? null,
  }
}

/** How many items there were before the turn began. */
export function countBefore(reads: readonly InboxRead[], { resets }: InboxRead, turnSeq: number): number {
  const before = reads.filter(({ seq }) => seq < turnSeq).at(-1)
  return before === undefined || before.resets !== resets ? 0 : before.items.length
}

/** An expected item as the matcher needs it: a text stands for an item with that text. */
export const asItem = (item: unknown): unknown =>
  typeof item === 'string' || item instanceof RegExp ? { text: item } : item
