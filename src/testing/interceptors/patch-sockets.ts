/**
 * Connects clients that open connections by themselves to intercepted simulators: an `Agent`, `Pool` or `Client` of
 * undici, jsdom, and HTTP/2 clients.
 */
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { isMap } from '../../base/objects.ts'
import { originOf } from './intercepted-routes.ts'
import { connectToOrigin } from './memory-servers.ts'

type Connect = (...args: unknown[]) => Socket

/**
 * Functions that were imported by name stay as they are: updating them would also update those that other packages have
 * patched. Returns a function that removes the patches.
 */
export function patchSockets(): () => void {
  const undo = [
    replaceConnect(net, 'connect', 'http:'),
    replaceConnect(net, 'createConnection', 'http:'),
    replaceConnect(tls, 'connect', 'https:'),
  ]
  return () => {
    for (const restore of undo) restore()
  }
}

function replaceConnect(module: object, name: string, protocol: 'http:' | 'https:'): () => void {
  const original: Connect = Reflect.get(module, name)
  const connect: Connect = function (this: unknown, ...args) {
    const openForHttp1 = () => original.apply(this, args.map(withHttp1))
    return connectInMemory(protocol, connectionOf(args), openForHttp1) ?? original.apply(this, args)
  }
  Reflect.set(module, name, connect)
  return () => {
    if (Reflect.get(module, name) === connect) Reflect.set(module, name, original)
  }
}

/** Requests are passed on over HTTP/1.1, whatever their client has offered. */
const withHttp1 = (arg: unknown): unknown =>
  isMap(arg) && 'ALPNProtocols' in arg ? { ...arg, ALPNProtocols: ['http/1.1'] } : arg

/** The options of `net.connect` and `tls.connect` that matter here. */
interface Connection {
  readonly host?: string
  readonly port?: number | string
  /** A Unix socket. */
  readonly path?: string
  /** An open connection, for instance to a proxy. */
  readonly socket?: unknown
  readonly timeout?: number
  readonly ALPNProtocols?: unknown
  onConnect?(): void
}

/** Accepts `(options)`, `(port, host, options)`, `(path, options)` and the array in which Node passes them on, each with a callback. */
function connectionOf(args: readonly unknown[]): Connection {
  const [first, second] = args
  if (Array.isArray(first)) return connectionOf(first)
  const address = addressOf(first, second)
  const onConnect = args.find(arg => typeof arg === 'function')
  return Object.assign(address, ...args.filter(arg => typeof arg === 'object'), { onConnect })
}

/** A text that is no number is the path of a Unix socket. */
function addressOf(first: unknown, second: unknown) {
  if (typeof first === 'object') return {}
  if (typeof first === 'string' && !/^\d+$/.test(first)) return { path: first }
  return { port: first, host: typeof second === 'string' ? second : undefined }
}

/** Returns a socket to a simulator that connects after the call, as a real one does. Null for other addresses. */
function connectInMemory(protocol: 'http:' | 'https:', connection: Connection, open: () => Socket): Socket | null {
  const { host, port, path, socket: tunnel, timeout = 0 } = connection
  const origin = path || tunnel || !port ? null : originOf(protocol, host ?? 'localhost', port)
  if (origin === null) return null
  const alpn = chooseProtocol(connection.ALPNProtocols)
  const socket = connectToOrigin(origin, alpn || 'http/1.1', open)
  if (connection.onConnect) socket.once(socket.encrypted ? 'secureConnect' : 'connect', connection.onConnect)
  socket.limitSilence(timeout)
  socket.announceConnection(alpn)
  return socket as unknown as Socket
}

/** Prefers HTTP/1.1, which every client supports. False without negotiation, as in Node. */
function chooseProtocol(offered: unknown): 'http/1.1' | 'h2' | false {
  if (!Array.isArray(offered)) return false
  return offered.includes('h2') && !offered.includes('http/1.1') ? 'h2' : 'http/1.1'
}
