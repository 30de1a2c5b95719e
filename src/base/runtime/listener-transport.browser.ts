/** Replaces `listener-transport.ts` in browsers, which have no `node:http`. */
import { afterThisCall } from './clock.ts'
import { TransportError } from './connection-failure.ts'
import type { HttpTransport, Transport } from './transport.ts'

export function createListenerTransport(): HttpTransport {
  const send: Transport = (_request, handler) =>
    afterThisCall(() => handler.failed(new TransportError({ code: 'no_sockets' })))
  return Object.assign(send, { close: async () => {} })
}
