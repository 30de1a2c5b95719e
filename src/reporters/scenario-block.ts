/** One play as a block of text: a line when all is well, the whole story when it is not. */

import type { RunResult, ScenarioResult } from '../evaluator/verdict.ts'
import { formatMs, pad, shorten, widthOf, wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import type { Layout } from './failure.ts'
import { outsideLines, storyLines } from './failure-details.ts'
import { OUTCOMES } from './theme.ts'

/** `scenarios/happy.yaml > Happy path`, `… #2` when it is repeated. */
export const titleOf = ({ file, name, instance }: Pick<ScenarioResult, 'file' | 'name' | 'instance'>): string =>
  visible(`${file} > ${name}${instance > 1 ? ` #${instance}` : ''}`)

const INDENT = '  '

/** What failed for want of its surroundings has a reason, and no story. */
export const hasStory = ({ failures }: ScenarioResult): boolean => failures.some(({ kind }) => kind !== 'environment')

/** Plays without a story that say the same: repeats of one scenario, or all that could not be played for one reason. */
export function shortLines(scenarios: readonly ScenarioResult[], layout: Layout): string[] {
  const groups = new Map<string, ScenarioResult[]>()
  for (const played of scenarios) {
    const key = sameLine(played)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [played])
    else group.push(played)
  }
  return [...groups.values()].flatMap(group =>
    group.length === 1 ? shortPlay(group[0]!, layout) : groupLine(group, layout),
  )
}

const sameLine = (played: ScenarioResult): string =>
  JSON.stringify(
    played.outcome === 'pass'
      ? [played.file, played.name, played.warnings.length > 0 && played.instance]
      : [played.outcome, played.reason ?? played],
  )

function groupLine(group: readonly ScenarioResult[], layout: Layout): string[] {
  const [first] = group as [ScenarioResult]
  const { word, shade } = OUTCOMES[first.outcome]
  if (first.outcome !== 'pass')
    return withReason(`${layout.theme[shade](word)} ${group.length} scenarios`, first.reason ?? '', layout)
  const time = group.reduce((sum, { durationMs }) => sum + durationMs, 0) / group.length
  const times = `${group.length} times, ${formatMs(time)} each`
  return [`${layout.theme[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${layout.theme.faint(times)}`]
}

/** On a narrow terminal a reason has lines of its own; what a program said last, always. */
const NARROW = 80

function withReason(head: string, why: string, { columns }: Layout): string[] {
  const [first = '', ...more] = why.split('\n').map(visible)
  if (first === '') return [head]
  const [beside, below] = columns >= NARROW ? [`${head}  ${first}`, more] : [head, [first, ...more]]
  return [beside, ...below.flatMap(line => wrap(line, columns - 4)).map(line => `    ${line}`)]
}

export const playLines = (played: ScenarioResult, layout: Layout): string[] =>
  hasStory(played) ? storyOf(played, layout) : shortPlay(played, layout)

function shortPlay(played: ScenarioResult, layout: Layout): string[] {
  const { theme } = layout
  const { word, shade } = OUTCOMES[played.outcome]
  const warnings = played.warnings.length === 0 ? '' : `  ${theme.warn(warned(played.warnings.length))}`
  const because = played.reason ?? played.failures[0]?.happened ?? ''
  const time = played.outcome === 'skipped' ? '' : `  ${theme.faint(formatMs(played.durationMs))}`
  return withReason(`${theme[shade](word)} ${titleOf(played)}${time}${warnings}`, because, layout)
}

const warned = (count: number) => `${count} warning${count === 1 ? '' : 's'}`

const storyOf = (played: ScenarioResult, layout: Layout): string[] => [
  headLine(played, layout),
  ...indented(storyLines(played, inner(layout))),
  ...(factsBelow(played, layout.columns) ? indented([layout.theme.faint(factsOf(played))]) : []),
]

/** What belongs to no scenario. */
export function outsideStory(result: RunResult, layout: Layout): string[] {
  if (result.failures.length === 0) return []
  const head = `${layout.theme.bad('FAIL')} ${layout.theme.strong('outside every scenario')}`
  return [head, ...indented(outsideLines(result, inner(layout)))]
}

const inner = (layout: Layout): Layout => ({ ...layout, columns: layout.columns - INDENT.length })
const indented = (lines: readonly string[]) => lines.map(line => `${INDENT}${line}`)

/** `FAIL scenarios/happy.yaml > Happy path          seed 1, real clock, 6.4 s`. */
function headLine(played: ScenarioResult, { columns, theme }: Layout): string {
  const { word, shade } = OUTCOMES[played.outcome]
  const title = titleOf(played)
  const head = theme[shade](word)
  if (factsBelow(played, columns)) return `${head} ${theme.strong(title)}`
  const facts = factsOf(played)
  const room = Math.max(20, columns - widthOf(word) - widthOf(facts) - 4)
  return `${head} ${theme.strong(pad(shorten(title, room), room))}  ${theme.faint(facts)}`
}

const factsOf = ({ seed, clock, durationMs }: ScenarioResult) => `seed ${seed}, ${clock} clock, ${formatMs(durationMs)}`

/** On a narrow terminal they stand at the end, so that the cause stays in the second line. */
const factsBelow = (played: ScenarioResult, columns: number) =>
  columns < NARROW && widthOf(`FAIL ${titleOf(played)}  ${factsOf(played)}`) > columns
