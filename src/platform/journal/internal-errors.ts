/** Journals errors of the simulator itself: in calls, timers, deliveries and slow answers. A run with one does not pass. */
import { isError, messageOf, systemCodeOf } from '../../base/text/error-text.ts'
import type { Entry, EntryOf, NoteContent } from './entry.ts'
import type { Journal } from './journal.ts'

/** Where the error was thrown. */
export type ErrorPlace = 'call' | 'timer' | 'delivery' | 'answer'

/** Journals a note `internal_error`, from which the log and the reports read it. */
export type OnInternalError = (where: ErrorPlace, error: unknown) => void

const LONGEST_MESSAGE = 500

export const createErrorNotes =
  (journal: Pick<Journal, 'append'>): OnInternalError =>
  (where, error) =>
    void journal.append(errorNote(where, error), null)

export function errorNote(where: ErrorPlace, error: unknown): NoteContent {
  const code = systemCodeOf(error) ?? (isError(error) ? error.name : typeof error)
  return { kind: 'note', note: 'internal_error', where, code, message: messageOf(error).slice(0, LONGEST_MESSAGE) }
}

export type InternalErrorNote = EntryOf<'note'> & { readonly note: 'internal_error' }

export const isInternalError = (entry: Entry): entry is InternalErrorNote =>
  entry.kind === 'note' && entry.note === 'internal_error'
