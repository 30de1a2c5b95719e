/** Defines the recorder behind `POST /_sim/record`: it writes a scenario from the journal. A layer above the server implements it. */
import type { Core } from '../../platform/simulator/core.ts'

/** Which part of the journal becomes a scenario. */
export interface RecordingRequest {
  /** By default every chat in which something happened. */
  readonly chatIds: readonly string[] | undefined
  /** Only entries after this seq. */
  readonly after: number | undefined
  /** Only entries before this seq. */
  readonly before: number | undefined
  /** The name of the scenario. */
  readonly name: string | undefined
}

export interface RecordedScenario {
  readonly name: string
  /** The scenario file. */
  readonly yaml: string
  readonly notes: readonly RecordingNote[]
  readonly tried: RecordingTrial
}

/** What the scenario does not contain, or contains in another form than it happened. */
export interface RecordingNote {
  readonly code: string
  readonly message: string
  /** The entry it is about; null when it is about the whole recording. */
  readonly seq: number | null
}

/** The result of one run of the scenario against an intermediary in this process that repeats the recorded calls. */
export interface RecordingTrial {
  /** `skipped` when the scenario could not be read, or was too long to be tried. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'skipped'
  readonly duration_ms: number
  /** How many recorded calls the scenario expects. */
  readonly calls: number
  /** How many of these calls were left out in turn; fewer than all when there was no time for more. */
  readonly left_out: number
  /** Without how many of those the scenario fails. */
  readonly noticed: number
  /** Why it does not pass. */
  readonly failures: readonly string[]
}

/** Throws `ControlProblem` when there is nothing to record. */
export type RecordScenario = (core: Core, request: RecordingRequest, signal: AbortSignal) => Promise<RecordedScenario>

export type LoadRecorder = () => Promise<{ readonly recordScenario: RecordScenario }>
