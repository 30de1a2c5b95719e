/** How a run went as a whole: counts, warnings by rule, what took longest, and what the exit code says. */

import type { Outcome, RunResult, ScenarioResult } from '../evaluator/verdict.ts'
import { counted } from '../text/counted.ts'
import { formatMs, shorten, wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import type { Layout } from './failure.ts'
import { titleOf } from './scenario-block.ts'
import { OUTCOMES } from './theme.ts'

const SLOWEST = 3
const MAX_NAMES = 3

export function summaryLines(result: RunResult, layout: Layout): string[] {
  return [...warnings(result, layout), ...slowest(result, layout), ...totals(result, layout)]
}

interface Group {
  count: number
  readonly names: Set<string>
}

function warningsByRule(scenarios: readonly ScenarioResult[]): [string, Group][] {
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

function warnings({ scenarios }: RunResult, { theme, columns }: Layout): string[] {
  const groups = warningsByRule(scenarios)
  if (groups.length === 0) return []
  const lines = groups.map(([rule, { count, names }]) => {
    const more = names.size > MAX_NAMES ? ` and ${names.size - MAX_NAMES} more` : ''
    const where = [...names].slice(0, MAX_NAMES).join(', ')
    return `  ${theme.warn(shorten(visible(`${rule}: ${counted(count, 'time')}, in ${where}${more}`), columns - 2))}`
  })
  return ['Warnings', ...lines, '']
}

function slowest(result: RunResult, { columns }: Layout): string[] {
  const scenarios = result.scenarios.filter(({ durationMs }) => durationMs > 0)
  if (scenarios.length <= SLOWEST) return []
  const longest = [...scenarios].sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST)
  const times = longest.map(({ durationMs }) => formatMs(durationMs))
  const wide = Math.max(...times.map(time => time.length))
  const lines = longest.map((scenario, index) =>
    shorten(`  ${times[index]!.padStart(wide)}  ${titleOf(scenario)}`, columns),
  )
  return ['Slowest', ...lines, '']
}

const ORDER: readonly Outcome[] = ['pass', 'fail', 'error', 'inconclusive', 'skipped']

/** `6 scenarios in 7.0 s: 1 passed, 3 failed`. */
export function countsText(
  { scenarios, counts, durationMs }: RunResult,
  paint = (_: Outcome, text: string) => text,
): string {
  const parts = ORDER.filter(outcome => counts[outcome] > 0).map(outcome =>
    paint(outcome, `${counts[outcome]} ${OUTCOMES[outcome].done}`),
  )
  const what = parts.length === 0 ? 'nothing was played' : parts.join(', ')
  return `${counted(scenarios.length, 'scenario')} in ${formatMs(durationMs)}: ${what}`
}

function totals(result: RunResult, { theme, columns }: Layout): string[] {
  const stopped = isStopShown(result)
    ? []
    : wrap(`stopped early: ${visible(result.stopped ?? '')}`, columns).map(line => theme.bad(line))
  const orphans =
    result.failures.length === 0
      ? []
      : [theme.bad(`${counted(result.failures.length, 'failure')} outside every scenario`)]
  const meaning = meaningOf(result)
  return [
    countsText(result, (outcome, text) => theme[OUTCOMES[outcome].shade](text)),
    ...orphans,
    ...stopped,
    `target ${visible(result.target)}${result.seed === null ? '' : `, seed ${result.seed}`}`,
    ...wrap(`exit ${result.exitCode}${meaning === undefined ? '' : `: ${meaning}`}`, columns),
  ]
}

/** When nothing could be played, the line of the scenarios has the reason. */
const isStopShown = ({ stopped, scenarios }: RunResult): boolean =>
  stopped === null || (scenarios.length > 0 && scenarios.every(({ reason }) => reason === stopped))

/** What could not be told is not well, even where it does not count. */
function meaningOf({ exitCode, counts }: RunResult): string | undefined {
  if (exitCode !== 0 || counts.inconclusive === 0) return EXITS[exitCode]
  return `what could be judged passed, ${counts.inconclusive} could not; --strict makes this exit 4`
}

const EXITS: Readonly<Record<number, string>> = {
  0: 'all is well',
  1: 'an expectation failed',
  2: 'a file or flag is wrong',
  3: 'the surroundings failed: target, driver, port or a report file',
  4: 'nothing was played, or nothing could be judged',
  130: 'interrupted',
  143: 'terminated',
}
