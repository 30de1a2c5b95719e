/** Renders outcomes of scenarios and exit codes of commands. */
import { defineTexts } from '../text/texts.ts'

/** The outcomes of scenarios, as they end a count: `3 passed`. */
export const OUTCOME_TEXTS = defineTexts({
  pass: 'passed',
  fail: 'failed',
  error: 'could not be played',
  inconclusive: 'inconclusive',
  skipped: 'skipped',
})

const EXIT_CODES = defineTexts({
  0: 'passed',
  1: 'an expectation failed',
  2: 'a file or a flag is invalid',
  3: 'the environment failed: target, agent driver, port or a report file',
  4: 'no scenario was played, or all results are inconclusive',
  130: 'interrupted (SIGINT)',
  143: 'terminated (SIGTERM)',
})

const isExitCode = (code: number): code is keyof typeof EXIT_CODES => Object.hasOwn(EXIT_CODES, code)

/** What an exit code means; undefined for codes that no command has. */
export const exitCodeText = (code: number): string | undefined => (isExitCode(code) ? EXIT_CODES[code] : undefined)
