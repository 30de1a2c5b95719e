/** Follows the journal and UI mode by server-sent events, and connects again after an interruption. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { wallDelay } from '../../../base/runtime/clock.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { UiEvents } from '../../../running/ui-mode/protocol.ts'
import { type ClientRequest, type ControlClient, ControlError } from './control.ts'

/** `missing`: the server has no such workspace. It and `refused` are the last state of a feed. */
export type FeedState = 'connecting' | 'live' | 'lost' | 'refused' | 'missing'

const RETRY_MS = 1000

interface StreamListener {
  /** Of the next request. */
  query(): ClientRequest['query']
  onOpen(headers: Headers): void
  /** Those that arrived together. */
  onEvents(events: readonly EventSourceMessage[]): void
  onState(state: FeedState): void
}

/** Returns a function that ends it. */
function followStream(client: ControlClient, path: string, listener: StreamListener): () => void {
  const ended = new AbortController()
  const { signal } = ended
  async function read(): Promise<void> {
    const response = await fetch(client.url(path, listener.query()), { headers: client.headers(), signal })
    if (!response.ok || response.body === null)
      throw new ControlError(response.status, { code: 'stream', message: 'The server refused the stream of events.' })
    listener.onOpen(response.headers)
    listener.onState('live')
    let events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: event => void events.push(event) })
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      if (events.length > 0) listener.onEvents(events)
      events = []
    }
  }
  async function follow(): Promise<void> {
    listener.onState('connecting')
    while (!signal.aborted) {
      try {
        await read()
      } catch (error) {
        const status = error instanceof ControlError ? error.status : null
        if (status === 401) return listener.onState('refused')
        if (status === 404) return listener.onState('missing')
      }
      if (signal.aborted) return
      listener.onState('lost')
      await wallDelay(RETRY_MS, signal)
    }
  }
  void follow()
  return () => ended.abort()
}

export interface JournalListener {
  onEntries(entries: readonly Entry[]): void
  /** The journal begins again: after a reset, a restored snapshot, or, while the connection was lost, a restart of the server. */
  onReset(isRestart: boolean): void
  onState(state: FeedState): void
}

/** Identifies the process of the server and its journal. */
const INSTANCE = 'x-handover-sim-instance'

/** Resumes after an interruption without gaps or doubles. Returns a function that ends it. */
export function followJournal(client: ControlClient, { onEntries, onReset, onState }: JournalListener): () => void {
  let instance: string | null = null
  let after = 0
  // The entries of another instance have other numbers.
  function restart(nextInstance: string | null, wasLost: boolean): void {
    instance = nextInstance
    after = 0
    onReset(wasLost)
  }
  return followStream(client, '/events', {
    onState,
    query: () => ({ after, ...(instance !== null && { instance }) }),
    onOpen(headers) {
      const served = headers.get(INSTANCE)
      if (instance !== null && served !== instance) restart(served, true)
      instance = served
    },
    onEvents(events) {
      let entries: Entry[] = []
      for (const { event, data, id } of events) {
        if (event === 'reset') {
          // A stream of another instance than that of the request begins with a reset, which its header announces.
          const { instance: nextInstance } = JSON.parse(data)
          entries = []
          if (nextInstance !== instance || after > 0) restart(nextInstance, false)
        } else {
          after = Number(id)
          entries.push(JSON.parse(data))
        }
      }
      if (entries.length > 0) onEntries(entries)
    },
  })
}

/** An event by its name. */
export type UiEvent = {
  readonly [Name in keyof UiEvents]: { readonly name: Name; readonly data: UiEvents[Name] }
}[keyof UiEvents]

/** Every stream of UI mode begins with its whole state, so an interruption loses nothing. */
export function followUi(
  client: ControlClient,
  onEvents: (events: readonly UiEvent[]) => void,
  onState: (state: FeedState) => void,
): void {
  followStream(client, '/ui/events', {
    onState,
    query: () => ({}),
    onOpen() {},
    onEvents(messages) {
      const events: UiEvent[] = []
      for (const { event, data } of messages)
        if (event === 'catalogue' || event === 'status' || event === 'entries' || event === 'exploration')
          events.push({ name: event, data: JSON.parse(data) })
      if (events.length > 0) onEvents(events)
    },
  })
}
