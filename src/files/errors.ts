/** Describes problems of the user's flags, variables and files, and renders them with the line they are on. */
import { sentence } from '../text/error-text.ts'
import { REDACTED } from '../text/redactor.ts'
import { maskedLine } from '../text/secret-positions.ts'
import { visible } from '../text/terminal-text.ts'

export interface Problem {
  /** `--port`, `HANDOVER_SIM_PORT` or `handover-sim.config.yaml:3:7: webhook.url`. */
  readonly at: string
  /** Follows the place: `must be an integer, got the string "x"`. */
  readonly message: string
  /** The line of the file with a caret below. */
  readonly excerpt?: string
  /** The file it is in, as the user writes its name. */
  readonly file?: string
  readonly line?: number
}

/** A mistake of the user: the commands print it without a stack and exit with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.problems = problems
  }
}

export const formatProblem = ({ at, message, excerpt }: Problem): string =>
  `${visible(at)}: ${lines(sentence(message))}${excerpt === undefined ? '' : `\n${excerpt}`}`

const lines = (text: string): string => text.split('\n').map(visible).join('\n')

export const problem = (at: string, message: string): ConfigError => new ConfigError([{ at, message }])

/** A problem of a whole file. */
export const problemOf = (file: string, message: string): Problem => ({ at: file, file, message })

/** The error for one problem of a whole file. */
export const fileProblem = (file: string, message: string): ConfigError => new ConfigError([problemOf(file, message)])

export const byLine = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))

const EXCERPT_CHARS = 90

/**
 * The line of the source without secrets, cut around the column, and a caret under it. Control characters become
 * spaces.
 */
export function excerptOf(source: string, line: number, wrongColumn: number, length = 1): string {
  const lines = source.split(/\r?\n/)
  const shownLine = maskedLine(lines, line - 1)
  const text = shownLine.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
  const column = shownLine === lines[line - 1] ? wrongColumn : Math.min(wrongColumn, shownLine.indexOf(REDACTED) + 1)
  const from = Math.max(0, Math.min(column - 1 - EXCERPT_CHARS / 2, text.length - EXCERPT_CHARS))
  const shown = text.slice(from, from + EXCERPT_CHARS)
  const at = column - 1 - from
  const carets = '^'.repeat(Math.max(1, Math.min(length, shown.length - at)))
  const margin = String(line).replace(/./g, ' ')
  return `  ${line} | ${shown}\n  ${margin} | ${' '.repeat(at)}${carets}`
}
