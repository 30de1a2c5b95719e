/** Combines what is known of a play, under way or ended, into what UI mode shows: steps, entries, rows and chats. */
import type { StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import type { FailureReport, ScenarioReport } from '../../../evaluation/evaluator/wording/report.ts'
import type { Place } from '../../../evaluation/scenario/plan.ts'
import type { TimelineRow } from '../../../evaluation/timeline/rows.ts'
import { timelineOf } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { CatalogueScenario, ScenarioStatus, StepState } from '../../../running/ui-mode/protocol.ts'
import { addStepTime, type LiveView, type StepTimes } from './live-plays.ts'

export interface ShownPlay {
  readonly isLive: boolean
  readonly steps: readonly ShownStep[]
  readonly entries: readonly Entry[]
  readonly rows: readonly TimelineRow[]
  /** How many rows of a play under way are left out: the first ones. */
  readonly earlierRows: number
  /** The id of the chat of each conversation, by name. */
  readonly conversations: Readonly<Record<string, string>>
  readonly failures: readonly FailureReport[]
  /** The result; null while it is playing, and before the first play. */
  readonly report: ScenarioReport | null
}

export interface ShownStep {
  readonly number: number
  readonly name: string | null
  readonly label: string
  readonly conversation: string
  readonly place: Place | null
  /** `waiting`: not reached yet, or never played. */
  readonly state: StepState | StepVerdict['outcome'] | 'waiting'
  /** Since the first entry of the play; null before it has started. */
  readonly startMs: number | null
  /** Null while it is playing. */
  readonly tookMs: number | null
  /** The entry of its end; null before that. */
  readonly endSeq: number | null
  readonly failures: readonly FailureReport[]
}

export const EMPTY_PLAY: ShownPlay = {
  isLive: false,
  steps: [],
  entries: [],
  rows: [],
  earlierRows: 0,
  conversations: {},
  failures: [],
  report: null,
}

/** A play that is under way, or a scenario without a play. */
export function livePlay(
  { steps }: CatalogueScenario,
  status: ScenarioStatus | undefined,
  live: LiveView | null = null,
): ShownPlay {
  const isLive = status?.state === 'playing'
  const { times, ...view } = live ?? NOTHING
  const shown = steps.map(step => ({
    ...step,
    ...timeOf(step.number, times, view.entries),
    state: status?.steps[step.number] ?? ('waiting' as const),
    failures: [],
  }))
  return { ...EMPTY_PLAY, isLive, steps: shown, ...view }
}

const NOTHING: LiveView = { ...EMPTY_PLAY, times: { started: new Map(), ended: new Map() } }

/** A play that has ended. Its steps are those of the play, also when the file has changed since. */
export function endedPlay(report: ScenarioReport): ShownPlay {
  const { journal: entries, conversations, failures } = report
  const times = stepTimes(entries)
  const steps = report.steps.map(step => ({
    ...step,
    ...timeOf(step.number, times, entries),
    state: step.outcome,
    failures: failures.filter(failure => failure.step?.number === step.number),
  }))
  return { ...EMPTY_PLAY, steps, entries, rows: timelineOf(report), conversations, failures, report }
}

function stepTimes(entries: readonly Entry[]): StepTimes {
  const times = { started: new Map<number, Entry>(), ended: new Map<number, Entry>() }
  for (const entry of entries) addStepTime(times, entry)
  return times
}

function timeOf(number: number, { started, ended }: StepTimes, [first]: readonly Entry[]) {
  const [begin, end] = [started.get(number), ended.get(number)]
  return {
    startMs: begin === undefined ? null : begin.at_ms - (first?.at_ms ?? begin.at_ms),
    tookMs: begin === undefined || end === undefined ? null : end.at_ms - begin.at_ms,
    endSeq: end?.seq ?? null,
  }
}
