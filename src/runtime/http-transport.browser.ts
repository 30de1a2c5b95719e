/** Replaces `http-transport.ts` in browsers: sends webhook requests with `fetch`, without faults of the wire. */
import { TransportError } from './connection-failure.ts'
import { functionTransport, type HttpTransport, type Transport } from './transport.ts'

const sendWithFetch = functionTransport(request => fetch(request))

const send: Transport = async request => {
  if (request.wire !== undefined) throw new TransportError({ code: 'no_sockets' })
  return sendWithFetch(request)
}

export const createHttpTransport = (): HttpTransport => Object.assign(send, { close: async () => {} })
