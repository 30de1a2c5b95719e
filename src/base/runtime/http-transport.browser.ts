/** Replaces `http-transport.ts` in browsers: sends webhook requests with `fetch`, without faults of the wire. */
import { afterThisCall } from './clock.ts'
import { TransportError } from './connection-failure.ts'
import { functionTransport, type HttpTransport, type Transport } from './transport.ts'

const sendWithFetch = functionTransport(request => fetch(request))

const send: Transport = (request, handler) => {
  if (request.wire) afterThisCall(() => handler.failed(new TransportError({ code: 'no_sockets' })))
  else sendWithFetch(request, handler)
}

export const createHttpTransport = (): HttpTransport => Object.assign(send, { close: async () => {} })
