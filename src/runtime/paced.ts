/** Splits bytes into pieces and spreads them over a time of the wall clock. */
import { wallDelay } from './clock.ts'

const PIECES = 10

/** Yields the last piece at the end of the time. Yields nothing more when aborted. */
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
