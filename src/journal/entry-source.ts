/** Keeps what an entry says until it is first read: most entries are dropped unread, and building one takes time and memory. */
import type { ApiContent, Entry, EntryOf } from './entry.ts'

type CallOutline = Pick<EntryOf<'api'>, 'kind' | 'chat_id' | 'endpoint' | 'status' | 'findings' | 'faults'>

/** What is known of an entry before it is built: enough to decide whether it is of interest. */
export type EntryOutline = Exclude<Entry, EntryOf<'api'>> | CallOutline

/** A call from which an entry can be built. */
export abstract class EntrySource implements CallOutline {
  get kind(): 'api' {
    return 'api'
  }
  abstract readonly chat_id: string | undefined
  abstract readonly endpoint: ApiContent['endpoint']
  abstract readonly status: number
  abstract readonly findings: ApiContent['findings']
  abstract readonly faults: ApiContent['faults']
  /** The estimated memory of the entry in bytes. */
  abstract readonly size: number

  /** Builds what the entry says; the journal adds its number and time. Called at most once. */
  abstract content(): ApiContent
}
