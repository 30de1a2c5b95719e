/** A line of the log, before its layout: who sends what, and details such as the answer. */
export type Level = 'plain' | 'good' | 'warn' | 'bad' | 'hint'

export interface LogDetail {
  /** `answer 200`, `failed`, `finding R-BTN`, `hint`. */
  readonly label: string
  /** In the compact style, in place of `label`: `200`. */
  readonly shortLabel?: string
  readonly text: string
  readonly level: Level
}

export interface LogLine {
  /** `intermediary -> platform`. */
  readonly direction: string
  readonly what: string
  /** Words of a person, shown quoted and shortened behind `what`. */
  readonly quoted?: string | undefined
  readonly details: readonly LogDetail[]
  /** Whether `quiet` shows it. */
  readonly wrong: boolean
  /** Whether `compact` leaves it out: another line says the same. */
  readonly minor?: boolean
}
