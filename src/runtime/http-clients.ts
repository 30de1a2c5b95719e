/**
 * Keeps connections to webhooks open. Each is a client of undici, whose `Agent` and `Pool` would cost a delivery as much
 * as its signature.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buildConnector, Client } from 'undici'
import { afterThisCall } from './clock.ts'

/** Opens a connection in memory, in place of one over the network. */
export type OpenSocket = (encrypted: boolean) => Duplex

export interface HttpClients {
  /** A client for one request to this URL, which ends with `giveBack` or `destroy`. */
  take(url: string): { readonly path: string; readonly client: Client }
  /** After a complete answer. Another request may use the connection. */
  giveBack(client: Client): void
  /** Closes the connection, also one that is being opened. */
  destroy(client: Client, reason: Error): void
  close(): Promise<void>
}

interface Origin {
  readonly origin: string
  /** The client that was used last is used next, so that the others can close their connections. */
  readonly idle: Client[]
}

interface Address extends Origin {
  readonly path: string
}

export function createHttpClients(openSocket?: OpenSocket): HttpClients {
  const connect = openSocket === undefined ? buildConnector({ timeout: 10_000 }) : memoryConnector(openSocket)
  const owners = new Map<Client, Origin>()
  const addressOf = createAddresses()

  function open(origin: Origin): Client {
    const client = new Client(origin.origin, { ...OPTIONS, connect })
    owners.set(client, origin)
    client.on('disconnect', () => {
      if (takeFrom(origin.idle, client)) owners.delete(client)
    })
    return client
  }

  return {
    take(url) {
      const address = addressOf(url)
      return { path: address.path, client: address.idle.pop() ?? open(address) }
    },
    giveBack: client => void owners.get(client)?.idle.push(client),
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

const OPTIONS = { pipelining: 1, keepAliveTimeout: 10_000, headersTimeout: 0, bodyTimeout: 0 }

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

const MAX_ADDRESSES = 1000

/** Parses each URL once, because deliveries go to very few. URLs of one origin share their clients. */
function createAddresses(): (url: string) => Address {
  const addresses = new Map<string, Address>()
  function parse(url: string): Address {
    const { origin, pathname, search } = new URL(url)
    const { idle } = [...addresses.values()].find(one => one.origin === origin) ?? { idle: [] }
    return { origin, path: pathname + search, idle }
  }
  return url => {
    const known = addresses.get(url)
    if (known !== undefined) return known
    if (addresses.size >= MAX_ADDRESSES) addresses.clear()
    const address = parse(url)
    addresses.set(url, address)
    return address
  }
}
