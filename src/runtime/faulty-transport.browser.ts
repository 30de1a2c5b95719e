/** Replaces `faulty-transport.ts` in browsers, which have no sockets. */
import { TransportError } from './connection-failure.ts'
import type { Outgoing, Received } from './transport.ts'

export async function sendFaulty(_outgoing: Outgoing): Promise<Received> {
  throw new TransportError({ code: 'no_sockets' })
}
