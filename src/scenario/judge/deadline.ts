/** Until when something may come. */
import { formatDuration } from '../../contract/duration.ts'
import type { PlannedStep } from '../plan.ts'
import type { LaneKey } from './facts.ts'
import type { Bench } from './watch.ts'
import { stepName } from './words.ts'

export interface Deadline {
  readonly atMs: number
  /** `within 2s of #9` */
  readonly text: string
}

/**
 * `within` counts from the turn's stimulus or the lane's last claimed call, whichever is later, and is meant strictly.
 * The default is only how long we wait: it counts from the start of the step when that is later still.
 */
export function deadlineOf(bench: Bench, step: PlannedStep, lane: LaneKey, withinMs: number | null): Deadline {
  const begun = bench.facts.begun(step.number)!.at_ms
  const base = baseOf(bench, step, lane)
  const waitMs = 'waitMs' in step.action ? step.action.waitMs : undefined
  const ms = withinMs ?? waitMs ?? bench.facts.plan.timeouts.expectMs
  if (base === null || (withinMs === null && base.atMs < begun)) {
    return { atMs: begun + ms, text: `within ${formatDuration(ms)}` }
  }
  return { atMs: base.atMs + ms, text: `within ${formatDuration(ms)} of ${base.name}` }
}

function baseOf({ windows, facts, ledger }: Bench, step: PlannedStep, lane: LaneKey) {
  const stimulus = windows.stimulus(step)
  const claimed = ledger.floorOf(lane)
  if (claimed !== null && claimed.readAt > stimulus.atMs) return { atMs: claimed.readAt, name: `#${claimed.seq}` }
  if (stimulus.step === null) return null
  return { atMs: stimulus.atMs, name: stepName(facts.steps.get(stimulus.step)!) }
}
