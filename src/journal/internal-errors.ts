/** Journals errors of the simulator itself, in work that no caller waits for: timers, deliveries, slow answers. */
import type { Journal } from './journal.ts'

/** Where the error was thrown. */
export type ErrorPlace = 'timer' | 'delivery' | 'answer'

/** Journals a note `internal_error`, from which the log and the reports read it. */
export type OnInternalError = (where: ErrorPlace, error: unknown) => void

const LONGEST_MESSAGE = 500

export const createErrorNotes =
  ({ append }: Pick<Journal, 'append'>): OnInternalError =>
  (where, error) => {
    const { code, name, message } = describeError(error)
    append({ kind: 'note', note: 'internal_error', where, code: code ?? name, message }, null)
  }

/** A thrown value may be anything. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { code: undefined, name: typeof error, message: shortened(String(error)) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { code, name: error.name, message: shortened(error.message) }
}

const shortened = (message: string): string => message.slice(0, LONGEST_MESSAGE)
