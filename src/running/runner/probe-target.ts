/** Tests whether the intermediary accepts connections. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { elapsedMs, wallDelay, wallTimer } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure } from '../../base/runtime/connection-failure.ts'

const CONNECT_MS = 2_000
const POLL_MS = 100

/** Tries for `waitMs` to connect. Null: the target accepts connections. */
export async function probeTarget(target: URL, waitMs: number, signal: AbortSignal): Promise<ConnectionFailure | null> {
  const until = elapsedMs() + waitMs
  for (;;) {
    const failure = await probePort(target)
    if (failure === null) return null
    if (elapsedMs() >= until || signal.aborted) return failure
    await wallDelay(Math.min(POLL_MS, Math.max(1, until - elapsedMs())), signal)
  }
}

async function probePort({ hostname, port, protocol, host }: URL): Promise<ConnectionFailure | null> {
  const standardPort = protocol === 'https:' ? 443 : 80
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || standardPort })
  const timeout = Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })
  const timer = wallTimer(CONNECT_MS, () => socket.destroy(timeout))
  try {
    await once(socket, 'connect')
    return null
  } catch (error) {
    return connectionFailure(error, host)
  } finally {
    timer.cancel()
    socket.destroy()
  }
}
