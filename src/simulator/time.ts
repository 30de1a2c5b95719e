/** Moves a virtual clock, and waits until nothing is in flight. */
import type { VirtualClock } from '../runtime/clock.ts'
import type { Core } from './core.ts'

/** Repeats until nothing is in flight, because deliveries and answers may start others. */
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

/** Waits after each timer until the work it started has ended. */
export const advanceVirtual = ({ clock, activity }: Core, ms: number): Promise<void> =>
  (clock as VirtualClock).advance(ms, () => activity.idle())
