/** A check that has begun: it is shown what happens, and says how it stands. */
import type { Scope } from '../fill.ts'
import type { PlannedStep } from '../plan.ts'
import type { Look } from '../referee.ts'
import type { Failure } from '../verdict.ts'
import type { Judging } from './fit.ts'
import type { Captures } from './scope.ts'
import type { Windows } from './windows.ts'

export interface Watch {
  readonly step: PlannedStep
  /** Something has come that may decide it. */
  consider(): void
  look(nowMs: number): Look
  /** It is over: what it has taken stays taken. */
  close(): void
  /** What there is to tell when it has failed; what came after its end included. */
  failure(): Told
}

/** A failure before it is known whose it is. */
export type Told = Omit<Failure, 'step' | 'lane' | 'soft'>

/** What every watch works with. */
export interface Bench extends Judging {
  readonly windows: Windows
  readonly captures: Captures
  scopeOf(step: number): Scope
}

export const MET: Look = { state: 'met' }
export const FAILED: Look = { state: 'failed' }

/** Open until a moment, then decided by nothing having come. */
export const until = (nowMs: number, untilMs: number, after: Look, waitingFor: string): Look =>
  nowMs >= untilMs ? after : { state: 'open', untilMs, waitingFor }
