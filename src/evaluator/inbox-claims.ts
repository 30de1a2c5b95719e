/** Items of an agent's inbox: which are new, whose they are, and how they are named. */

import type { InboxItem } from '../scenario/run-events.ts'
import { counted } from '../text/counted.ts'
import type { InboxRead } from './journal-index.ts'
import { flow } from './matching/value-text.ts'

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
