/** Deliveries that are unusual on the wire: a page has no wire of its own. */
import { type Outgoing, type Received, TransportFailure } from './transport.ts'

export async function sendOddly(_outgoing: Outgoing): Promise<Received> {
  throw new TransportFailure('a browser cannot send bytes its own way; play faults of the wire in Node')
}
