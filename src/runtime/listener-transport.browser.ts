/** Replaces `listener-transport.ts` in browsers, which have no `node:http`. */
import { TransportError } from './connection-failure.ts'
import type { HttpTransport } from './transport.ts'

export function createListenerTransport(): HttpTransport {
  const send = async () => {
    throw new TransportError({ code: 'no_sockets' })
  }
  return Object.assign(send, { close: async () => {} })
}
