/** Passes a request on to another server and the answer back, byte for byte, and reads a bounded copy of both. */
import { createHash, type Hash } from 'node:crypto'
import {
  type ClientRequest,
  type Agent as HttpAgent,
  type IncomingMessage,
  request as overHttp,
  type ServerResponse,
} from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { afterThisCall, afterWaitingEvents, elapsedMs, roundMs } from '../../base/runtime/clock.ts'
import {
  type ConnectionFailure,
  connectionFailure,
  TransportError,
  unusableStatus,
} from '../../base/runtime/connection-failure.ts'
import { resetSocket } from '../../base/runtime/http-transport.ts'
import { connectionLimit } from '../../base/runtime/node.ts'

/** The longest body that is copied; a longer one passes whole, and its copy has only its length and hash. */
export const COPIED_BYTES = 1_048_576

/** The bytes of a body as they passed. */
export interface CopiedBody {
  readonly bytes: number
  /** Null when the body is longer than `COPIED_BYTES`; `sha256` is that of the whole body then. */
  readonly whole: Buffer | null
  readonly sha256: string | null
}

/** Names and values alternate, as in `rawHeaders`. */
export type RawHeaders = readonly string[]

export interface RelayedResponse {
  readonly status: number
  readonly headers: RawHeaders
  readonly body: CopiedBody
}

export interface PassedRequest {
  readonly method: string
  readonly headers: RawHeaders
  readonly body: CopiedBody
}

/** How an exchange ended. Without an answer `failure` says why; with both, the connection broke within the answer. */
export interface ExchangeOutcome {
  readonly response: RelayedResponse | null
  readonly failure: ConnectionFailure | null
  readonly durationMs: number
}

/** Another body for the one that is passed on, with the headers that fit it; null leaves it as it is. */
export type Rewrite = (body: Buffer, headers: RawHeaders) => { body: Buffer; headers: string[] } | null

export interface Watcher {
  /** Called when the body of the request is complete, before the other server can answer it. */
  onRequest?(request: PassedRequest): void
  /** Called once. */
  onEnd(request: PassedRequest, outcome: ExchangeOutcome): void
  /** Answers a client when there is no connection to the other server. */
  refuse(failure: ConnectionFailure, response: ServerResponse): void
  readonly rewriteRequest?: Rewrite | undefined
  readonly rewriteResponse?: Rewrite | undefined
}

export interface Relay {
  /** `path`: where the request goes on the other server. */
  pass(request: IncomingMessage, response: ServerResponse, path: string, watcher: Watcher): void
  close(): void
}

const MAX_CONNECTIONS = [384, 3 / 7] as const

/** Headers of one connection, which the next one has its own of (RFC 9110, section 7.6.1). `Expect` is answered here. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer upgrade expect'.split(' '),
)

const FRAMING = ['content-length', 'transfer-encoding']

/** Methods whose requests have no body when no header says so; Node would announce one for others. */
const NO_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

export function createRelay(to: URL): Relay {
  const isEncrypted = to.protocol === 'https:'
  const { Agent, request: send } = isEncrypted
    ? process.getBuiltinModule('node:https')
    : { ...process.getBuiltinModule('node:http'), request: overHttp }
  // A connection for each request: a kept one may have a second answer, which would be that of the next request. With
  // `maxSockets`, Node would keep those that a waiting request can use.
  const agent: HttpAgent = new Agent({ keepAlive: false, maxTotalSockets: connectionLimit(...MAX_CONNECTIONS) })
  const { hostname, port } = to
  const host = hostname.replace(/^\[(.*)\]$/, '$1')

  function open(method: string, path: string, headers: string[]): ClientRequest {
    const length = headerIn(headers, 'content-length') ?? headerIn(headers, 'transfer-encoding')
    if (length === undefined && !NO_BODY.has(method)) headers.push('Content-Length', '0')
    return send({ host, port, agent, method, path, headers: headers as unknown as Record<string, string> })
  }

  return {
    pass(request, response, path, watcher) {
      const { method = 'GET' } = request
      const startedMs = elapsedMs()
      const copy = new BodyCopy()
      const headers = forwarded(request.rawHeaders, to.host)
      const passed = (): PassedRequest => ({ method, headers: request.rawHeaders, body: copy.result() })
      let isOver = false
      const end = (outcome: Omit<ExchangeOutcome, 'durationMs'>) => {
        if (isOver) return
        isOver = true
        watcher.onEnd(passed(), { ...outcome, durationMs: roundMs(elapsedMs() - startedMs) })
      }
      request.on('data', (chunk: Buffer) => copy.add(chunk))
      request.on('end', () => watcher.onRequest?.(passed()))

      let sent: ClientRequest | null = null
      let isConnected = false
      /** Answers the client that there is no answer; breaks its connection where that of the server broke, or a part has passed. */
      function fail(failure: ConnectionFailure, received: RelayedResponse | null = null): void {
        if (isOver) return
        end({ response: received, failure })
        sent?.destroy()
        request.unpipe()
        request.resume()
        const isBroken = failure.code === 'connection_reset' || failure.code === 'connection_closed'
        if (response.headersSent || (isConnected && isBroken)) resetSocket(response.socket)
        else if (!response.destroyed) watcher.refuse(failure, response)
      }
      /** What a listener throws ends its exchange, and not the process. */
      const guarded =
        <Given extends unknown[]>(listener: (...given: Given) => void) =>
        (...given: Given) => {
          try {
            if (!isOver) listener(...given)
          } catch (error) {
            fail(connectionFailure(error, to.host))
          }
        }
      response.on('close', () => {
        if (response.writableFinished) return
        end({ response: null, failure: { code: 'sender_closed' } })
        if (sent?.socket) resetSocket(sent.socket)
        sent?.destroy()
      })

      function begin(changed = headers): ClientRequest {
        const begun = open(method, path, changed)
        sent = begun
        begun.on('socket', socket => {
          if (!socket.connecting) isConnected = true
          else socket.once(isEncrypted ? 'secureConnect' : 'connect', () => (isConnected = true))
        })
        // Later than errors in the bytes that came with the head, such as a body that is longer than announced.
        const passLater = (incoming: IncomingMessage) => afterThisCall(guarded(() => passResponse(incoming)))
        begun.on('response', passLater)
        const refuseSwitch = () => fail(unusableStatus(101, to.host))
        begun.on('upgrade', refuseSwitch)
        begun.on('information', ({ statusCode }) => statusCode === 101 && refuseSwitch())
        begun.on('error', error => fail(connectionFailure(error, to.host)))
        return begun
      }

      function passResponse(incoming: IncomingMessage): void {
        const { statusCode: status = 0, statusMessage = '', rawHeaders } = incoming
        const head = forwarded(rawHeaders, null)
        checkHead(to.host, status, statusMessage, head)
        const copy = new BodyCopy()
        const result = (): RelayedResponse => ({ status, headers: rawHeaders, body: copy.result() })
        response.sendDate = false
        const start = (head: readonly string[]) => {
          const fits = request.httpVersion === '1.0' ? without(head, ['transfer-encoding']) : [...head]
          response.writeHead(status, statusMessage, fits as unknown as string[])
        }
        incoming.on('data', (chunk: Buffer) => copy.add(chunk))
        incoming.on('close', () => {
          if (incoming.complete) return
          fail(connectionFailure(Object.assign(new Error(), { code: 'ECONNRESET' }), to.host), result())
        })
        const { rewriteResponse } = watcher
        if (rewriteResponse === undefined) {
          start(head)
          incoming.pipe(response)
          // The head does not wait for the body, but goes with it when both are here.
          afterWaitingEvents(() => response.destroyed || response.flushHeaders())
        } else
          readShort(
            incoming,
            guarded((body, isWhole) => {
              const changed = isWhole ? rewriteResponse(body, head) : null
              start(changed?.headers ?? head)
              passOn(incoming, response, changed?.body ?? body, isWhole)
            }),
          )
        // After the body has gone on, because recording takes time.
        incoming.on('end', () => end({ response: result(), failure: null }))
      }

      const { rewriteRequest } = watcher
      guarded(() => {
        if (rewriteRequest === undefined) {
          const begun = begin()
          request.pipe(begun)
          afterWaitingEvents(() => begun.destroyed || begun.flushHeaders())
        } else
          readShort(
            request,
            guarded((body, isWhole) => {
              const changed = isWhole ? rewriteRequest(body, headers) : null
              passOn(request, begin(changed?.headers), changed?.body ?? body, isWhole)
            }),
          )
      })()
    },
    close: () => agent.destroy(),
  }
}

/** Reads a body as long as it is short enough to change, and calls `go` once with what it has read. */
function readShort(body: Readable, go: (read: Buffer, isWhole: boolean) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= COPIED_BYTES) return
    body.off('data', onData)
    body.off('end', onEnd)
    go(Buffer.concat(chunks), false)
  }
  const onEnd = () => go(Buffer.concat(chunks), true)
  body.on('data', onData)
  body.on('end', onEnd)
}

function passOn(from: Readable, to: Writable, read: Buffer, isWhole: boolean): void {
  if (isWhole) {
    to.end(read)
    return
  }
  to.write(read)
  from.pipe(to)
}

class BodyCopy {
  #chunks: Buffer[] = []
  #hash: Hash | null = null
  #bytes = 0

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#hash !== null) this.#hash.update(chunk)
    else if (this.#bytes <= COPIED_BYTES) this.#chunks.push(chunk)
    else {
      this.#hash = createHash('sha256')
      for (const earlier of this.#chunks) this.#hash.update(earlier)
      this.#hash.update(chunk)
      this.#chunks = []
    }
  }

  result(): CopiedBody {
    const sha256 = this.#hash?.copy().digest('hex') ?? null
    return { bytes: this.#bytes, whole: sha256 === null ? Buffer.concat(this.#chunks) : null, sha256 }
  }
}

/** Throws for a head that Node reads and cannot send. */
function checkHead(target: string, status: number, reason: string, headers: RawHeaders): void {
  const refuse = (detail: string) => {
    throw new TransportError({ code: 'not_http', target, detail })
  }
  if (status < 200) throw new TransportError(unusableStatus(status, target))
  const isUnsendable = (text: string) => /[^\t\x20-\x7e\x80-\xff]/.test(text)
  if (isUnsendable(reason)) refuse('its reason phrase has a control character')
  const coding = headerIn(headers, 'transfer-encoding')
  if (coding !== undefined && !/\bchunked\s*$/i.test(coding))
    refuse(`its Transfer-Encoding is ${JSON.stringify(coding)}`)
  if (headers.some(isUnsendable)) refuse('a header of it has a control character')
}

/** The headers without those of this connection; `host` replaces the value of `Host`. */
function forwarded(raw: RawHeaders, host: string | null): string[] {
  const named = new Set((headerIn(raw, 'connection') ?? '').toLowerCase().split(/\s*,\s*/))
  // They say where the message ends: without them, the rest of it would be another message.
  for (const name of FRAMING) named.delete(name)
  const headers: string[] = []
  let hasHost = host === null
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2)
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || named.has(lower)) continue
    hasHost ||= lower === 'host'
    headers.push(name, lower === 'host' && host !== null ? host : value)
  }
  if (!hasHost) headers.push('Host', host ?? '')
  return headers
}

export const without = (raw: RawHeaders, unwanted: readonly string[]): string[] =>
  raw.filter((_, at) => !unwanted.includes(raw[at - (at % 2)]?.toLowerCase() ?? ''))

/** The value of a header; several lines are joined as most servers do. */
export function headerIn(raw: RawHeaders, wanted: string): string | undefined {
  const values = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === wanted)
  return values.length === 0 ? undefined : values.join(', ')
}
