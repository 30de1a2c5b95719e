/** Renders the report for a terminal: a line per passed scenario, details of failed ones, and a summary. */
import { groupBy } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, pad, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { Outcome } from '../../evaluation/evaluator/verdict.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../evaluation/evaluator/wording/outcomes.ts'
import type { RunReport, ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { briefLines, causeOf, detailLines, type Layout, outsideDetailLines, outsideText } from './failures.ts'
import { type ColorLevel, createTheme, OUTCOME_STYLES } from './theme.ts'

const TEXTS = {
  list: (names: string, more: number) => (more === 0 ? names : `${names}; and ${more} more`),
}

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
  const similar = similarScenarios(result)
  const blocks = [
    shortLines(rest, layout),
    ...bad.map(scenario => scenarioLines(scenario, layout, similar.get(scenario))),
    outsideLines(result, layout),
    summaryLines(result, layout),
  ]
  return `${blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')}\n`
}

/** Scenarios with one cause that are shown with their details. */
const DETAILED = 2

/** Scenarios that are shown briefly, each with the first one that has its cause. */
function similarScenarios({ causes, scenarios }: RunReport): Map<ScenarioReport, ScenarioReport> {
  const pairs = causes.flatMap(({ scenarios: indexes }) => {
    const [first, ...others] = indexes.flatMap(index => scenarios[index] ?? [])
    return first === undefined ? [] : others.slice(DETAILED - 1).map(scenario => [scenario, first] as const)
  })
  return new Map(pairs)
}

type Titled = Pick<ScenarioReport, 'file' | 'name' | 'instance'>

/** `Happy path`, `Happy path #2` when it is repeated. */
const nameOf = ({ name, instance }: Omit<Titled, 'file'>): string =>
  visible(`${name}${instance > 1 ? ` #${instance}` : ''}`)

/** `scenarios/happy.yaml > Happy path` */
export const titleOf = (scenario: Titled): string => `${visible(scenario.file)} > ${nameOf(scenario)}`

/** Shortens the path from its beginning, and never the name: `…/happy.yaml > Happy path`. */
function titleWithin(scenario: Titled, columns: number): string {
  const [file, name] = [visible(scenario.file), nameOf(scenario)]
  const parts = file.split('/')
  const paths = parts.map((_, index) => (index === 0 ? file : `…/${parts.slice(index).join('/')}`))
  const titles = paths.map(path => `${path} > ${name}`)
  return titles.find(title => widthOf(title) <= columns) ?? name
}

const INDENT = '  '

/** Environment failures have a reason and no details. */
export const hasDetails = ({ failures }: ScenarioReport): boolean => failures.some(({ kind }) => kind !== 'environment')

/** Groups scenarios with equal lines: repetitions, and scenarios that were not played for the same reason. */
export function shortLines(scenarios: readonly ScenarioReport[], layout: Layout): string[] {
  const groups = groupBy(scenarios, shortKey)
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
  return [
    `${layout.theme[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${layout.theme.faint(`${group.length} times, ${formatMs(time)} each`)}`,
  ]
}

/** Puts a reason on lines of its own on a narrow terminal, and the output of a program always. */
const NARROW = 80

function withReason(head: string, why: string, { columns }: Layout): string[] {
  const [first = '', ...more] = why.split('\n').map(visible)
  if (first === '') return [head]
  const [beside, below] = columns >= NARROW ? [`${head}  ${first}`, more] : [head, [first, ...more]]
  return [beside, ...below.flatMap(line => wrap(line, columns - 4)).map(line => `    ${line}`)]
}

/** `similar`: a scenario with the same cause that is shown in full. */
export const scenarioLines = (scenario: ScenarioReport, layout: Layout, similar?: ScenarioReport): string[] =>
  hasDetails(scenario) ? storyOf(scenario, layout, similar) : shortScenario(scenario, layout)

function shortScenario(scenario: ScenarioReport, layout: Layout): string[] {
  const { theme } = layout
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const warnings = scenario.warnings.length === 0 ? '' : `  ${theme.warn(counted(scenario.warnings.length, 'warning'))}`
  const because = scenario.reason ?? causeOf(scenario)
  const time = scenario.outcome === 'skipped' ? '' : `  ${theme.faint(formatMs(scenario.durationMs))}`
  return withReason(`${theme[shade](word)} ${titleOf(scenario)}${time}${warnings}`, because, layout)
}

const storyOf = (scenario: ScenarioReport, layout: Layout, similar: ScenarioReport | undefined): string[] => [
  headLine(scenario, layout),
  ...indented(
    similar === undefined ? detailLines(scenario, inner(layout)) : briefLines(scenario, similar, inner(layout)),
  ),
  ...(factsBelow(scenario, layout.columns) ? indented([layout.theme.faint(factsOf(scenario))]) : []),
]

/** The block of failures outside of every scenario. */
export function outsideLines(result: RunReport, layout: Layout): string[] {
  if (result.failures.length === 0) return []
  const head = `${layout.theme.bad('FAIL')} ${layout.theme.strong(outsideText())}`
  return [head, ...indented(outsideDetailLines(result, inner(layout)))]
}

const inner = (layout: Layout): Layout => ({ ...layout, columns: layout.columns - INDENT.length })
const indented = (lines: readonly string[]) => lines.map(line => `${INDENT}${line}`)

/** `FAIL scenarios/happy.yaml > Happy path          seed 1, real clock, 6.4 s`. */
function headLine(scenario: ScenarioReport, { columns, theme }: Layout): string {
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const head = theme[shade](word)
  if (factsBelow(scenario, columns)) {
    return `${head} ${theme.strong(titleWithin(scenario, columns - widthOf(word) - 1))}`
  }
  const free = titleColumns(scenario, columns)
  return `${head} ${theme.strong(pad(titleWithin(scenario, free), free))}  ${theme.faint(factsOf(scenario))}`
}

/** Beside the outcome and the facts. */
const titleColumns = (scenario: ScenarioReport, columns: number): number =>
  columns - widthOf(OUTCOME_STYLES[scenario.outcome].word) - widthOf(factsOf(scenario)) - 4

const factsOf = ({ seed, clock, durationMs }: ScenarioReport) => `seed ${seed}, ${clock} clock, ${formatMs(durationMs)}`

/** On a narrow terminal, or with a long name, the facts come last, so that the cause stays in the second line. */
function factsBelow(scenario: ScenarioReport, columns: number): boolean {
  const free = titleColumns(scenario, columns)
  return widthOf(columns < NARROW ? titleOf(scenario) : titleWithin(scenario, free)) > free
}

const SLOWEST = 3
const MAX_NAMES = 3

export function summaryLines(result: RunReport, layout: Layout): string[] {
  return [...causes(result, layout), ...warnings(result, layout), ...slowest(result, layout), ...totals(result, layout)]
}

/** What several scenarios have failed for, which is often one bug. */
function causes({ causes, scenarios }: RunReport, { theme, columns }: Layout): string[] {
  const lines = causes.flatMap(({ text, hint, scenarios: indexes }) => {
    const names = indexes.flatMap(index => scenarios.slice(index, index + 1).map(({ name }) => visible(name)))
    const below = [TEXTS.list(...countedNames(names)), ...(hint === undefined ? [] : [`hint: ${visible(hint)}`])]
    return [
      ...wrap(`one cause in ${indexes.length} scenarios: ${visible(text)}`, columns - 2).map(
        line => `  ${theme.bad(line)}`,
      ),
      ...below.flatMap(line => wrap(line, columns - 4)).map(line => `    ${line}`),
    ]
  })
  return lines.length === 0 ? [] : ['Causes', ...lines, '']
}

const MAX_LISTED = 12

/** The first names, with how often each occurs, and how many others there are. */
function countedNames(names: readonly string[]): [names: string, more: number] {
  const groups = [...groupBy(names, name => name).values()]
  const shown = groups.slice(0, MAX_LISTED)
  const left = names.length - shown.flat().length
  return [
    shown.map(group => (group.length === 1 ? group[0] : `${group[0]} (${counted(group.length, 'time')})`)).join('; '),
    left,
  ]
}

function warnings({ scenarios }: RunReport, { theme, columns }: Layout): string[] {
  const all = scenarios.flatMap(({ warnings, name }) => warnings.map(({ rule }) => ({ rule, name })))
  if (all.length === 0) return []
  const byRule = [...groupBy(all, ({ rule }) => rule)].sort(([, a], [, b]) => b.length - a.length)
  const lines = byRule.map(([rule, group]) => {
    const names = [...new Set(group.map(({ name }) => name))]
    const where = names.slice(0, MAX_NAMES).join(', ')
    return `${rule}: ${counted(group.length, 'time')}, in ${where}${names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''}`
  })
  const wrapped = lines.flatMap(line => wrap(visible(line), columns - 2))
  return ['Warnings', ...wrapped.map(line => `  ${theme.warn(line)}`), '']
}

function slowest(result: RunReport, { columns }: Layout): string[] {
  const scenarios = result.scenarios.filter(({ durationMs }) => durationMs > 0)
  if (scenarios.length <= SLOWEST) return []
  const longest = [...scenarios].sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST)
  const timed = longest.map(scenario => ({ time: formatMs(scenario.durationMs), scenario }))
  const wide = Math.max(...timed.map(({ time }) => time.length))
  const lines = timed.map(
    ({ time, scenario }) => `  ${time.padStart(wide)}  ${titleWithin(scenario, columns - wide - 4)}`,
  )
  return ['Slowest', ...lines, '']
}

const ORDER: readonly Outcome[] = ['pass', 'fail', 'error', 'inconclusive', 'skipped']

/** `6 scenarios in 7.0 s: 1 passed, 3 failed`. */
export function countsText(
  { scenarios, counts, durationMs }: RunReport,
  paint = (_: Outcome, text: string) => text,
): string {
  const parts = ORDER.filter(outcome => counts[outcome] > 0).map(outcome =>
    paint(outcome, `${counts[outcome]} ${OUTCOME_TEXTS[outcome]}`),
  )
  const what = parts.length === 0 ? 'nothing was played' : parts.join(', ')
  return `${counted(scenarios.length, 'scenario')} in ${formatMs(durationMs)}: ${what}`
}

function totals(result: RunReport, { theme, columns }: Layout): string[] {
  const stopped = isStopShown(result)
    ? []
    : wrap(`stopped early: ${visible(result.stopped ?? '')}`, columns).map(line => theme.bad(line))
  const orphans =
    result.failures.length === 0
      ? []
      : [theme.bad(`${counted(result.failures.length, 'failure')} outside every scenario`)]
  const meaning = meaningOf(result)
  return [
    countsText(result, (outcome, text) => theme[OUTCOME_STYLES[outcome].shade](text)),
    ...orphans,
    ...stopped,
    `target ${visible(result.target)}${result.seed === null ? '' : `, seed ${result.seed}`}`,
    ...wrap(`exit ${result.exitCode}${meaning === undefined ? '' : `: ${meaning}`}`, columns),
  ]
}

/** The lines of the scenarios show the reason when none was played. */
const isStopShown = ({ stopped, scenarios }: RunReport): boolean =>
  stopped === null || (scenarios.length > 0 && scenarios.every(({ reasonCode }) => reasonCode === 'unreachable'))

/** Mentions inconclusive results, which do not change the exit code without `--strict`. */
function meaningOf({ exitCode, counts }: RunReport): string | undefined {
  if (exitCode !== 0 || counts.inconclusive === 0) return exitCodeText(exitCode)
  return `passed, but ${counted(counts.inconclusive, 'result')} inconclusive; with --strict this is exit 4`
}
