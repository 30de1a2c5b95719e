/** Renders the report for a terminal: a line per passed scenario, details of failed ones, and a summary. */
import { groupBy } from '../contract/objects.ts'
import type { Outcome } from '../evaluator/verdict.ts'
import { exitCodeText, OUTCOME_TEXTS, type RunReport, type ScenarioReport } from '../evaluator/wording/report.ts'
import { counted } from '../text/quantities.ts'
import { formatMs, pad, shorten, visible, widthOf, wrap } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { causeOf, detailLines, type Layout, outsideDetailLines, outsideText } from './failures.ts'
import { type ColorLevel, createTheme, OUTCOME_STYLES } from './theme.ts'

const TEXTS = defineTexts({
  scenarios: (count: number) => `${count} scenarios`,
  times: (count: number, average: string) => `${count} times, ${average} each`,
  facts: (seed: number, clock: string, duration: string) => `seed ${seed}, ${clock} clock, ${duration}`,
  warnings: 'Warnings',
  rule: (rule: string, count: number, where: string) => `${rule}: ${counted(count, 'time')}, in ${where}`,
  more: (count: number) => ` and ${count} more`,
  slowest: 'Slowest',
  nothing: 'nothing was played',
  stopped: (reason: string) => `stopped early: ${reason}`,
  outside: (count: number) => `${counted(count, 'failure')} outside every scenario`,
  target: (url: string) => `target ${url}`,
  seed: (seed: number) => `, seed ${seed}`,
  exit: (code: number, meaning: string) => `exit ${code}${meaning}`,
  someInconclusive: (count: number) =>
    `passed, but ${counted(count, 'result')} inconclusive; with --strict this is exit 4`,
})

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

/** `scenarios/happy.yaml > Happy path`, `… #2` when it is repeated. */
export const titleOf = ({ file, name, instance }: Pick<ScenarioReport, 'file' | 'name' | 'instance'>): string =>
  visible(`${file} > ${name}${instance > 1 ? ` #${instance}` : ''}`)

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
    return withReason(`${layout.theme[shade](word)} ${TEXTS.scenarios(group.length)}`, first.reason ?? '', layout)
  const time = group.reduce((sum, { durationMs }) => sum + durationMs, 0) / group.length
  return [
    `${layout.theme[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${layout.theme.faint(TEXTS.times(group.length, formatMs(time)))}`,
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

export const scenarioLines = (scenario: ScenarioReport, layout: Layout): string[] =>
  hasDetails(scenario) ? storyOf(scenario, layout) : shortScenario(scenario, layout)

function shortScenario(scenario: ScenarioReport, layout: Layout): string[] {
  const { theme } = layout
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const warnings = scenario.warnings.length === 0 ? '' : `  ${theme.warn(counted(scenario.warnings.length, 'warning'))}`
  const because = scenario.reason ?? causeOf(scenario)
  const time = scenario.outcome === 'skipped' ? '' : `  ${theme.faint(formatMs(scenario.durationMs))}`
  return withReason(`${theme[shade](word)} ${titleOf(scenario)}${time}${warnings}`, because, layout)
}

const storyOf = (scenario: ScenarioReport, layout: Layout): string[] => [
  headLine(scenario, layout),
  ...indented(detailLines(scenario, inner(layout))),
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
  const title = titleOf(scenario)
  const head = theme[shade](word)
  if (factsBelow(scenario, columns)) return `${head} ${theme.strong(title)}`
  const facts = factsOf(scenario)
  const titleColumns = Math.max(20, columns - widthOf(word) - widthOf(facts) - 4)
  return `${head} ${theme.strong(pad(shorten(title, titleColumns), titleColumns))}  ${theme.faint(facts)}`
}

const factsOf = ({ seed, clock, durationMs }: ScenarioReport) => TEXTS.facts(seed, clock, formatMs(durationMs))

/** On a narrow terminal the facts come last, so that the cause stays in the second line. */
const factsBelow = (scenario: ScenarioReport, columns: number) =>
  columns < NARROW && widthOf(`FAIL ${titleOf(scenario)}  ${factsOf(scenario)}`) > columns

const SLOWEST = 3
const MAX_NAMES = 3

export function summaryLines(result: RunReport, layout: Layout): string[] {
  return [...warnings(result, layout), ...slowest(result, layout), ...totals(result, layout)]
}

function warnings({ scenarios }: RunReport, { theme, columns }: Layout): string[] {
  const all = scenarios.flatMap(({ warnings, name }) => warnings.map(({ rule }) => ({ rule, name })))
  if (all.length === 0) return []
  const byRule = [...groupBy(all, ({ rule }) => rule)].sort(([, a], [, b]) => b.length - a.length)
  const lines = byRule.map(([rule, group]) => {
    const names = [...new Set(group.map(({ name }) => name))]
    const where = names.slice(0, MAX_NAMES).join(', ')
    return TEXTS.rule(
      rule,
      group.length,
      `${where}${names.length > MAX_NAMES ? TEXTS.more(names.length - MAX_NAMES) : ''}`,
    )
  })
  return [TEXTS.warnings, ...lines.map(line => `  ${theme.warn(shorten(visible(line), columns - 2))}`), '']
}

function slowest(result: RunReport, { columns }: Layout): string[] {
  const scenarios = result.scenarios.filter(({ durationMs }) => durationMs > 0)
  if (scenarios.length <= SLOWEST) return []
  const longest = [...scenarios].sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST)
  const timed = longest.map(scenario => ({ time: formatMs(scenario.durationMs), title: titleOf(scenario) }))
  const wide = Math.max(...timed.map(({ time }) => time.length))
  const lines = timed.map(({ time, title }) => shorten(`  ${time.padStart(wide)}  ${title}`, columns))
  return [TEXTS.slowest, ...lines, '']
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
  const what = parts.length === 0 ? TEXTS.nothing : parts.join(', ')
  return `${counted(scenarios.length, 'scenario')} in ${formatMs(durationMs)}: ${what}`
}

function totals(result: RunReport, { theme, columns }: Layout): string[] {
  const stopped = isStopShown(result)
    ? []
    : wrap(TEXTS.stopped(visible(result.stopped ?? '')), columns).map(line => theme.bad(line))
  const orphans = result.failures.length === 0 ? [] : [theme.bad(TEXTS.outside(result.failures.length))]
  const meaning = meaningOf(result)
  return [
    countsText(result, (outcome, text) => theme[OUTCOME_STYLES[outcome].shade](text)),
    ...orphans,
    ...stopped,
    `${TEXTS.target(visible(result.target))}${result.seed === null ? '' : TEXTS.seed(result.seed)}`,
    ...wrap(TEXTS.exit(result.exitCode, meaning === undefined ? '' : `: ${meaning}`), columns),
  ]
}

/** The lines of the scenarios show the reason when none was played. */
const isStopShown = ({ stopped, scenarios }: RunReport): boolean =>
  stopped === null || (scenarios.length > 0 && scenarios.every(({ reasonCode }) => reasonCode === 'unreachable'))

/** Mentions inconclusive results, which do not change the exit code without `--strict`. */
function meaningOf({ exitCode, counts }: RunReport): string | undefined {
  if (exitCode !== 0 || counts.inconclusive === 0) return exitCodeText(exitCode)
  return TEXTS.someInconclusive(counts.inconclusive)
}
