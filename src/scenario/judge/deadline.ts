/** Until when something may come. */
import { formatDuration } from '../../text/duration.ts'
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
 * A stimulus that takes time itself, so that nothing reaches the intermediary meanwhile, counts from its end.
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
  const own = stimulus.step === null ? null : facts.steps.get(stimulus.step)!
  const takesTime = own?.action.verb === 'wait' || own?.action.verb === 'target'
  const atMs = takesTime ? (facts.endOf(own.number)?.at_ms ?? stimulus.atMs) : stimulus.atMs
  if (claimed !== null && claimed.readAt > atMs) return { atMs: claimed.readAt, name: `#${claimed.seq}` }
  return own === null ? null : { atMs, name: stepName(own) }
}
