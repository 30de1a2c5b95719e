/** The webhook: verifies an event, gives it to the help desk, and acknowledges it without waiting for the platform's API. */
import type { WebhookEvent } from 'handover-sim'
import { verifyRequest } from 'handover-sim/signature'
import { Desk } from './desk.js'
import { Outbox, type Platform } from './platform.js'

export function createIntermediary(platform: Platform) {
  const desk = new Desk(new Outbox(platform))
  return {
    agent: desk.agent,
    async webhook(request: Request): Promise<Response> {
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      const verified = await verifyRequest(request, platform.key)
      if (!verified.ok) return new Response(verified.reason, { status: 401 })
      const event = parsed(verified.body)
      if (event === null) return new Response('The body must be an object with the field event.', { status: 400 })
      dispatch(desk, event)
      return new Response(null, { status: 200 })
    },
  }
}

function parsed(body: string): WebhookEvent | null {
  try {
    const event: unknown = JSON.parse(body)
    return typeof event === 'object' && event !== null && 'event' in event ? (event as WebhookEvent) : null
  } catch {
    return null
  }
}

/** Ignores other events: the platform may add some. */
function dispatch(desk: Desk, event: WebhookEvent): void {
  if (event.event === 'REQUESTING TAKEOVER') desk.requested(event.chat.id)
  if (event.event !== 'MESSAGE FROM USER') return
  const { attachments = [] } = event
  desk.received(event.chat.id, { text: event.message, ...(attachments.length > 0 && { attachments }) })
}
