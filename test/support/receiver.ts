/** Creates an in-process webhook that records events, checks every payload, and answers as configured. */

import type { WebhookEventName } from '../../src/platform/contract/event-names.ts'
import type { WebhookEvent } from '../../src/platform/contract/events.ts'
import { WEBHOOK_EVENTS } from '../../src/platform/contract/index.ts'
import { eventProblems, schemaProblems } from './contract-checks.ts'

export interface ReceivedEvent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  /** The raw body. */
  readonly text: string
  readonly payload: WebhookEvent
  /** The payload without its type. */
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  readonly json: any
}

/** A status, a response, or a function that returns one of them for an event. */
export type WebhookAnswer =
  | number
  | Response
  | ((event: ReceivedEvent, received: readonly ReceivedEvent[]) => number | Response | Promise<number | Response>)

export interface Receiver {
  readonly received: ReceivedEvent[]
  /** Differences between payloads and their schemas; a test fails when this is not empty. */
  readonly problems: readonly string[]
  fetch(request: Request): Promise<Response>
  /** Sets the answer to the events from now on. */
  answerWith(answer: WebhookAnswer): void
  events(): WebhookEventName[]
  /** Resolves when this many events have arrived. */
  arrived(count: number): Promise<void>
  payloadsOf<Name extends WebhookEventName>(name: Name): Extract<WebhookEvent, { event: Name }>[]
}

const toResponse = (answer: number | Response): Response =>
  typeof answer === 'number' ? new Response(null, { status: answer }) : answer

export function createReceiver(initialAnswer: WebhookAnswer = 200): Receiver {
  const received: ReceivedEvent[] = []
  const awaited: { count: number; resolve: () => void }[] = []
  let answer = initialAnswer

  async function fetch(request: Request): Promise<Response> {
    const { url, method, headers } = request
    const text = await request.text()
    const payload = JSON.parse(text) as WebhookEvent
    const event = { url, method, headers, text, payload, json: payload }
    received.push(event)
    for (const { count, resolve } of awaited) if (received.length >= count) resolve()
    return toResponse(typeof answer === 'function' ? await answer(event, received) : answer)
  }
  return {
    received,
    get problems() {
      return received.flatMap(({ payload }) => payloadProblems(payload))
    },
    fetch,
    answerWith(next) {
      answer = next
    },
    arrived: async count => {
      if (received.length < count) await new Promise<void>(resolve => awaited.push({ count, resolve }))
    },
    events: () => received.map(({ payload }) => payload.event),
    payloadsOf: name => received.map(({ payload }) => payload).filter(payload => payload.event === name) as never,
  }
}

function payloadProblems(payload: WebhookEvent): string[] {
  const known = Object.hasOwn(WEBHOOK_EVENTS, payload.event) ? WEBHOOK_EVENTS[payload.event] : null
  if (known === null) return [`unknown event ${JSON.stringify(payload.event)}`]
  const problems = schemaProblems(known.schema, payload).map(problem => `${payload.event}: ${problem}`)
  return [...problems, ...eventProblems(payload.event, payload)]
}
