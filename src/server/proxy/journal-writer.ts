/** Writes the entries of a journal to a file as they come, each as one line, so that an end in any way loses none. */
import { appendFileSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { wallTime } from '../../base/runtime/clock.ts'
import { entryLine, observedRunLine } from '../../evaluation/evaluator/journal-file.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { Journal } from '../../platform/journal/journal.ts'

export interface JournalWriter {
  /** Adds the entries of the journal, also later ones. `onFailure` is called when one could not be written, and none follows. */
  follow(journal: Journal, onFailure: (error: unknown, entry: Entry) => void): void
  close(): void
}

/** Creates the file, which must be new: what it has is lost in no way. Throws what Node throws. */
export function createJournalWriter(path: string, target: string): JournalWriter {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'ax', 0o600)
  appendFileSync(file, `${observedRunLine({ version: VERSION, started_at: wallTime(), target })}\n`)
  let stop = () => {}
  return {
    follow(journal, onFailure) {
      const write = (entry: Entry) => {
        try {
          appendFileSync(file, `${entryLine(null, entry)}\n`)
        } catch (error) {
          stop()
          onFailure(error, entry)
        }
      }
      stop = journal.subscribe(write)
      for (const entry of journal.query()) write(entry)
    },
    close() {
      stop()
      closeSync(file)
    },
  }
}
