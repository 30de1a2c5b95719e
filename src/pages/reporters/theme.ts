/** Defines the colours of reports by meaning. Layout comes before colours. */
import { Chalk } from 'chalk'
import { visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { Outcome } from '../../evaluation/evaluator/verdict.ts'
import type { CheckOutcome } from '../../running/certifier/check.ts'

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

export interface Layout {
  readonly columns: number
  readonly theme: Theme
}

/** Wraps a text and paints its lines. The first line begins with `first`, the others with as many spaces. */
export function wrapped(text: string, { columns, theme }: Layout, shade: Shade = 'plain', first = ''): string[] {
  const rest = ' '.repeat(widthOf(first))
  const lines = wrap(text, columns - widthOf(first))
  return lines.map((line, index) => theme[shade](`${index === 0 ? first : rest}${line}`))
}

/** Wraps a text behind a label of so many columns, which the first line has. */
export function labelled(
  label: string,
  text: string,
  { columns, theme }: Layout,
  wide: number,
  shade: Shade,
): string[] {
  const lines = wrap(visible(text), columns - wide)
  return lines.map((line, index) => `${theme.faint((index === 0 ? label : '').padEnd(wide))}${theme[shade](line)}`)
}

/** The outcomes of scenarios and of checks. */
export const OUTCOME_STYLES: Readonly<
  Record<Outcome | CheckOutcome, { readonly word: string; readonly shade: Shade }>
> = {
  pass: { word: 'PASS', shade: 'good' },
  fail: { word: 'FAIL', shade: 'bad' },
  error: { word: 'ERROR', shade: 'bad' },
  warn: { word: 'WARN', shade: 'warn' },
  info: { word: 'INFO', shade: 'hint' },
  blocked: { word: 'BLOCKED', shade: 'faint' },
  inconclusive: { word: 'INCONCLUSIVE', shade: 'warn' },
  not_applicable: { word: 'N/A', shade: 'faint' },
  skipped: { word: 'SKIP', shade: 'faint' },
}
