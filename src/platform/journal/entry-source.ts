/** Keeps what an entry says until it is first read: most entries are dropped unread, and building one takes time and memory. */
import type { ApiContent, DeliveryContent, Entry, EntryOf, EventContent } from './entry.ts'

export type CallOutline = Pick<EntryOf<'api'>, 'kind' | 'chat_id' | 'endpoint' | 'status' | 'findings' | 'faults'>
export type EventOutline = Pick<EntryOf<'event'>, 'kind' | 'chat_id'>
export type DeliveryOutline = Pick<EntryOf<'delivery'>, 'kind' | 'chat_id' | 'outcome' | 'sign'>

export type SourceOutline = CallOutline | EventOutline | DeliveryOutline

/** What is known of an entry before it is built: enough to decide whether it is of interest. */
export type EntryOutline = Exclude<Entry, EntryOf<SourceOutline['kind']>> | SourceOutline

/** A call, an event or a delivery from which an entry can be built. */
export abstract class EntrySource {
  /** The estimated memory of the entry in bytes. */
  abstract readonly size: number

  /** Builds what the entry says; the journal adds its number, time and cause. Called at most once. */
  abstract content(): ApiContent | EventContent | DeliveryContent

  /** Called when the journal refers to it no more: its entry is built, or dropped. */
  release(): void {}
}

export type JournalSource = EntrySource & SourceOutline
