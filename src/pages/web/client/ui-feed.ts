/** Follows UI mode by server-sent events. Every stream begins with the whole state, so an interruption loses nothing. */
import { createParser } from 'eventsource-parser'
import { wallDelay } from '../../../base/runtime/clock.ts'
import type { UiEvents } from '../../../running/ui-mode/protocol.ts'
import { type ControlClient, ControlError } from './control.ts'
import type { FeedState } from './event-feed.ts'

/** An event by its name. */
export type UiEvent = {
  readonly [Name in keyof UiEvents]: { readonly name: Name; readonly data: UiEvents[Name] }
}[keyof UiEvents]

export interface UiFeedListener {
  /** The events of one chunk arrive together. */
  onEvents(events: readonly UiEvent[]): void
  onState(state: FeedState): void
}

const RETRY_MS = 1000

/** Returns a function that ends it. */
export function followUi(client: ControlClient, listener: UiFeedListener): () => void {
  const ended = new AbortController()
  void follow(client, listener, ended.signal)
  return () => ended.abort()
}

async function follow(client: ControlClient, listener: UiFeedListener, signal: AbortSignal): Promise<void> {
  listener.onState('connecting')
  while (!signal.aborted) {
    try {
      await readStream(client, listener, signal)
    } catch (error) {
      if (error instanceof ControlError && error.status === 401) return listener.onState('refused')
    }
    if (!signal.aborted) listener.onState('lost')
    await wallDelay(RETRY_MS, signal)
  }
}

async function readStream(client: ControlClient, listener: UiFeedListener, signal: AbortSignal): Promise<void> {
  const response = await fetch(client.url('/ui/events'), { headers: client.headers(), signal })
  if (!response.ok || response.body === null)
    throw new ControlError(response.status, { code: 'stream', message: 'The server refused the stream of events.' })
  listener.onState('live')
  let events: UiEvent[] = []
  const parser = createParser({
    onEvent({ event, data }) {
      if (isUiEvent(event)) events.push({ name: event, data: JSON.parse(data) })
    },
  })
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

const isUiEvent = (name: string | undefined): name is keyof UiEvents =>
  name === 'catalogue' || name === 'status' || name === 'entries'
