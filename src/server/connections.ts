/** Limits and closes the connections of the server: how many are open, how slow a client may be, and how they end. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { backgroundTimer, elapsedMs, wallDelay } from '../base/runtime/clock.ts'
import { connectionLimit } from '../base/runtime/node.ts'

export interface HttpBounds {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
  /** How long a client may leave an answer unread. */
  readonly unreadMs: number
  /** Connections at a time, when the process may have that many open files. */
  readonly connections: number
}

/** The share of open files that connections to the port may be. */
const SHARE = 4 / 7
/** Refused connections are announced this often. */
const ANNOUNCE_EVERY_MS = 60_000

export const HTTP_BOUNDS: HttpBounds = {
  headersMs: 15_000,
  requestMs: 120_000,
  checkEveryMs: 5_000,
  unreadMs: 30_000,
  connections: 512,
}

interface Progress {
  /** How many bytes the client had taken at the latest check. */
  taken: number
  /** When that number was another one, or nothing was left to take. */
  since: number
}

/**
 * Looks at all connections from time to time, because listeners and a timer for every
 * answer cost each of them time. An answer that is not ready yet takes the time it needs.
 */
export function closeUnread(server: Server, { unreadMs, checkEveryMs }: HttpBounds): void {
  const connections = new Map<Socket, Progress>()
  const everyMs = Math.min(checkEveryMs, unreadMs)
  let isArmed = false

  function check(socket: Socket, progress: Progress): void {
    const taken = socket.bytesWritten - socket.writableLength
    if (socket.writableLength === 0 || taken !== progress.taken) Object.assign(progress, { taken, since: elapsedMs() })
    else if (elapsedMs() - progress.since >= unreadMs) socket.destroy()
  }
  function checkAll(): void {
    for (const [socket, progress] of connections) check(socket, progress)
    isArmed = connections.size > 0
    if (isArmed) backgroundTimer(everyMs, checkAll)
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { taken: 0, since: elapsedMs() })
    socket.on('close', () => void connections.delete(socket))
    if (isArmed) return
    isArmed = true
    backgroundTimer(everyMs, checkAll)
  })
}

/** `onFull` is called when connections are refused because so many are open; not again within a minute. */
export function limitConnections(
  server: Server,
  most: number,
  onFull: ((connections: number) => void) | undefined,
): void {
  server.maxConnections = connectionLimit(most, SHARE)
  let announcedAt = Number.NEGATIVE_INFINITY
  server.on('drop', () => {
    // The next attempt of the refused client succeeds when others are idle.
    server.closeIdleConnections()
    if (elapsedMs() - announcedAt < ANNOUNCE_EVERY_MS) return
    announcedAt = elapsedMs()
    onFull?.(server.maxConnections)
  })
}

/** Responses in progress may end until then. */
const DRAIN_MS = 1_000
const DRAIN_CHECK_MS = 10

/** Waits up to a second for responses in progress, then closes all connections and frees the port. */
export async function stopServer(server: Server): Promise<void> {
  const freed = new Promise<void>(resolve => server.close(() => resolve()))
  let isFree = false
  void freed.then(() => (isFree = true))
  for (const until = elapsedMs() + DRAIN_MS; !isFree && elapsedMs() < until; ) {
    server.closeIdleConnections()
    await Promise.race([freed, wallDelay(DRAIN_CHECK_MS)])
  }
  server.closeAllConnections()
  await freed
}
