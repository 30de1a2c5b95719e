/** The passing of time: a virtual clock moved, and waiting until nothing is in flight. */
import type { VirtualClock } from '../runtime/clock.ts'
import type { Core } from './core.ts'

/** Deliveries and answers in flight may start others, so it looks again until all is quiet. */
export async function settled(core: Core): Promise<void> {
  for (let quiet = false; !quiet; ) {
    await core.activity.idle()
    const due = core.clock.nextDue()
    quiet = !core.activity.busy && (due === null || due > core.clock.now())
    if (!quiet) await fireDueTimers(core)
  }
}

function fireDueTimers(core: Core): Promise<void> {
  if (core.clock.mode === 'virtual') return advanceVirtual(core, 0)
  return new Promise(resolve => core.clock.after(0, resolve))
}

/** Moves a virtual clock; what a timer starts ends before the next one fires. */
export const advanceVirtual = ({ clock, activity }: Core, ms: number): Promise<void> =>
  (clock as VirtualClock).advance(ms, () => activity.idle())
