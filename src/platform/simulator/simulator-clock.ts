/** Defines the clock of a simulator as its users see it: the time, moves, and the pause of a real clock. */
import { LATEST_MS } from '../../base/runtime/clock.ts'
import { type Duration, parseDuration } from '../../base/text/quantities.ts'
import { advancePaused, type Core } from './core.ts'
import { invalidOption } from './options.ts'

/** The clock of the platform: typing, retries, idle chats and timestamps follow it. */
export interface SimulatorClock {
  readonly mode: 'real' | 'virtual'
  /** Whether it stands still until it is advanced: a real clock that is paused, and every virtual clock. */
  readonly paused: boolean
  /** Epoch milliseconds on the simulator's clock. */
  now(): number
  /**
   * Moves a virtual or a paused clock by a duration such as `10m`, and fires due timers in order. Rejects on a real clock
   * that runs.
   */
  advance(by: Duration): Promise<void>
  /** Stops a real clock: timers wait, and timestamps stay at that time. A virtual clock stands still already. */
  pause(): void
  /** Lets a paused clock go on from the time at which it stands. Throws `InvalidOptionError` on a virtual clock. */
  resume(): void
}

export const createSimulatorClock = (core: Core): SimulatorClock => ({
  mode: core.clock.mode,
  get paused() {
    return core.clock.isPaused()
  },
  now: core.clock.now,
  advance: by => advance(core, by),
  pause: () => {
    if (core.clock.mode === 'virtual' || core.clock.isPaused()) return
    core.clock.pause()
    core.journal.append({ kind: 'note', note: 'clock_paused' }, null)
  },
  resume: () => {
    if (core.clock.mode === 'virtual') throw invalidOption('clock', ALWAYS_STANDS)
    if (!core.clock.isPaused()) return
    core.clock.resume()
    core.journal.append({ kind: 'note', note: 'clock_resumed' }, null)
  },
})

async function advance(core: Core, by: Duration): Promise<void> {
  const ms = parseDuration(by)
  if (ms === null) throw invalidOption('by', `by must be a duration such as 10m, got ${JSON.stringify(by)}.`)
  if (!core.clock.isPaused()) throw invalidOption('clock', CLOCK_RUNS)
  if (core.clock.now() + ms <= LATEST_MS) return advancePaused(core, ms)
  throw invalidOption('by', `by must end before the year 2255, got ${JSON.stringify(by)}.`)
}

const CLOCK_RUNS =
  'A real clock must be paused to be advanced: call clock.pause() first, or start with the clock set to virtual.'

const ALWAYS_STANDS =
  'A virtual clock never runs by itself: move it with clock.advance(), or start with the clock set to real.'
