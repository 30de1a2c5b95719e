/** Journals errors of the simulator itself, in work that no caller waits for: timers, deliveries, slow answers. */
import { messageOf, systemCodeOf } from '../text/error-text.ts'
import type { Journal } from './journal.ts'

/** Where the error was thrown. */
export type ErrorPlace = 'timer' | 'delivery' | 'answer'

/** Journals a note `internal_error`, from which the log and the reports read it. */
export type OnInternalError = (where: ErrorPlace, error: unknown) => void

const LONGEST_MESSAGE = 500

export const createErrorNotes =
  ({ append }: Pick<Journal, 'append'>): OnInternalError =>
  (where, error) => {
    const code = systemCodeOf(error) ?? (error instanceof Error ? error.name : typeof error)
    append(
      { kind: 'note', note: 'internal_error', where, code, message: messageOf(error).slice(0, LONGEST_MESSAGE) },
      null,
    )
  }
