/** Renders a run for a terminal: a line for each passed scenario, details of failed ones, and a summary. */
import { counted } from '../../base/text/quantities.ts'
import { formatMs, pad, visible, widthOf } from '../../base/text/terminal-text.ts'
import { exitCodeText, OUTCOME_TEXTS } from '../../evaluation/evaluator/outcomes.ts'
import type { Outcome, RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { byScenarioGroup, SCENARIO_GROUPS } from '../../running/runner/schedule.ts'
import {
  briefLines,
  causeOf,
  detailLines,
  headlineOf,
  OUTSIDE,
  outsideDetailLines,
  recommendedOf,
  targetOutputLines,
} from './failures.ts'
import { type ColorLevel, createTheme, type Layout, OUTCOME_STYLES, wrapped } from './theme.ts'

export interface PrettyOptions {
  readonly colorLevel: ColorLevel
  /** Default 100. */
  readonly columns?: number | undefined
  /** That an exploration has run; the scenarios are the plain one and the shortest of each failure. */
  readonly conversations?: number | undefined
}

/** Narrower text is unreadable, and wider lines are hard to follow. */
const NARROWEST = 40
const WIDEST = 160

export const layoutFor = ({ colorLevel, columns = 100 }: PrettyOptions): Layout => ({
  columns: Math.min(WIDEST, Math.max(NARROWEST, columns)),
  theme: createTheme(colorLevel),
})

const INDENT = '  '

export function prettyReport(result: RunResult, options: PrettyOptions): string {
  const layout = layoutFor(options)
  const inner = { ...layout, columns: layout.columns - INDENT.length }
  const similar = similarScenarios(result)
  const blocks = [causes(result, layout)]
  const addBlock = (head: string, lines: readonly string[]) =>
    blocks.push([head, ...lines.map(line => `${INDENT}${line}`)])
  const groups = isUnreachable(result) ? [] : byScenarioGroup(result.scenarios)
  for (const [group, scenarios] of groups.length > 1 ? groups : [[null, result.scenarios] as const]) {
    const passed = scenarios.filter(({ outcome }) => outcome === 'pass').length
    const about = group === null ? '' : `${SCENARIO_GROUPS[group]}: ${passed} of ${scenarios.length} passed`
    const heading = group === null ? [] : [`${layout.theme.strong(group)}  ${layout.theme.faint(about)}`]
    blocks.push([...heading, ...shortLines(scenarios, layout)])
    for (const scenario of scenarios) {
      if (!hasDetails(scenario)) continue
      const first = similar.get(scenario)
      const details = first === undefined ? detailLines(scenario, inner) : briefLines(scenario, first, inner)
      const [head, ...below] = headLines(scenario, layout)
      addBlock(head, [...details, ...below])
    }
  }
  blocks.push(undetailedOutput(result, layout))
  if (result.failures.length > 0) {
    const head = `${layout.theme.bad('FAIL')} ${layout.theme.strong(OUTSIDE)}`
    addBlock(head, outsideDetailLines(result, inner))
  }
  blocks.push([
    ...warnings(result, layout),
    ...slowest(result, layout),
    ...totals(result, layout, options.conversations),
  ])
  const shown = blocks.filter(block => block.length > 0)
  return `${shown.map(block => block.join('\n')).join('\n\n')}\n`
}

const isUnreachable = ({ scenarios }: RunResult): boolean =>
  scenarios.length > 0 && scenarios.every(({ reason }) => reason?.code === 'unreachable')

/** Scenarios with one cause that are shown with their details. */
const DETAILED = 2

/** Scenarios that are shown briefly, each with the first one that has its cause. */
function similarScenarios({ causes, scenarios }: RunResult): Map<ScenarioResult, ScenarioResult> {
  const similar = new Map<ScenarioResult, ScenarioResult>()
  for (const cause of causes) {
    const [first, ...others] = cause.scenarios.flatMap(index => scenarios[index] ?? [])
    if (first !== undefined) for (const scenario of others.slice(DETAILED - 1)) similar.set(scenario, first)
  }
  return similar
}

type Titled = Pick<ScenarioResult, 'file' | 'name' | 'instance'>

/** `Happy path`, `Happy path #2` when it is repeated. */
const nameOf = ({ name, instance }: Titled): string => visible(`${name}${instance > 1 ? ` #${instance}` : ''}`)

/** `scenarios/happy.yaml > Happy path` */
export const titleOf = (scenario: Titled): string => `${visible(scenario.file)} > ${nameOf(scenario)}`

/** Shortens the path from its beginning, and never the name: `…/happy.yaml > Happy path`. */
function titleWithin(scenario: Titled, columns: number): string {
  const name = nameOf(scenario)
  const parts = visible(scenario.file).split('/')
  for (let from = 0; from < parts.length; from++) {
    const title = `${from === 0 ? '' : '…/'}${parts.slice(from).join('/')} > ${name}`
    if (widthOf(title) <= columns) return title
  }
  return name
}

/** Environment failures have a reason and no details. */
const hasDetails = ({ failures }: ScenarioResult): boolean => failures.some(({ kind }) => kind !== 'environment')

/** Groups scenarios with equal lines: repetitions, and scenarios that were not run for the same reason. */
function shortLines(scenarios: readonly ScenarioResult[], layout: Layout): string[] {
  const { theme } = layout
  const groups = new Map<string, [ScenarioResult, ...ScenarioResult[]]>()
  for (const scenario of scenarios) {
    if (hasDetails(scenario)) continue
    const { outcome, reason, file, name, instance, warnings } = scenario
    const repeated = [file, name, warnings.length > 0 && instance]
    const key = JSON.stringify(outcome === 'pass' ? repeated : [outcome, reason ?? scenario])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [scenario])
    else group.push(scenario)
  }
  const lines: string[] = []
  for (const group of groups.values()) {
    const [first] = group
    const { outcome, durationMs, warnings, reason } = first
    const recommended = recommendedOf(first)
    const { word, shade } = OUTCOME_STYLES[outcome === 'pass' && recommended.length > 0 ? 'warn' : outcome]
    if (group.length === 1) {
      const time = outcome === 'skipped' ? '' : `  ${theme.faint(formatMs(durationMs))}`
      const warned = warnings.length === 0 ? '' : `  ${theme.warn(counted(warnings.length, 'warning'))}`
      const head = `${theme[shade](word)} ${titleOf(first)}${time}${warned}`
      lines.push(...withReason(head, reason?.text ?? causeOf(first), layout))
      for (const failure of recommended.slice(0, MAX_RECOMMENDED)) {
        lines.push(...wrapped(visible(headlineOf(failure)), layout, 'warn', '    '))
        if (failure.hint !== undefined) lines.push(...wrapped(`hint: ${visible(failure.hint)}`, layout, 'hint', '    '))
      }
    } else if (outcome === 'pass') {
      let totalMs = 0
      for (const one of group) totalMs += one.durationMs
      const times = theme.faint(`${group.length} times, ${formatMs(totalMs / group.length)} each`)
      lines.push(`${theme[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${times}`)
    } else {
      lines.push(...withReason(`${theme[shade](word)} ${group.length} scenarios`, reason?.text ?? '', layout))
    }
  }
  return lines
}

/** What the target printed last, where only scenarios without details show it: in all of them the same end. */
function undetailedOutput({ scenarios }: RunResult, layout: Layout): string[] {
  const first = scenarios.find(({ targetOutput }) => targetOutput !== undefined)
  return first === undefined || scenarios.some(one => one.targetOutput && hasDetails(one))
    ? []
    : targetOutputLines(first, layout)
}

/** Shown of each scenario; the other reports have all. */
const MAX_RECOMMENDED = 3
const NARROW = 80

/** Puts a reason on lines of its own on a narrow terminal, and the output of a program always. */
function withReason(head: string, why: string, layout: Layout): string[] {
  const [first = '', ...more] = why.split('\n').map(visible)
  if (first === '') return [head]
  const [beside, below] = layout.columns >= NARROW ? [`${head}  ${first}`, more] : [head, [first, ...more]]
  return [beside, ...below.flatMap(line => wrapped(line, layout, 'plain', '    '))]
}

/**
 * `FAIL scenarios/happy.yaml > Happy path          seed 1, real clock, 6.4 s`. On a narrow terminal, or with a long name,
 * the facts come last, as a second line, so that the cause stays below the title.
 */
function headLines(scenario: ScenarioResult, { columns, theme }: Layout): [string, ...string[]] {
  const { word, shade } = OUTCOME_STYLES[scenario.outcome]
  const facts = `seed ${scenario.seed}, ${scenario.clock} clock, ${formatMs(scenario.durationMs)}`
  const head = theme[shade](word)
  const free = columns - widthOf(word) - widthOf(facts) - 4
  const title = titleWithin(scenario, free)
  if (widthOf(columns < NARROW ? titleOf(scenario) : title) > free)
    return [`${head} ${theme.strong(titleWithin(scenario, columns - widthOf(word) - 1))}`, theme.faint(facts)]
  return [`${head} ${theme.strong(pad(title, free))}  ${theme.faint(facts)}`]
}

const SLOWEST = 3
const MAX_NAMES = 3
const MAX_LISTED = 12

/** What several scenarios have failed for, which is often one bug. */
function causes({ causes, scenarios }: RunResult, layout: Layout): string[] {
  const lines: string[] = []
  for (const { text: cause, hint, scenarios: indexes } of causes) {
    lines.push(...wrapped(`one cause in ${indexes.length} scenarios: ${visible(cause)}`, layout, 'bad', '  '))
    const times = new Map<string, number>()
    for (const index of indexes) {
      const name = visible(scenarios[index]?.name ?? '')
      times.set(name, (times.get(name) ?? 0) + 1)
    }
    const shown: string[] = []
    let left = indexes.length
    for (const [name, count] of [...times].slice(0, MAX_LISTED)) {
      shown.push(count === 1 ? name : `${name} (${counted(count, 'time')})`)
      left -= count
    }
    const text = `${shown.join('; ')}${left === 0 ? '' : `; and ${left} more`}`
    lines.push(...wrapped(text, layout, 'plain', '    '))
    if (hint !== undefined) lines.push(...wrapped(`hint: ${visible(hint)}`, layout, 'plain', '    '))
  }
  return lines.length === 0 ? [] : ['Causes', ...lines]
}

function warnings({ scenarios }: RunResult, layout: Layout): string[] {
  const byRule = new Map<string, string[]>()
  for (const { name, warnings } of scenarios)
    for (const { code } of warnings) byRule.set(code, [...(byRule.get(code) ?? []), name])
  if (byRule.size === 0) return []
  const lines: string[] = []
  for (const [rule, group] of [...byRule].sort(([, a], [, b]) => b.length - a.length)) {
    const names = [...new Set(group)]
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
    const name = rule === 'recommended' ? 'recommended, not required (--strict fails)' : rule
    const text = `${name}: ${counted(group.length, 'time')}, in ${names.slice(0, MAX_NAMES).join(', ')}${more}`
    lines.push(...wrapped(visible(text), layout, 'warn', '  '))
  }
  return ['Warnings', ...lines, '']
}

function slowest(result: RunResult, { columns }: Layout): string[] {
  const scenarios = result.scenarios.filter(({ durationMs }) => durationMs > 0)
  if (scenarios.length <= SLOWEST) return []
  const longest = scenarios.sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST)
  const wide = Math.max(...longest.map(({ durationMs }) => formatMs(durationMs).length))
  const lines = ['Slowest']
  for (const scenario of longest)
    lines.push(`  ${formatMs(scenario.durationMs).padStart(wide)}  ${titleWithin(scenario, columns - wide - 4)}`)
  return [...lines, '']
}

const ORDER: readonly Outcome[] = ['pass', 'fail', 'error', 'inconclusive', 'skipped']

/** `6 scenarios in 7.0 s: 1 passed, 3 failed`. `conversations`: those of an exploration. */
export function countsText(
  { scenarios, counts, durationMs }: RunResult,
  paint = (_: Outcome, text: string) => text,
  conversations?: number,
): string {
  const parts: string[] = []
  for (const outcome of ORDER)
    if (counts[outcome] > 0) parts.push(paint(outcome, `${counts[outcome]} ${OUTCOME_TEXTS[outcome]}`))
  const texts = parts.join(', ') || 'no scenario was run'
  return conversations === undefined
    ? `${counted(scenarios.length, 'scenario')} in ${formatMs(durationMs)}: ${texts}`
    : `${counted(conversations, 'conversation')} in ${formatMs(durationMs)}. The plain one and the shortest of each failure: ${texts}`
}

function totals(result: RunResult, layout: Layout, conversations?: number): string[] {
  const { theme } = layout
  const { failures, stopped, target, seed, exitCode, counts } = result
  const lines = [countsText(result, (outcome, text) => theme[OUTCOME_STYLES[outcome].shade](text), conversations)]
  if (failures.length > 0) lines.push(theme.bad(`${counted(failures.length, 'failure')} ${OUTSIDE}`))
  // The lines of the scenarios show the reason when the target was unreachable.
  if (stopped !== null && !isUnreachable(result))
    lines.push(...wrapped(`stopped early: ${visible(stopped)}`, layout, 'bad'))
  lines.push(`target ${visible(target)}${seed === null ? '' : `, seed ${seed}`}`)
  let meaning = exitCodeText(exitCode)
  // Inconclusive results do not change the exit code without `--strict`.
  if (exitCode === 0 && counts.inconclusive > 0)
    meaning = `passed, but ${counted(counts.inconclusive, 'result')} inconclusive; with --strict this is exit 4`
  lines.push(...wrapped(`exit ${exitCode}${meaning === undefined ? '' : `: ${meaning}`}`, layout))
  return lines
}
