/** Renders a scenario: one line, or a block with details when it failed. */

import type { RunReport, ScenarioReport } from '../evaluator/wording/report.ts'
import { formatMs, pad, shorten, visible, widthOf, wrap } from '../text/terminal-text.ts'
import { causeOf, type Layout } from './failure.ts'
import { detailLines, outsideDetailLines } from './failure-details.ts'
import { OUTCOME_STYLES } from './theme.ts'

/** `scenarios/happy.yaml > Happy path`, `… #2` when it is repeated. */
export const titleOf = ({ file, name, instance }: Pick<ScenarioReport, 'file' | 'name' | 'instance'>): string =>
  visible(`${file} > ${name}${instance > 1 ? ` #${instance}` : ''}`)

const INDENT = '  '

/** Environment failures have a reason and no details. */
export const hasDetails = ({ failures }: ScenarioReport): boolean => failures.some(({ kind }) => kind !== 'environment')

/** Groups scenarios with equal lines: repetitions, and scenarios that were not played for the same reason. */
export function shortLines(scenarios: readonly ScenarioReport[], layout: Layout): string[] {
  const groups = new Map<string, [ScenarioReport, ...ScenarioReport[]]>()
  for (const scenario of scenarios) {
    const key = shortKey(scenario)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [scenario])
    else group.push(scenario)
  }
  return [...groups.values()].flatMap(group =>
    group.length === 1 ? shortScenario(group[0], layout) : groupLine(group, layout),
  )
}

const shortKey = (scenario: ScenarioReport): string =>
  JSON.stringify(
    scenario.outcome === 'pass'
      ? [scenario.file, scenario.name, scenario.warnings.length > 0 && scenario.instance]
      : [scenario.outcome, scenario.reason ?? scenario],
  )

function groupLine(group: readonly [ScenarioReport, ...ScenarioReport[]], layout: Layout): string[] {
  const [first] = group
  const { word, shade } = OUTCOME_STYLES[first.outcome]
  if (first.outcome !== 'pass')
    return withReason(`${layout.theme[shade](word)} ${group.length} scenarios`, first.reason ?? '', layout)
  const time = group.reduce((sum, { durationMs }) => sum + durationMs, 0) / group.length
  const times = `${group.length} times, ${formatMs(time)} each`
  return [`${layout.theme[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${layout.theme.faint(times)}`]
}

/** Puts a reason on lines of its own on a narrow terminal, and the output of a program always. */
const NARROW = 80

function withReason(head: string, why: string, { columns }: Layout): string[] {
  const [first = '', ...more] = why.split('\n').map(visible)
  if (first === '') return [head]
  const [beside, below] = columns >= NARROW ? [`${head}  ${first}`, more] : [head, [first, ...more]]
  return [beside, ...below.flatMap(line => wrap(line, columns - 4)).map(line => `    ${line}`)]
}

export const scenarioLines = (scenario: ScenarioReport, layout: Layout): string[] =>
  hasDetails(scenario) ? storyOf(scenario, layout) : shortScenario(scenario, layout)

function shortScenario(scenario: ScenarioReport, layout: Layout): string[] {
  const { theme } = layout
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const warnings = scenario.warnings.length === 0 ? '' : `  ${theme.warn(warned(scenario.warnings.length))}`
  const because = scenario.reason ?? causeOf(scenario)
  const time = scenario.outcome === 'skipped' ? '' : `  ${theme.faint(formatMs(scenario.durationMs))}`
  return withReason(`${theme[shade](word)} ${titleOf(scenario)}${time}${warnings}`, because, layout)
}

const warned = (count: number) => `${count} warning${count === 1 ? '' : 's'}`

const storyOf = (scenario: ScenarioReport, layout: Layout): string[] => [
  headLine(scenario, layout),
  ...indented(detailLines(scenario, inner(layout))),
  ...(factsBelow(scenario, layout.columns) ? indented([layout.theme.faint(factsOf(scenario))]) : []),
]

/** The block of failures outside of every scenario. */
export function outsideLines(result: RunReport, layout: Layout): string[] {
  if (result.failures.length === 0) return []
  const head = `${layout.theme.bad('FAIL')} ${layout.theme.strong('outside every scenario')}`
  return [head, ...indented(outsideDetailLines(result, inner(layout)))]
}

const inner = (layout: Layout): Layout => ({ ...layout, columns: layout.columns - INDENT.length })
const indented = (lines: readonly string[]) => lines.map(line => `${INDENT}${line}`)

/** `FAIL scenarios/happy.yaml > Happy path          seed 1, real clock, 6.4 s`. */
function headLine(scenario: ScenarioReport, { columns, theme }: Layout): string {
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const title = titleOf(scenario)
  const head = theme[shade](word)
  if (factsBelow(scenario, columns)) return `${head} ${theme.strong(title)}`
  const facts = factsOf(scenario)
  const titleColumns = Math.max(20, columns - widthOf(word) - widthOf(facts) - 4)
  return `${head} ${theme.strong(pad(shorten(title, titleColumns), titleColumns))}  ${theme.faint(facts)}`
}

const factsOf = ({ seed, clock, durationMs }: ScenarioReport) => `seed ${seed}, ${clock} clock, ${formatMs(durationMs)}`

/** On a narrow terminal the facts come last, so that the cause stays in the second line. */
const factsBelow = (scenario: ScenarioReport, columns: number) =>
  columns < NARROW && widthOf(`FAIL ${titleOf(scenario)}  ${factsOf(scenario)}`) > columns
