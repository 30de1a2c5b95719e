/** Defines the rows of a timeline, and makes outside text safe for them. */

import { quote, shorten, visible } from '../text/terminal-text.ts'

export type Actor = 'user' | 'agent' | 'platform' | 'intermediary' | 'player'

export interface TimelineRow {
  /** Of its first entry. */
  readonly seq: number
  /** On the wall, from the play's first entry. */
  readonly atMs: number
  readonly from: Actor
  /** Same as `from` when there is no receiver. */
  readonly to: Actor
  /** Null for what belongs to no chat of the scenario. */
  readonly conversation: string | null
  /**
   * action: user or agent did something. event: a webhook and its answer. call: of the intermediary. driver: an inbox
   * as it changed, or the target. fault: one hit. step: a step began, or failed. note: everything else.
   */
  readonly kind: 'action' | 'event' | 'call' | 'driver' | 'fault' | 'step' | 'note'
  readonly label: string
  /** `200 in 31 ms`, `200 MESSAGE SENT TO USER`. */
  readonly answer?: string
  readonly ok: boolean
  /** A failure points at it. */
  readonly failed: boolean
  /** The step that claimed it or was under way; null when there is none. */
  readonly step: number | null
  /** Every entry it tells of. */
  readonly entrySeqs: readonly number[]
}

/** The part of a row that one entry decides. */
export type RowContent = Pick<TimelineRow, 'from' | 'to' | 'kind' | 'label' | 'ok'> & { answer?: string }

const LONGEST = 120

/** One line, without control characters, shortened. */
export const oneLine = (text: unknown, columns = LONGEST): string => shorten(visible(String(text ?? '')), columns)
export const quoted = (text: unknown): string => quote(String(text ?? ''), LONGEST)
