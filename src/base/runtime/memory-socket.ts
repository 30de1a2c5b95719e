/** Connects two sockets inside of the process, as HTTP clients and servers expect them. */
import { Duplex } from 'node:stream'
import { type Timer, wallTimer } from './clock.ts'

/** The two ends. One reads what the other writes, and sees its end like that of a network connection. */
export function memorySockets(encrypted: boolean): { client: MemorySocket; server: MemorySocket } {
  const client = new MemorySocket(encrypted, false)
  const server = new MemorySocket(encrypted, true)
  client.peer = server
  server.peer = client
  return { client, server }
}

export class MemorySocket extends Duplex {
  readonly encrypted: boolean
  readonly authorized = true
  /** The negotiated protocol; false without negotiation. */
  alpnProtocol: string | false = false
  readonly connecting = false
  readonly remoteAddress = '127.0.0.1'
  readonly remoteFamily = 'IPv4'
  peer!: MemorySocket
  timeout = 0
  #timer: Timer | null = null
  #wanted: (() => void) | null = null

  constructor(encrypted: boolean, allowHalfOpen: boolean) {
    super({ allowHalfOpen })
    this.encrypted = encrypted
  }

  get readyState(): string {
    return this.destroyed ? 'closed' : 'open'
  }

  override _read(): void {
    const wanted = this.#wanted
    this.#wanted = null
    wanted?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#touch()
    if (this.peer.destroyed) done(networkError('write EPIPE', 'EPIPE'))
    else this.peer.#receive(chunk, done)
  }

  /** Continues the writer when the reader asks for more. */
  #receive(chunk: Buffer, done: () => void): void {
    this.#touch()
    if (this.push(chunk)) done()
    else this.#wanted = done
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#hangUp()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.limitSilence(0)
    this._read()
    this.#hangUp()
    done(error)
  }

  #hangUp(): void {
    if (!this.peer.destroyed && !this.peer.readableEnded) this.peer.push(null)
  }

  /** Resets the connection: the other end reads an error instead of an end. */
  resetAndDestroy(): this {
    this.peer.destroy(networkError('read ECONNRESET', 'ECONNRESET'))
    return this.destroy()
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  /** Emits `timeout` after this time without a byte in either direction; 0: never. */
  limitSilence(ms: number): void {
    this.timeout = ms
    this.#touch()
  }

  /** The name that sockets have for it. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined && ms > 0) this.once('timeout', onTimeout)
    if (onTimeout !== undefined && ms === 0) this.off('timeout', onTimeout)
    this.limitSilence(ms)
    return this
  }

  /** Emits the events of a connection after the call returns. Fake timers do not delay a promise. */
  announceConnection(alpnProtocol: string | false): void {
    this.alpnProtocol = alpnProtocol
    void Promise.resolve().then(() => {
      const events = this.encrypted ? ['connect', 'ready', 'secureConnect'] : ['connect', 'ready']
      for (const event of events) if (!this.destroyed) this.emit(event)
    })
  }

  #touch(): void {
    this.#timer?.cancel()
    this.#timer = this.timeout > 0 && !this.destroyed ? wallTimer(this.timeout, () => this.emit('timeout')) : null
  }

  setNoDelay = (): this => this
  setKeepAlive = (): this => this
  ref = (): this => this
  unref = (): this => this
  address = (): object => ({})
  getPeerCertificate = (): object => ({})
}

const networkError = (message: string, code: string) => Object.assign(new Error(message), { code })
