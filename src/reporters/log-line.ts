/** One happening as the log shows it: who does what, what came of it, and what is worth saying about that. */
export type Level = 'plain' | 'good' | 'warn' | 'bad' | 'hint'

export interface LogDetail {
  /** `answer 200`, `failed`, `finding R-BTN`, `hint`. */
  readonly label: string
  readonly text: string
  readonly level: Level
}

export interface LogLine {
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
