/** One happening as the log shows it: who does what, what came of it, and what is worth saying about that. */
export type Level = 'plain' | 'good' | 'warn' | 'bad' | 'hint'

export interface Detail {
  /** `answer 200`, `failed`, `finding R-BTN`, `hint`. */
  readonly label: string
  readonly text: string
  readonly level: Level
}

export interface Line {
  readonly who: string
  readonly what: string
  /** Words of a person, shown quoted and shortened behind `what`. */
  readonly said?: string | undefined
  readonly details: readonly Detail[]
  /** Whether `quiet` shows it. */
  readonly wrong: boolean
  /** Whether `compact` leaves it out: another line says the same. */
  readonly minor?: boolean
}
