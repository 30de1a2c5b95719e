/** Defines the recorder behind `POST /_sim/record`: it writes a scenario from the journal. A layer above the server implements it. */
import * as z from 'zod/mini'
import { named } from '../../platform/contract/schemas.ts'
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
  /** Whether calls that only read are expected too. */
  readonly reads: boolean
}

const RecordingNote = z.object({
  code: z.string(),
  message: z.string(),
  seq: z.nullable(z.int().check(z.describe('The entry it is about'))),
})
/** What the scenario does not contain, or contains in another form than it happened. */
export type RecordingNote = Readonly<z.infer<typeof RecordingNote>>

const RecordingTrial = z
  .object({
    outcome: z.enum(['pass', 'fail', 'error', 'inconclusive', 'skipped']),
    duration_ms: z.number(),
    calls: z.int().check(z.describe('Recorded calls that the scenario expects')),
    left_out: z.int().check(z.describe('How many of these were left out in turn; fewer than all in a long recording')),
    noticed: z.int().check(z.describe('How many of those the scenario needs: it fails without them')),
    failures: z.array(z.string()),
  })
  .check(
    named(
      'RecordingTrial',
      'One run of the scenario, beside the simulator, against an intermediary that repeats the recorded calls',
    ),
  )
export type RecordingTrial = Immutable<z.infer<typeof RecordingTrial>>

export const RecordedScenario = z
  .object({
    name: z.string(),
    yaml: z.string().check(z.describe('The scenario file')),
    notes: z.array(RecordingNote).check(z.describe('What the scenario does not contain, and why')),
    tried: RecordingTrial,
    file: z
      .nullable(z.string())
      .check(
        z.describe('Where the file was written; null without `save`, and for a server without a scenarios folder'),
      ),
  })
  .check(named('RecordedScenario', 'A scenario file, and the result of trying it'))
export type RecordedScenario = Immutable<z.infer<typeof RecordedScenario>>

type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T

/** A scenario that is in no file yet. */
export type DrawnScenario = Omit<RecordedScenario, 'file'>

/** Throws `ControlProblem` when there is nothing to record. */
export type RecordScenario = (core: Core, request: RecordingRequest, signal: AbortSignal) => Promise<DrawnScenario>

export interface Recorder {
  readonly recordScenario: RecordScenario
  /** Writes a new file into the scenarios folder, and returns its name; without it there is no folder. */
  readonly writeScenario?: (scenario: DrawnScenario) => string
}

export type LoadRecorder = () => Promise<Recorder>
