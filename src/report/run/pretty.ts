/** The report for people: what went well in a line each, what did not with its story, the sums at the end. */
import type { Ran } from '../../scenario/verdict.ts'
import { type ColorLevel, createInk } from './ink.ts'
import { hasStory, outsideStory, playLines, shortLines } from './play.ts'
import { summaryLines } from './summary.ts'

export interface PrettyOptions {
  readonly colorLevel: ColorLevel
  /** Default 100. */
  readonly columns?: number | undefined
}

/** Below this nothing can be read, above it the eye loses the line. */
const NARROWEST = 40
const WIDEST = 160

export function prettyReport(ran: Ran, { colorLevel, columns = 100 }: PrettyOptions): string {
  const layout = { columns: Math.min(WIDEST, Math.max(NARROWEST, columns)), ink: createInk(colorLevel) }
  const [bad, rest] = [ran.plays.filter(hasStory), ran.plays.filter(play => !hasStory(play))]
  const blocks = [
    shortLines(rest, layout),
    ...bad.map(play => playLines(play, layout)),
    outsideStory(ran, layout),
    summaryLines(ran, layout),
  ]
  return `${blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')}\n`
}
