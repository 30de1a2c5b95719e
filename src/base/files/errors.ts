/** Describes problems of the user's flags, variables and files, and renders them with the line they are on. */
import { groupBy } from '../objects.ts'
import { sentence } from '../text/error-text.ts'
import { REDACTED } from '../text/redactor.ts'
import { maskedLine } from '../text/secret-positions.ts'
import { visible, visibleLines } from '../text/terminal-text.ts'
import { BUDGETS } from './budgets.ts'

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
  /** How many further problems this one stands for. */
  readonly hidden?: number
}

/** A mistake of the user: the commands print it without a stack and exit with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    const shown = limitProblems(problems)
    super(shown.map(formatProblem).join('\n'))
    this.problems = shown
  }
}

/** The first problems of each file, and one that counts the others. `more` problems are not in the list. */
export function limitProblems(problems: readonly Problem[], more = 0): Problem[] {
  const limited: Problem[] = []
  for (const [file, group] of groupBy(problems, problem => problem.file ?? '')) {
    const shown = group.filter(problem => problem.hidden === undefined)
    let hidden = more + Math.max(0, shown.length - BUDGETS.problems)
    for (const problem of group) hidden += problem.hidden ?? 0
    limited.push(...shown.slice(0, BUDGETS.problems))
    if (hidden === 0) continue
    const message = `and ${hidden} more problem${hidden === 1 ? '' : 's'}, not shown`
    limited.push(file === '' ? { at: group[0].at, message, hidden } : { at: file, file, message, hidden })
  }
  return limited
}

export const formatProblem = ({ at, message, excerpt }: Problem): string =>
  `${visible(at)}: ${visibleLines(sentence(message))}${excerpt === undefined ? '' : `\n${excerpt}`}`

export const problem = (at: string, message: string): ConfigError => new ConfigError([{ at, message }])

/** A problem of a whole file. */
export const createProblem = (file: string, message: string): Problem => ({ at: file, file, message })

/** The error for one problem of a whole file. */
export const fileProblem = (file: string, message: string): ConfigError =>
  new ConfigError([createProblem(file, message)])

export const byLine = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))

const EXCERPT_CHARS = 90

export interface Position {
  readonly line: number
  readonly column: number
}

/** The line at a position without secrets, cut around the column, and a caret under it. Control characters become spaces. */
export type ExcerptAt = (position: Position, length?: number) => string

/** Splits the source into lines once, and masks each line once, because long sources can have many problems. */
export function createExcerpts(source: string): ExcerptAt {
  let lines: readonly string[] | null = null
  const masked = new Map<number, string>()
  return ({ line, column }, length = 1) => {
    lines ??= source.split(/\r?\n/)
    const text = masked.get(line) ?? maskedLine(lines, line - 1)
    masked.set(line, text)
    const shownColumn = text === lines[line - 1] ? column : Math.min(column, text.indexOf(REDACTED) + 1)
    const from = Math.max(0, Math.min(shownColumn - 1 - EXCERPT_CHARS / 2, text.length - EXCERPT_CHARS))
    const shown = text.slice(from, from + EXCERPT_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    const at = shownColumn - 1 - from
    const carets = '^'.repeat(Math.max(1, Math.min(length, shown.length - at)))
    const margin = String(line).replace(/./g, ' ')
    return `  ${line} | ${shown}\n  ${margin} | ${' '.repeat(at)}${carets}`
  }
}
