/** Passes on what arrives together, so that the page is drawn a few times a second. */
import { elapsedMs, type Timer, wallTimer } from '../../../base/runtime/clock.ts'

/** Collects what arrives, and passes it on before a frame of the screen is drawn, by default at most 10 times a second. */
interface FrameBatches<Item> {
  add(items: readonly Item[]): void
  /** Discards what was not passed on. */
  clear(): void
}

/** As many items are passed on together; the others follow. */
const MAX_BATCH = 1_500
/** While items arrive all the time, the page is drawn for them so often, and most frames stay free. */
const PAUSE_MS = 100
/** A hidden tab has no frames. */
const HIDDEN_MS = 250

export function createFrameBatches<Item>(
  pass: (items: readonly Item[]) => void,
  leastMs = PAUSE_MS,
): FrameBatches<Item> {
  let waiting: Item[] = []
  let frame: number | null = null
  let timer: Timer | null = null
  let passedAt = Number.NEGATIVE_INFINITY
  const run = () => {
    stop()
    passedAt = elapsedMs()
    const items = waiting.splice(0, MAX_BATCH)
    if (waiting.length > 0) start()
    if (items.length > 0) pass(items)
  }
  const atNextFrame = () => {
    frame = requestAnimationFrame(run)
    timer = wallTimer(HIDDEN_MS, run)
  }
  const start = () => {
    if (timer !== null) return
    const pauseMs = passedAt + leastMs - elapsedMs()
    if (pauseMs <= 0) atNextFrame()
    else timer = wallTimer(pauseMs, atNextFrame)
  }
  const stop = () => {
    if (frame !== null) cancelAnimationFrame(frame)
    timer?.cancel()
    frame = null
    timer = null
  }
  return {
    add(items) {
      // A spread would exceed the number of arguments for a long list.
      waiting = waiting.length === 0 ? [...items] : waiting.concat(items)
      start()
    },
    clear() {
      waiting = []
      stop()
    },
  }
}
