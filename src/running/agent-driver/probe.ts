/** Asks an address whether a program serves there. */

import { wallTimer } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure, timedOut } from '../../base/runtime/connection-failure.ts'

/** Why an address does not serve: an answer without success, or none. */
export type NotReady = ConnectionFailure | { readonly code: 'status'; readonly status: number }

const MAX_RESPONSE_MS = 2_000

/** Null when the address answers with a status of success. */
export async function probe(address: string, signal?: AbortSignal): Promise<NotReady | null> {
  const timeLimit = new AbortController()
  const timer = wallTimer(MAX_RESPONSE_MS, () => timeLimit.abort(timedOut(MAX_RESPONSE_MS)))
  try {
    const ended = signal === undefined ? timeLimit.signal : AbortSignal.any([timeLimit.signal, signal])
    const response = await fetch(address, { signal: ended, redirect: 'manual' })
    await response.body?.cancel()
    return response.ok ? null : { code: 'status', status: response.status }
  } catch (error) {
    return connectionFailure(error, new URL(address).host)
  } finally {
    timer.cancel()
  }
}
