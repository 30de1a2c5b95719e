/** Renders the end of a report: warnings by rule, the slowest scenarios, counts and the exit code. */

import type { Outcome } from '../evaluator/verdict.ts'
import type { RunReport, ScenarioReport } from '../evaluator/wording/report.ts'
import { counted } from '../text/quantities.ts'
import { formatMs, shorten, visible, wrap } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../wording/outcomes.ts'
import type { Layout } from './failure.ts'
import { titleOf } from './scenario-block.ts'
import { OUTCOME_STYLES } from './theme.ts'

const TEXTS = defineTexts({
  warnings: 'Warnings',
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

const SLOWEST = 3
const MAX_NAMES = 3

export function summaryLines(result: RunReport, layout: Layout): string[] {
  return [...warnings(result, layout), ...slowest(result, layout), ...totals(result, layout)]
}

interface Group {
  count: number
  readonly names: Set<string>
}

function warningsByRule(scenarios: readonly ScenarioReport[]): [string, Group][] {
  const groups = new Map<string, Group>()
  for (const { warnings, name } of scenarios) {
    for (const { rule } of warnings) {
      const group = groups.get(rule) ?? { count: 0, names: new Set() }
      group.count++
      group.names.add(name)
      groups.set(rule, group)
    }
  }
  return [...groups].sort(([, a], [, b]) => b.count - a.count)
}

function warnings({ scenarios }: RunReport, { theme, columns }: Layout): string[] {
  const groups = warningsByRule(scenarios)
  if (groups.length === 0) return []
  const lines = groups.map(([rule, { count, names }]) => {
    const more = names.size > MAX_NAMES ? ` and ${names.size - MAX_NAMES} more` : ''
    const where = [...names].slice(0, MAX_NAMES).join(', ')
    return `  ${theme.warn(shorten(visible(`${rule}: ${counted(count, 'time')}, in ${where}${more}`), columns - 2))}`
  })
  return [TEXTS.warnings, ...lines, '']
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
