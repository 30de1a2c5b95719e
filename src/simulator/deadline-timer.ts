/** Arms one timer on the simulator's clock for the nearest deadline of the platform. */

import type { PlatformContext } from '../platform/context.ts'
import { fireDue } from '../platform/platform.ts'
import { createTransaction, type Effect } from '../platform/transaction.ts'
import type { Clock, ClockTimer } from '../runtime/clock.ts'

export interface DeadlineTimer {
  /** Call it after every change that may have moved the deadlines. */
  set(): void
  cancel(): void
  /** The order of its timer; null while no timer is armed. */
  readonly order: number | null
}

/** `commit` receives the effects of the deadlines that fell due. */
export function createDeadlineTimer(
  platform: PlatformContext,
  clock: Clock,
  commit: (effects: readonly Effect[]) => void,
): DeadlineTimer {
  let armed: { at: number; timer: ClockTimer } | null = null

  function cancel(): void {
    armed?.timer.cancel()
    armed = null
  }

  function ring(): void {
    armed = null
    const transaction = createTransaction()
    while (fireDue(platform, transaction));
    commit(transaction.effects)
  }

  return {
    set() {
      const at = platform.state.deadlines.nextMs()
      if (at === (armed?.at ?? null)) return
      cancel()
      if (at !== null) armed = { at, timer: clock.after(at - clock.now(), ring) }
    },
    cancel,
    get order() {
      return armed?.timer.order ?? null
    },
  }
}
