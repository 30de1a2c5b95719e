/** Tests whether the intermediary accepts connections. */
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

function probePort(target: URL): Promise<ConnectionFailure | null> {
  return new Promise(resolve => {
    const socket = connect({
      host: target.hostname.replace(/^\[|\]$/g, ''),
      port: Number(target.port) || (target.protocol === 'https:' ? 443 : 80),
    })
    const done = (failure: ConnectionFailure | null) => {
      timer.cancel()
      socket.destroy()
      resolve(failure)
    }
    const timer = wallTimer(CONNECT_MS, () =>
      done(connectionFailure({ code: 'ETIMEDOUT', message: 'timeout' }, target.host)),
    )
    socket.once('connect', () => done(null))
    socket.once('error', error => done(connectionFailure(error, target.host)))
  })
}
