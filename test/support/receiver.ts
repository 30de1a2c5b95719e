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
}

/** A status, a response, or a function that returns one of them for an event. */
export type WebhookAnswer =
  | number
  | Response
  | ((event: ReceivedEvent) => number | Response | Promise<number | Response>)

export interface Receiver {
  readonly received: readonly ReceivedEvent[]
  /** Differences between payloads and their schemas; a test fails when this is not empty. */
  readonly problems: readonly string[]
  fetch(request: Request): Promise<Response>
  /** Sets the answer to the events from now on. */
  answerWith(answer: WebhookAnswer): void
  events(): WebhookEventName[]
  payloadsOf<Name extends WebhookEventName>(name: Name): Extract<WebhookEvent, { event: Name }>[]
}

const toResponse = (answer: number | Response): Response =>
  typeof answer === 'number' ? new Response(null, { status: answer }) : answer

export function createReceiver(): Receiver {
  const received: ReceivedEvent[] = []
  const problems: string[] = []
  let answer: WebhookAnswer = 200

  async function fetch(request: Request): Promise<Response> {
    const { url, method, headers } = request
    const text = await request.text()
    const payload = JSON.parse(text) as WebhookEvent
    const event = { url, method, headers, text, payload }
    received.push(event)
    problems.push(...payloadProblems(payload))
    return toResponse(typeof answer === 'function' ? await answer(event) : answer)
  }
  return {
    received,
    problems,
    fetch,
    answerWith(next) {
      answer = next
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
