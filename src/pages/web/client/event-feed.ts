/** Follows the journal by server-sent events, and resumes after an interruption without gaps or doubles. */
import { createParser } from 'eventsource-parser'
import { elapsedMs, type Timer, wallDelay, wallTimer } from '../../../base/runtime/clock.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { type ControlClient, ControlError } from './control.ts'

export type FeedState = 'connecting' | 'live' | 'lost' | 'refused'
/** `missing`: the server has no such workspace. Like `refused`, it is the last state. */
export type JournalFeedState = FeedState | 'missing'

export interface FeedListener {
  onEntries(entries: readonly Entry[]): void
  /** The journal begins again: after a reset, a restored snapshot, or a restart of the server. */
  onReset(): void
  onState(state: JournalFeedState): void
}

const RETRY_MS = 1000
/** Identifies the process of the server and its journal. */
const INSTANCE = 'x-handover-sim-instance'

/** Returns a function that ends it. */
export function followJournal(client: ControlClient, listener: FeedListener): () => void {
  const ended = new AbortController()
  void follow(client, listener, ended.signal)
  return () => ended.abort()
}

async function follow(client: ControlClient, listener: FeedListener, signal: AbortSignal): Promise<void> {
  const position = { instance: null as string | null, after: 0 }
  while (!signal.aborted) {
    listener.onState(position.instance === null ? 'connecting' : 'lost')
    try {
      const { after, instance } = position
      const url = client.url('/events', { after, ...(instance !== null && { instance }) })
      const response = await fetch(url, { headers: client.headers(), signal })
      if (!response.ok || response.body === null)
        throw new ControlError(response.status, { code: 'stream', message: 'The server refused the stream of events.' })
      const served = response.headers.get(INSTANCE)
      if (instance !== null && served !== instance) restart(listener, position, served)
      position.instance = served
      listener.onState('live')
      await readEvents(response.body, listener, position)
    } catch (error) {
      const status = error instanceof ControlError ? error.status : null
      if (status === 401) return listener.onState('refused')
      if (status === 404) return listener.onState('missing')
    }
    await wallDelay(RETRY_MS, signal)
  }
}

interface Position {
  instance: string | null
  after: number
}

/** The entries of another instance have other numbers. */
function restart(listener: FeedListener, position: Position, instance: string | null): void {
  position.instance = instance
  position.after = 0
  listener.onReset()
}

/** Entries of one chunk arrive together. */
async function readEvents(body: ReadableStream<Uint8Array>, listener: FeedListener, position: Position): Promise<void> {
  let entries: Entry[] = []
  const parser = createParser({
    onEvent({ event, data, id }) {
      if (event === 'reset') {
        entries = []
        const { instance } = JSON.parse(data)
        // A stream of another instance than that of the request begins with a reset, which its header announces.
        if (instance !== position.instance || position.after > 0) restart(listener, position, instance)
        return
      }
      position.after = Number(id)
      entries.push(JSON.parse(data))
    },
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parser.feed(decoder.decode(value, { stream: true }))
    if (entries.length > 0) listener.onEntries(entries)
    entries = []
  }
}

/** Collects what arrives, and passes it on before a frame of the screen is drawn, by default at most 10 times a second. */
interface FrameBatches<Item> {
  add(items: readonly Item[]): void
  /** Discards what was not passed on. */
  clear(): void
}

/** As many items are passed on together; the others follow. */
const MOST_TOGETHER = 1_500
/** While items arrive all the time, the page is drawn for them so often, and most frames stay free. */
const PAUSE_MS = 100
/** A hidden tab has no frames. */
const HIDDEN_MS = 250

export function createFrameBatches<Item>(
  pass: (items: readonly Item[]) => void,
  leastMs = PAUSE_MS,
): FrameBatches<Item> {
  let waiting: Item[] = []
  let frame: number | null = null
  let timer: Timer | null = null
  let passedAt = Number.NEGATIVE_INFINITY
  const run = () => {
    stop()
    passedAt = elapsedMs()
    const items = waiting.splice(0, MOST_TOGETHER)
    if (waiting.length > 0) start()
    if (items.length > 0) pass(items)
  }
  const atNextFrame = () => {
    frame = requestAnimationFrame(run)
    timer = wallTimer(HIDDEN_MS, run)
  }
  const start = () => {
    if (timer !== null) return
    const pauseMs = passedAt + leastMs - elapsedMs()
    if (pauseMs <= 0) atNextFrame()
    else timer = wallTimer(pauseMs, atNextFrame)
  }
  const stop = () => {
    if (frame !== null) cancelAnimationFrame(frame)
    timer?.cancel()
    frame = null
    timer = null
  }
  return {
    add(items) {
      // A spread would exceed the number of arguments for a long list.
      waiting = waiting.length === 0 ? [...items] : waiting.concat(items)
      start()
    },
    clear() {
      waiting = []
      stop()
    },
  }
}
