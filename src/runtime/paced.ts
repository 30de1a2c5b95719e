/** Bytes in pieces, spread over a time on the wall. */
import { wallDelay } from './clock.ts'

const PIECES = 10

/** The last piece comes when the time is over. Ends early, without the rest, when aborted. */
export async function* paced(bytes: Uint8Array, overMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = Math.max(1, Math.min(PIECES, bytes.length))
  for (let index = 0; index < pieces; index++) {
    await wallDelay(overMs / pieces, signal)
    if (signal.aborted) return
    yield bytes.subarray(pieceStart(index), pieceStart(index + 1))
  }
  function pieceStart(index: number): number {
    return Math.floor((bytes.length * index) / pieces)
  }
}
