/**
 * Keeps connections open. Each is a client of undici, whose `Agent` and `Pool` would cost a delivery as much as its
 * signature.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buildConnector, Client } from 'undici'
import { afterThisCall } from './clock.ts'

/** Opens a connection in memory, in place of one over the network. */
export type OpenSocket = (encrypted: boolean) => Duplex

export interface HttpClients {
  /** A client for one request to this origin, which ends with `giveBack` or `destroy`. */
  take(origin: string): Client
  /** After a complete answer. Another request may use the connection. */
  giveBack(client: Client): void
  /** Closes the connection, also one that is being opened. */
  destroy(client: Client, reason: Error): void
  close(): Promise<void>
}

export interface HttpClientsOptions {
  /** Default: over the network. */
  readonly openSocket?: OpenSocket | undefined
  /** After this time without a request a connection is closed. */
  readonly idleMs: number
}

/** The clients that wait for a request. The one that was used last is used next, so that the others can close. */
type Idle = Client[]

export function createHttpClients({ openSocket, idleMs }: HttpClientsOptions): HttpClients {
  const connect = openSocket === undefined ? buildConnector({ timeout: 10_000 }) : memoryConnector(openSocket)
  const options = { pipelining: 1, keepAliveTimeout: idleMs, headersTimeout: 0, bodyTimeout: 0, connect }
  const owners = new Map<Client, Idle>()
  const origins = new Map<string, Idle>()

  function idleOf(origin: string): Idle {
    const known = origins.get(origin)
    if (known !== undefined) return known
    const idle: Idle = []
    origins.set(origin, idle)
    return idle
  }

  function open(origin: string, idle: Idle): Client {
    const client = new Client(origin, options)
    owners.set(client, idle)
    client.on('disconnect', () => {
      if (takeFrom(idle, client)) owners.delete(client)
    })
    return client
  }

  return {
    take(origin) {
      const idle = idleOf(origin)
      return idle.pop() ?? open(origin, idle)
    },
    giveBack: client => void owners.get(client)?.push(client),
    destroy(client, reason) {
      owners.delete(client)
      void client.destroy(reason)
    },
    async close() {
      const clients = [...owners.keys()]
      owners.clear()
      await Promise.all(clients.map(client => client.destroy()))
    },
  }
}

/** Undici requires that the connection arrives after the call returns. */
const memoryConnector =
  (openSocket: OpenSocket): buildConnector.connector =>
  ({ protocol }, callback) =>
    afterThisCall(() => callback(null, openSocket(protocol === 'https:') as Socket))

/** False when it is not in the list. */
function takeFrom<Item>(list: Item[], item: Item): boolean {
  const at = list.indexOf(item)
  if (at !== -1) list.splice(at, 1)
  return at !== -1
}
