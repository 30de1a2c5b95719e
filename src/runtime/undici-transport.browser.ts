/** Webhook deliveries from a page: by its own `fetch`, as far as the page may reach. */
import { functionTransport, type Transport } from './transport.ts'

export interface UndiciTransport {
  send: Transport
  close(): Promise<void>
}

export const createUndiciTransport = (): UndiciTransport => ({
  send: functionTransport(request => fetch(request)),
  close: async () => {},
})
