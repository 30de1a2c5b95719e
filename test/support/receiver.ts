/** An intermediary's webhook in this process: remembers what came, answers what it is told to, checks every payload. */
import { WEBHOOK_EVENTS, type WebhookEvent, type WebhookEventName } from '../../src/contract/events.ts'
import { eventProblems, schemaProblems } from './contract-checks.ts'

export interface ReceivedEvent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  /** The body as it came. */
  readonly text: string
  readonly payload: WebhookEvent
}

/** A status, a whole response, or something that makes one from the event. */
export type WebhookAnswer =
  | number
  | Response
  | ((event: ReceivedEvent) => number | Response | Promise<number | Response>)

export interface Receiver {
  readonly received: readonly ReceivedEvent[]
  /** What a payload broke of its schema; a test that leaves any here fails. */
  readonly problems: readonly string[]
  fetch(request: Request): Promise<Response>
  /** Until told otherwise every event gets this answer. */
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
