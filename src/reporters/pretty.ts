/** Renders the report for a terminal: a line per passed scenario, details of failed ones, and a summary. */
import type { RunReport } from '../evaluator/wording/report.ts'
import { hasDetails, outsideLines, scenarioLines, shortLines } from './scenario-block.ts'
import { summaryLines } from './summary.ts'
import { type ColorLevel, createTheme } from './theme.ts'

export interface PrettyOptions {
  readonly colorLevel: ColorLevel
  /** Default 100. */
  readonly columns?: number | undefined
}

/** Narrower text is unreadable, and wider lines are hard to follow. */
const NARROWEST = 40
const WIDEST = 160

export function prettyReport(result: RunReport, { colorLevel, columns = 100 }: PrettyOptions): string {
  const layout = { columns: Math.min(WIDEST, Math.max(NARROWEST, columns)), theme: createTheme(colorLevel) }
  const [bad, rest] = [result.scenarios.filter(hasDetails), result.scenarios.filter(scenario => !hasDetails(scenario))]
  const blocks = [
    shortLines(rest, layout),
    ...bad.map(scenario => scenarioLines(scenario, layout)),
    outsideLines(result, layout),
    summaryLines(result, layout),
  ]
  return `${blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')}\n`
}
