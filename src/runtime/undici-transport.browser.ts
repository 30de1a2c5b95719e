/** Replaces `undici-transport.ts` in browsers: sends webhook requests with `fetch`. */
import { functionTransport, type Transport } from './transport.ts'

export interface UndiciTransport {
  send: Transport
  close(): Promise<void>
}

export const createUndiciTransport = (): UndiciTransport => ({
  send: functionTransport(request => fetch(request)),
  close: async () => {},
})
