/** Creates an in-process webhook that records events, checks every payload, and answers as configured. */

import type { WebhookEventName } from '../../src/platform/contract/event-names.ts'
import type { WebhookEvent } from '../../src/platform/contract/events.ts'
import { WEBHOOK_EVENTS } from '../../src/platform/contract/index.ts'
import { eventProblems, schemaProblems } from './contract-checks.ts'

/** An event with its raw body. */
interface ReceivedEvent extends Pick<Request, 'url' | 'method' | 'headers'> {
  readonly text: string
  readonly payload: WebhookEvent
}

type Status = number | Response
/** A status, a response, or a function that returns one of them for an event. */
type WebhookAnswer = Status | ((event: ReceivedEvent) => Status | Promise<Status>)
export type Receiver = ReturnType<typeof createReceiver>

/** `problems` are differences between payloads and their schemas; a test fails when there are any. */
export function createReceiver() {
  const received: ReceivedEvent[] = []
  const problems: string[] = []
  let answer: WebhookAnswer = 200
  return {
    received: received as readonly ReceivedEvent[],
    problems: problems as readonly string[],
    async fetch(request: Request): Promise<Response> {
      const { url, method, headers } = request
      const text = await request.text()
      const event: ReceivedEvent = { url, method, headers, text, payload: JSON.parse(text) }
      received.push(event)
      problems.push(...payloadProblems(event.payload))
      const given = typeof answer === 'function' ? await answer(event) : answer
      return typeof given === 'number' ? new Response(null, { status: given }) : given
    },
    /** Sets the answer to the events from now on. */
    answerWith(next: WebhookAnswer): void {
      answer = next
    },
    events: () => received.map(({ payload }) => payload.event),
    payloadsOf: <Name extends WebhookEventName>(name: Name) =>
      received.map(({ payload }) => payload).filter(one => one.event === name) as Extract<
        WebhookEvent,
        { event: Name }
      >[],
  }
}

function payloadProblems(payload: WebhookEvent): string[] {
  const known = Object.hasOwn(WEBHOOK_EVENTS, payload.event) ? WEBHOOK_EVENTS[payload.event] : null
  if (known === null) return [`unknown event ${JSON.stringify(payload.event)}`]
  const problems = schemaProblems(known.schema, payload).map(problem => `${payload.event}: ${problem}`)
  return [...problems, ...eventProblems(payload.event, payload)]
}
