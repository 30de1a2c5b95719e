/** Combines what is known of a run, under way or ended, into what UI mode shows: steps, entries, rows and chats. */
import type { ScenarioResult, StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import type { Failure } from '../../../evaluation/finding.ts'
import type { Place } from '../../../evaluation/scenario/plan.ts'
import { isRunEvent } from '../../../evaluation/scenario/run-events.ts'
import { timelineOf } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { CatalogueScenario, ScenarioStatus, StepState } from '../../../running/ui-mode/protocol.ts'
import type { LiveView } from './live-runs.ts'

export interface ShownRun extends LiveView {
  readonly isLive: boolean
  readonly steps: readonly ShownStep[]
  readonly failures: readonly Failure[]
  /** The result; null while it is running, and before the first run. */
  readonly report: ScenarioResult | null
}

export interface ShownStep {
  readonly number: number
  readonly name: string | null
  readonly label: string
  readonly conversation: string
  readonly place: Place | null
  /** `waiting`: not reached yet, or never run. */
  readonly state: StepState | StepVerdict['outcome'] | 'waiting'
  /** Since the first entry of the run; null before it has started. */
  readonly startMs: number | null
  /** Null while it is running. */
  readonly tookMs: number | null
  /** The entry of its end; null before that. */
  readonly endSeq: number | null
  readonly failures: readonly Failure[]
}

export const EMPTY_RUN: ShownRun = {
  isLive: false,
  steps: [],
  entries: [],
  rows: [],
  earlierRows: 0,
  conversations: {},
  failures: [],
  report: null,
}

/** A run that is under way, or a scenario without a run. */
export function liveRun(
  { steps }: CatalogueScenario,
  status: ScenarioStatus | undefined,
  live: LiveView | null = null,
): ShownRun {
  const view = live ?? EMPTY_RUN
  const timeOf = timesOfSteps(view.entries)
  const shown = steps.map(step => ({
    ...step,
    ...timeOf(step.number),
    state: status?.steps[step.number] ?? ('waiting' as const),
    failures: [],
  }))
  return { ...EMPTY_RUN, ...view, isLive: status?.state === 'running', steps: shown }
}

/** A run that has ended. Its steps are those of the run, also when the file has changed since. */
export function endedRun(report: ScenarioResult): ShownRun {
  const { journal: entries, conversations, failures } = report
  const timeOf = timesOfSteps(entries)
  const steps = report.steps.map(step => ({
    ...step,
    ...timeOf(step.number),
    state: step.outcome,
    failures: failures.filter(failure => failure.step?.number === step.number),
  }))
  return { ...EMPTY_RUN, steps, entries, rows: timelineOf(report), conversations, failures, report }
}

/** Returns a function that says when a step started, how long it took, and with which entry it ended. */
function timesOfSteps(entries: readonly Entry[]) {
  const started = new Map<number, Entry>()
  const ended = new Map<number, Entry>()
  for (const entry of entries) {
    if (isRunEvent(entry, 'step_started')) started.set(entry.step, entry)
    else if (isRunEvent(entry, 'step_ended')) ended.set(entry.step, entry)
  }
  return (number: number) => {
    const [begin, end] = [started.get(number), ended.get(number)]
    return {
      startMs: begin === undefined ? null : begin.at_ms - (entries[0]?.at_ms ?? begin.at_ms),
      tookMs: begin === undefined || end === undefined ? null : end.at_ms - begin.at_ms,
      endSeq: end?.seq ?? null,
    }
  }
}
