/** Streams journal entries as server-sent events, resumable by seq; the journal is the only buffer. */

import { nextMacrotask, wallTimer } from '../../base/runtime/clock.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { Journal } from '../../platform/journal/journal.ts'

export interface EventsOptions {
  readonly journal: Journal
  /** The last seq that the client received. */
  readonly after: number
  /** The instance of the journal that the client has received entries of, when it says so. */
  readonly instance: string | undefined
  /** The current instance: another one after a reset or a restored snapshot. */
  readonly currentInstance: () => string
  readonly present: (entry: Entry) => unknown
  readonly closing: AbortSignal
  readonly heartbeatMs: number
  readonly streams: OpenStreams
  /** Further events as text, which are read some time after entries were appended; empty when there are none. */
  readonly derived?: (() => string) | undefined
}

/** Entries that come soon after each other are followed by derived events once. */
const DERIVED_AFTER_MS = 250

/** Counts the streams of a server. */
export interface OpenStreams {
  count: number
}

/** A chunk ends with the entry that reaches this length. */
const CHUNK_CHARS = 65_536
const CHUNK_ENTRIES = 200

/** Entries are read from the journal when the client requests more, so a slow client delays only itself. */
export const eventStream = (options: EventsOptions): ReadableStream<Uint8Array> =>
  serverSentEvents(() => createReader(options))

/** Reads events as text: those that are ready, or the next ones; null when the stream ends. */
export interface EventReader {
  next(): Promise<string | null>
  stop(): void
}

/** A stream of server-sent events that reads when the client requests more. `open` runs with the first request. */
export function serverSentEvents(open: () => EventReader): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let reader: EventReader | null = null
  return new ReadableStream(
    {
      async pull(controller) {
        const text = reader === null ? ': handover-sim\nretry: 1000\n\n' : await reader.next()
        reader ??= open()
        if (text === null) controller.close()
        else controller.enqueue(encoder.encode(text))
      },
      cancel: () => reader?.stop(),
    },
    { highWaterMark: 0 },
  )
}

function createReader(options: EventsOptions): EventReader {
  const { journal, after, instance, currentInstance, present, closing, heartbeatMs, streams, derived } = options
  // A seq beyond the end of the journal is from before a reset.
  let wasReset = after >= journal.nextSeq || (instance ?? currentInstance()) !== currentInstance()
  let cursor = after
  let isDerivedDue = derived !== undefined

  function take(): string {
    let text = ''
    if (isDerivedDue && derived !== undefined) {
      isDerivedDue = false
      text = derived()
    }
    if (wasReset) {
      text += `event: reset\ndata: ${JSON.stringify({ instance: currentInstance() })}\n\n`
      cursor = 0
      wasReset = false
    }
    for (const entry of journal.query({ after: cursor, limit: CHUNK_ENTRIES })) {
      text += `id: ${entry.seq}\ndata: ${JSON.stringify(present(entry))}\n\n`
      cursor = entry.seq
      if (text.length >= CHUNK_CHARS) break
    }
    return text
  }

  const subscribe = (wake: () => void) => {
    let timer: ReturnType<typeof wallTimer> | null = null
    const wakeForDerived = () => {
      timer = null
      isDerivedDue = true
      wake()
    }
    const appended = () => {
      if (derived !== undefined) timer ??= wallTimer(DERIVED_AFTER_MS, wakeForDerived)
      wake()
    }
    const unsubscribe = journal.subscribe(appended, () => {
      wasReset = true
      appended()
    })
    return () => {
      timer?.cancel()
      unsubscribe()
    }
  }
  return createEventReader({ subscribe, take, pause: nextMacrotask, closing, heartbeatMs, streams })
}

export interface EventReaderOptions {
  /** Calls `wake` when there may be events. Returns a function that ends it. */
  subscribe(wake: () => void): () => void
  /** The events since the last call as text; empty when there are none. */
  take(): string
  /** Awaited before events are taken, so that other requests are answered between two chunks. */
  pause?(): Promise<void>
  readonly closing: AbortSignal
  readonly heartbeatMs: number
  readonly streams: OpenStreams
}

/** Waits for events without polling. It counts as an open stream until it stops. */
export function createEventReader(source: EventReaderOptions): EventReader {
  const { take, pause, closing, heartbeatMs, streams } = source
  let wake: (() => void) | null = null
  const unsubscribe = source.subscribe(() => wake?.())
  let isOpen = true
  streams.count++
  const stop = () => {
    if (!isOpen) return
    isOpen = false
    streams.count--
    unsubscribe()
    closing.removeEventListener('abort', stop)
    wake?.()
  }
  closing.addEventListener('abort', stop)
  const woken = () =>
    new Promise<void>(resolve => {
      const timer = wallTimer(heartbeatMs, resolve)
      wake = () => {
        timer.cancel()
        resolve()
      }
    })
  return {
    stop,
    /** The next events; a heartbeat when there are none for `heartbeatMs`; null when the stream ends. */
    async next() {
      if (closing.aborted) return null
      await pause?.()
      if (!isOpen) return null
      const ready = take()
      if (ready !== '') return ready
      await woken()
      wake = null
      return closing.aborted ? null : take() || ': still here\n\n'
    },
  }
}
