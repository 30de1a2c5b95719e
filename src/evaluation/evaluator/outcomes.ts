/** Renders outcomes, exit codes and the last output of the target as text. */
import type { TargetOutput } from '../../platform/journal/run-failures.ts'
import { INTERNAL_ERROR_CODE } from './verdict.ts'

/** The outcomes of scenarios, as they end a count: `3 passed`. */
export const OUTCOME_TEXTS = {
  pass: 'passed',
  fail: 'failed',
  error: 'could not be run',
  inconclusive: 'inconclusive',
  skipped: 'skipped',
}

const EXIT_CODES = {
  0: 'passed',
  1: 'an expectation failed',
  2: 'a file or a flag is invalid',
  3: 'the environment failed: target, agent driver, port or a report file',
  4: 'incomplete: the run stopped early, nothing ran, or a result that counts is inconclusive',
  [INTERNAL_ERROR_CODE]: 'internal error of handover-sim: please report it with the journal',
  129: 'interrupted: the terminal was closed (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'terminated (SIGTERM)',
}

const isExitCode = (code: number): code is keyof typeof EXIT_CODES => Object.hasOwn(EXIT_CODES, code)

/** What an exit code means; undefined for codes that no command has. */
export const exitCodeText = (code: number): string | undefined => (isExitCode(code) ? EXIT_CODES[code] : undefined)

/** Stands above the last lines that the target printed; says everything when it printed none. */
export const targetOutputHeading = ({ lines, file }: TargetOutput): string =>
  lines.length === 0
    ? 'the intermediary printed nothing'
    : `last output of the intermediary${file === null ? '' : `, from ${file}`}:`
