/** Defines the colours of reports by meaning. Layout comes before colours. */
import { Chalk } from 'chalk'
import type { Outcome } from '../../evaluation/evaluator/verdict.ts'

/** The colour level of Chalk: 0 is none. */
export type ColorLevel = 0 | 1 | 2 | 3

export type Shade = 'plain' | 'faint' | 'strong' | 'good' | 'warn' | 'bad' | 'hint'
export type Theme = Readonly<Record<Shade, (text: string) => string>>

export function createTheme(level: ColorLevel): Theme {
  const chalk = new Chalk({ level })
  return {
    plain: text => text,
    faint: chalk.dim,
    strong: chalk.bold,
    good: chalk.green,
    warn: chalk.yellow,
    bad: chalk.red,
    hint: chalk.cyan,
  }
}

export const OUTCOME_STYLES: Readonly<Record<Outcome, { readonly word: string; readonly shade: Shade }>> = {
  pass: { word: 'PASS', shade: 'good' },
  fail: { word: 'FAIL', shade: 'bad' },
  error: { word: 'ERROR', shade: 'bad' },
  inconclusive: { word: 'INCONCLUSIVE', shade: 'warn' },
  skipped: { word: 'SKIP', shade: 'faint' },
}
