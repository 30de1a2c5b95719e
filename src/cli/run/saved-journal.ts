/** Where the journal of a run is kept when nobody said so: in a folder of its own that git does not see. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReportWish } from '../../reporters/report-option.ts'
import type { Io } from '../io.ts'

const FOLDER = '.handover-sim'
export const KEPT_JOURNAL = `${FOLDER}/journal.jsonl`

/** A folder that cannot be made is for the report to complain about. */
export function keptJournal({ cwd }: Pick<Io, 'cwd'>): ReportWish {
  try {
    mkdirSync(join(cwd, FOLDER), { recursive: true })
    writeFileSync(join(cwd, FOLDER, '.gitignore'), '*\n')
  } catch {
    // Said with the file that could not be written.
  }
  return { report: 'journal', file: KEPT_JOURNAL }
}
