/** Reads server-sent events. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Yields the events of a stream until it ends; `return()` cancels it. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: event => void events.push(event) })
  const decoder = new TextDecoder()
  for await (const bytes of stream) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    yield* events.splice(0)
  }
}
