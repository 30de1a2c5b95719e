/** Replaces `http-transport.ts` in browsers: sends webhook requests with `fetch`, without faults of the wire. */
import { TransportError } from './connection-failure.ts'
import { functionTransport, type HttpTransport, type Outgoing } from './transport.ts'

const sendWithFetch = functionTransport(request => fetch(request))

async function send(outgoing: Outgoing) {
  if (outgoing.wire) throw new TransportError({ code: 'no_sockets' })
  return sendWithFetch(outgoing)
}

export const httpTransport = (): HttpTransport => Object.assign(send, { close: async () => {} })

/** Browsers have no `node:http`. */
export function listenerTransport(): HttpTransport {
  const fail = async () => {
    throw new TransportError({ code: 'no_sockets' })
  }
  return Object.assign(fail, { close: async () => {} })
}
