/** Defines what UI mode and its page exchange: the list of files and scenarios, their states, and the bodies of requests. */
import * as z from 'zod/mini'
import type { Outcome } from '../../evaluation/evaluator/verdict.ts'
import type { Failure } from '../../evaluation/finding.ts'
import type { Place, PlannedStep, Verb } from '../../evaluation/scenario/plan.ts'
import { named } from '../../platform/contract/schemas.ts'
import type { Entry } from '../../platform/journal/entry.ts'

/** The scenario files as they were read last. */
export interface Catalogue {
  /** `run`: scenarios can be run. `report`: a saved run. `explore`: the failures that an exploration has found. */
  readonly kind: 'run' | 'report' | 'explore'
  /** Differs after a restart, when numbers of runs begin again. */
  readonly instance: string
  /** Increases when a file was read again. */
  readonly version: number
  /** The webhook of the intermediary; null when there is none. */
  readonly target: string | null
  readonly files: readonly CatalogueFile[]
  readonly scenarios: readonly CatalogueScenario[]
}

export interface CatalogueFile {
  /** As the user writes it. */
  readonly name: string
  /** Why it cannot be run; its scenarios are then those that were read before. */
  readonly problems: readonly FileProblem[]
}

export interface FileProblem {
  /** `scenarios/a.yaml:3:7: steps[0]` */
  readonly at: string
  readonly message: string
  /** The line with a caret below it. */
  readonly excerpt: string | null
  /** The file it is in: a part that a scenario includes has its own name. */
  readonly file: string
  readonly line: number | null
}

export interface CatalogueScenario {
  /** Unique; with `#2` for a repetition. */
  readonly name: string
  readonly file: string
  readonly place: Place | null
  readonly description: string | null
  readonly tags: readonly string[]
  readonly spec: readonly string[]
  /** Verbs that the agent driver must have. */
  readonly needs: readonly string[]
  readonly steps: readonly CatalogueStep[]
}

export interface CatalogueStep extends Pick<PlannedStep, 'number' | 'name' | 'label' | 'conversation' | 'place'> {
  readonly verb: Verb
  /** Whether it is one of `finally`. */
  readonly last: boolean
}

export interface UiStatus {
  readonly run: RunStatus
  readonly watch: WatchSetting
  /** Those that have changed since the status before; all in the first one. */
  readonly scenarios: readonly ScenarioStatus[]
}

export interface RunStatus {
  readonly state: 'idle' | 'running' | 'stopping'
  /** How many of the current run, or of the last one, have ended. */
  readonly done: number
  readonly total: number
  /** Why the last run has no results: an internal error. */
  readonly problem: string | null
  /** Of the last run: failures that belong to no scenario. */
  readonly failures: readonly Failure[]
}

export interface ScenarioStatus {
  readonly name: string
  readonly state: 'idle' | 'queued' | 'running'
  /** The run that is under way; null when there is none. */
  readonly run: number | null
  /** States of the steps of this run, by number. */
  readonly steps: Readonly<Record<number, StepState>>
  /** Of the last run that ended. */
  readonly last: LastOutcome | null
}

export type StepState = 'running' | 'pass' | 'fail'

export interface LastOutcome {
  readonly run: number
  readonly outcome: Outcome
  /** The first failure, or why there is no verdict. */
  readonly summary: string | null
  /** What other scenarios may have failed for, too; those with the same key have the same cause. */
  readonly cause: { readonly key: string; readonly text: string } | null
  readonly failures: number
  readonly warnings: number
  readonly durationMs: number
  readonly startedAt: string
  /** Whether the scenario has changed since. */
  readonly outdated: boolean
}

/** Entries of a run that is under way. */
export interface LiveEntries {
  readonly name: string
  readonly run: number
  readonly entries: readonly Entry[]
}

/** How far `explore` is. */
export interface ExplorationProgress {
  readonly conversations: number
  readonly acts: number
  readonly situations: number
  /** How many failures did not fail again. */
  readonly doubted: number
  /** The failure whose conversation is being shortened; null while others are tried. */
  readonly shortening: string | null
  /** `Ended`, or why it ended early; null while it goes on. */
  readonly ended: string | null
  /** The acts: the columns of the map. */
  readonly columns: readonly string[]
  /** The states of a chat. A cell is null where the act is not possible. */
  readonly rows: readonly {
    readonly state: string
    readonly cells: readonly ({ readonly times: number; readonly failures: number } | null)[]
  }[]
}

/** Server-sent events of `GET /_sim/ui/events` by name. A new stream begins with all that there are. */
export interface UiEvents {
  readonly catalogue: Catalogue
  readonly status: UiStatus
  readonly entries: LiveEntries
  readonly exploration: ExplorationProgress
}

const names = z.array(z.string().check(z.minLength(1)))

export const RunBody = z
  .strictObject({
    scenarios: z.optional(names.check(z.describe('Names of scenarios. Default: all'))),
    failed: z.optional(z.boolean().check(z.describe('Only those whose last outcome is neither pass nor skipped'))),
  })
  .check(named('Run', 'Which scenarios to run'))
export type RunBody = z.infer<typeof RunBody>

export const WatchBody = z
  .strictObject({
    all: z.boolean().check(z.describe('Whether every file is watched')),
    files: names.check(z.describe('The files that are watched otherwise')),
  })
  .check(named('Watch', 'The files whose scenarios are run again when they change'))
export type WatchSetting = z.infer<typeof WatchBody>

export const OpenBody = z
  .strictObject({ name: z.string().check(z.minLength(1)), line: z.optional(z.int().check(z.positive())) })
  .check(named('OpenFile', 'A file that UI mode shows, and the line to go to'))

export const NameQuery = z.strictObject({ name: z.string().check(z.minLength(1)) })
