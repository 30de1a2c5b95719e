/** A request of `node:http` whose body is received as a whole, which takes less time than reading it as a stream. */
import type { IncomingMessage as Request } from 'node:http'

/** Not imported as a module: that would also load Node's fetch, which takes a third of the time to start. */
const { IncomingMessage } = process.getBuiltinModule('node:http')

/** `tooLarge` when the body is longer than its limit; then it is empty. */
export type OnBody = (body: Uint8Array, tooLarge: boolean) => void

const EMPTY = new Uint8Array(0)
const IGNORE: OnBody = () => {}

/** The maximum number of bytes read from a refused body, so that a client that sends first can receive the answer. */
const DRAINED_BYTES = 64 * 1_048_576

/** Checks the declared length, before the first byte arrives. */
export const declaresTooMuch = (request: Request, limit: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > limit

/** A server creates its requests with this class (`IncomingMessage` of its options). They are streams until `receiveBody`. */
export class BodyRequest extends IncomingMessage {
  #done: OnBody | null = null
  #first: Buffer | null = null
  #more: Buffer[] | null = null
  /** How many bytes may still come. */
  #remaining = 0
  #isRefused = false

  /**
   * Calls `done` once, with at most `limit` bytes: at once for a larger body, and never for an incomplete one. Call it
   * when the request begins, before its first byte has arrived.
   */
  receiveBody(limit: number, done: OnBody): void {
    this.#begin(done)
    this.#remaining = limit
    if (declaresTooMuch(this, limit)) this.#refuse()
  }

  /** Reads the body, and forgets it. */
  ignoreBody(): void {
    this.#begin(IGNORE)
    this.#refuse()
  }

  /** Node calls it with each part of the body, and with null at its end. */
  override push(part: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#done === null) return super.push(part, encoding)
    if (part === null) this.#end(this.#done)
    else this.#take(part)
    return true
  }

  /** Node drops a body that no code has begun to read. */
  #begin(done: OnBody): void {
    this.#done = done
    this._read(0)
  }

  #take(part: Buffer): void {
    this.#remaining -= part.length
    if (this.#remaining < 0) this.#exceeded()
    else if (this.#isRefused) return
    else if (this.#first === null) this.#first = part
    else if (this.#more === null) this.#more = [this.#first, part]
    else this.#more.push(part)
  }

  #exceeded(): void {
    if (this.#isRefused) this.destroy()
    else this.#refuse()
  }

  /** Reads on, so that the client can receive the answer. */
  #refuse(): void {
    this.#isRefused = true
    this.#first = null
    this.#more = null
    this.#remaining = DRAINED_BYTES
    this.#done?.(EMPTY, true)
  }

  #end(done: OnBody): void {
    if (this.#isRefused) return
    done(this.#more === null ? (this.#first ?? EMPTY) : Buffer.concat(this.#more), false)
  }
}

/** As `ignoreBody`, for a request of any server. */
export function ignoreBodyOf(request: Request): void {
  if (request instanceof BodyRequest) request.ignoreBody()
  else request.resume()
}

/** As `receiveBody`, for a request of any server; of another one it reads the stream. */
export function receiveBodyOf(request: Request, limit: number, done: OnBody): void {
  if (request instanceof BodyRequest) return request.receiveBody(limit, done)
  if (declaresTooMuch(request, limit)) return drain(request, done)
  const parts: Buffer[] = []
  let size = 0
  const onData = (part: Buffer) => {
    size += part.length
    if (size <= limit) return void parts.push(part)
    request.off('data', onData).off('end', onEnd)
    drain(request, done)
  }
  const onEnd = () => done(parts.length === 1 ? (parts[0] ?? EMPTY) : Buffer.concat(parts), false)
  request.on('data', onData).on('end', onEnd)
}

function drain(request: Request, done: OnBody): void {
  let remaining = DRAINED_BYTES
  request.on('data', (part: Buffer) => {
    remaining -= part.length
    if (remaining < 0) request.destroy()
  })
  done(EMPTY, true)
}
