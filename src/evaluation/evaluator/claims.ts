/** Registers which step has claimed which call or inbox item: each once, and in the order of its conversation. */

import { type Call, type ConversationKey, type InboxRead, isLater } from './journal-index.ts'

export class ClaimRegistry {
  readonly #owners = new Map<number, number>()
  readonly #claims = new Map<number, readonly Call[]>()
  readonly #floors = new Map<ConversationKey, Call>()
  readonly #reported = new Set<number>()

  /** The step that has it, or null. */
  ownerOf = ({ seq }: Call): number | null => this.#owners.get(seq) ?? null

  /** All that the step has, in place of what it had before. */
  assign(step: number, calls: readonly Call[]): void {
    for (const { seq } of this.claimedBy(step)) this.#owners.delete(seq)
    for (const { seq } of calls) this.#owners.set(seq, step)
    this.#claims.set(step, calls)
  }

  claimedBy = (step: number): readonly Call[] => this.#claims.get(step) ?? []

  /** The last call claimed in a conversation: the next one must be later. */
  floorOf = (conversation: ConversationKey): Call | null => this.#floors.get(conversation) ?? null

  raise(conversation: ConversationKey, call: Call): void {
    const floor = this.floorOf(conversation)
    if (floor === null || isLater(call, floor)) this.#floors.set(conversation, call)
  }

  /** Drops the calls before `firstSeq`, and the claims of these steps. */
  evict(firstSeq: number, steps: readonly number[]): void {
    for (const number of steps) this.#claims.delete(number)
    for (const seq of this.#owners.keys()) if (seq < firstSeq) this.#owners.delete(seq)
    for (const seq of this.#reported) if (seq < firstSeq) this.#reported.delete(seq)
  }

  /** A failure names the call, so that it is not reported again as unexpected. */
  report = ({ seq }: Call): void => void this.#reported.add(seq)
  isReported = ({ seq }: Call): boolean => this.#reported.has(seq)
}

/** By their place in the inbox, for each conversation and reset of its inbox. */
export class InboxClaims {
  readonly #owners = new Map<string, Map<number, number>>()

  #ownersIn(conversation: string, resets: number): Map<number, number> {
    const key = `${resets} ${conversation}`
    const owners = this.#owners.get(key) ?? new Map<number, number>()
    this.#owners.set(key, owners)
    return owners
  }

  /** The last one claimed; -1 when there is none. */
  floor = (conversation: string, resets: number): number => Math.max(-1, ...this.#ownersIn(conversation, resets).keys())

  take(conversation: string, resets: number, step: number, places: readonly number[]): void {
    for (const place of places) this.#ownersIn(conversation, resets).set(place, step)
  }

  ownerOf = (conversation: string, resets: number, place: number): number | null =>
    this.#ownersIn(conversation, resets).get(place) ?? null
}

/** How many items there were before the turn began. */
export function countBefore(reads: readonly InboxRead[], { resets }: InboxRead, turnSeq: number): number {
  const before = reads.filter(({ seq }) => seq < turnSeq).at(-1)
  return before === undefined || before.resets !== resets ? 0 : before.items.length
}

/** An expected item as the matcher needs it: a text stands for an item with that text. */
export const asItem = (item: unknown): unknown =>
  typeof item === 'string' || item instanceof RegExp ? { text: item } : item
