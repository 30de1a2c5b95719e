/** Who has claimed which call. A call is claimed once, and the next step of its lane looks behind it. */

import type { InboxItem } from '../scenario/run-events.ts'
import { counted } from '../text/counted.ts'
import { type Call, isLater } from './call.ts'
import type { ConversationKey, InboxRead } from './journal-index.ts'
import { flow } from './matching/value-text.ts'

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

/** By their place in the inbox, per lane and book. */
export interface InboxClaims {
  /** The last one claimed; -1 when there is none. */
  floor(conversation: string, book: number): number
  take(conversation: string, book: number, step: number, places: readonly number[]): void
  ownerOf(conversation: string, book: number, place: number): number | null
}

export function createInboxClaims(): InboxClaims {
  const owners = new Map<string, Map<number, number>>()
  const keyOf = (conversation: string, book: number) => `${book} ${conversation}`
  return {
    floor: (conversation, book) => Math.max(-1, ...(owners.get(keyOf(conversation, book))?.keys() ?? [])),
    take(conversation, book, step, places) {
      const own = owners.get(keyOf(conversation, book)) ?? new Map<number, number>()
      owners.set(keyOf(conversation, book), own)
      for (const place of places) own.set(place, step)
    },
    ownerOf: (conversation, book, place) => owners.get(keyOf(conversation, book))?.get(place) ?? null,
  }
}

/** How many items there were before the turn began. */
export function countBefore(reads: readonly InboxRead[], { book }: InboxRead, turnSeq: number): number {
  const before = reads.filter(({ seq }) => seq < turnSeq).at(-1)
  return before === undefined || before.book !== book ? 0 : before.items.length
}

/** What the agent is to see, as one writes it: a text stands for an item with that text. */
export const asItem = (item: unknown): unknown =>
  typeof item === 'string' || item instanceof RegExp ? { text: item } : item

/** `{ text: "Hi" }` is shown as `"Hi"`. */
export function shortItem(item: unknown): unknown {
  const fields = item as { text?: unknown } | null
  return typeof item === 'object' && fields !== null && Object.keys(fields).join() === 'text' ? fields.text : item
}

/** `inbox item 3 "Hello"` */
export function itemName(items: readonly InboxItem[], place: number): string {
  const { request, text, attachments } = items[place] ?? {}
  const files = attachments?.length ? ` with ${counted(attachments.length, 'file')}` : ''
  return `inbox item ${place + 1} ${request && text === undefined ? 'request' : flow(text ?? '', 40)}${files}`
}
