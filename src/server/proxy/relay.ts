/** Passes a request on to another server and the answer back, byte for byte, and reads a bounded copy of both. */
import { createHash, type Hash } from 'node:crypto'
import {
  type ClientRequest,
  type Agent as HttpAgent,
  type IncomingMessage,
  request as overHttp,
  type ServerResponse,
} from 'node:http'
import type { Readable } from 'node:stream'
import { afterWaitingEvents, elapsedMs, roundMs } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure } from '../../base/runtime/connection-failure.ts'
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

export interface Answer {
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
export interface Outcome {
  readonly answer: Answer | null
  readonly failure: ConnectionFailure | null
  readonly durationMs: number
}

/** Another body for the one that is passed on, with the headers that fit it; null leaves it as it is. */
export type Rewrite = (body: Buffer, headers: RawHeaders) => { body: Buffer; headers: string[] } | null

export interface Watcher {
  /** Called when the body of the request is complete, before the other server can answer it. */
  onRequest?(request: PassedRequest): void
  /** Called once. */
  onEnd(request: PassedRequest, outcome: Outcome): void
  /** Answers a client when there is no connection to the other server. */
  refuse(failure: ConnectionFailure, response: ServerResponse): void
  readonly rewriteRequest?: Rewrite | undefined
  readonly rewriteAnswer?: Rewrite | undefined
}

export interface Relay {
  /** `path`: where the request goes on the other server. */
  pass(request: IncomingMessage, response: ServerResponse, path: string, watcher: Watcher): void
  close(): void
}

/** Idle connections close after this time, before usual servers close them. */
const IDLE_MS = 4_000
const MAX_CONNECTIONS = [384, 3 / 7] as const

/** Headers of one connection, which the next one has its own of (RFC 9110, section 7.6.1). `Expect` is answered here. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer upgrade expect'.split(' '),
)

/** Methods whose requests have no body when no header says so; Node would announce one for others. */
const NO_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

export function createRelay(to: URL): Relay {
  const isEncrypted = to.protocol === 'https:'
  const { Agent, request: send } = isEncrypted
    ? process.getBuiltinModule('node:https')
    : { ...process.getBuiltinModule('node:http'), request: overHttp }
  const agent: HttpAgent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    maxSockets: connectionLimit(...MAX_CONNECTIONS),
  })
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
      let headers = forwarded(request.rawHeaders, to.host)
      const passed = (): PassedRequest => ({ method, headers: request.rawHeaders, body: copy.result() })
      let isOver = false
      const end = (outcome: Omit<Outcome, 'durationMs'>) => {
        if (isOver) return
        isOver = true
        watcher.onEnd(passed(), { ...outcome, durationMs: roundMs(elapsedMs() - startedMs) })
      }
      request.on('data', (chunk: Buffer) => copy.add(chunk))
      request.on('end', () => watcher.onRequest?.(passed()))

      function begin(early: readonly Buffer[] = []): ClientRequest {
        const sent = open(method, path, headers)
        let isConnected = false
        sent.on('socket', socket => {
          if (!socket.connecting) isConnected = true
          else socket.once(isEncrypted ? 'secureConnect' : 'connect', () => (isConnected = true))
        })
        sent.on('response', answer => passAnswer(answer))
        sent.on('error', error => {
          const failure = connectionFailure(error, to.host)
          const isBroken = failure.code === 'connection_reset' || failure.code === 'connection_closed'
          request.unpipe(sent)
          request.resume()
          end({ answer: null, failure })
          if (response.headersSent || (isConnected && isBroken)) resetSocket(response.socket)
          else if (!response.destroyed) watcher.refuse(failure, response)
        })
        response.on('close', () => {
          if (response.writableFinished) return
          end({ answer: null, failure: { code: 'sender_closed' } })
          if (sent.socket !== null) resetSocket(sent.socket)
          sent.destroy()
        })
        for (const chunk of early) sent.write(chunk)
        return sent
      }

      function passAnswer(answer: IncomingMessage): void {
        const { statusCode: status = 0, statusMessage, rawHeaders } = answer
        const answered = new BodyCopy()
        const result = (): Answer => ({ status, headers: rawHeaders, body: answered.result() })
        response.sendDate = false
        const start = (head: readonly string[]) => {
          const fits = request.httpVersion === '1.0' ? without(head, ['transfer-encoding']) : [...head]
          response.writeHead(status, statusMessage, fits as unknown as string[])
        }
        answer.on('data', (chunk: Buffer) => answered.add(chunk))
        answer.on('close', () => {
          if (answer.complete) return
          end({
            answer: result(),
            failure: connectionFailure(Object.assign(new Error(), { code: 'ECONNRESET' }), to.host),
          })
          resetSocket(response.socket)
        })
        const head = forwarded(rawHeaders, null)
        if (watcher.rewriteAnswer === undefined) {
          start(head)
          answer.pipe(response)
          // The head does not wait for the body, but goes with it when both are here.
          afterWaitingEvents(() => response.destroyed || response.flushHeaders())
        } else
          rewrite(answer, head, watcher.rewriteAnswer, (chunks, changed, isWhole) => {
            start(changed)
            for (const chunk of chunks) response.write(chunk)
            if (isWhole) response.end()
            else answer.pipe(response)
          })
        // After the body has gone on, because recording takes time.
        answer.on('end', () => end({ answer: result(), failure: null }))
      }

      if (watcher.rewriteRequest !== undefined) {
        rewrite(request, headers, watcher.rewriteRequest, (chunks, changed, isWhole) => {
          headers = changed
          const sent = begin(chunks)
          if (isWhole) sent.end()
          else request.pipe(sent)
        })
        return
      }
      const sent = begin()
      request.pipe(sent)
      afterWaitingEvents(() => sent.destroyed || sent.flushHeaders())
    },
    close: () => agent.destroy(),
  }
}

/** Reads a body as long as it is short enough to change, and calls `go` once with what it has read. */
function rewrite(
  body: Readable,
  headers: string[],
  change: Rewrite,
  go: (chunks: readonly Buffer[], headers: string[], isWhole: boolean) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= COPIED_BYTES) return
    body.off('data', onData)
    body.off('end', onEnd)
    go(chunks, headers, false)
  }
  const onEnd = () => {
    const changed = change(Buffer.concat(chunks), headers)
    if (changed === null) go(chunks, headers, true)
    else go([changed.body], changed.headers, true)
  }
  body.on('data', onData)
  body.on('end', onEnd)
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

/** The headers without those of this connection; `host` replaces the value of `Host`. */
function forwarded(raw: RawHeaders, host: string | null): string[] {
  const named = new Set((headerIn(raw, 'connection') ?? '').toLowerCase().split(/\s*,\s*/))
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
