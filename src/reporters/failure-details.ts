/** Renders the details of a failed scenario: failures, warnings, the diagram and the rerun command. */
import type { FailureReport, RunReport, ScenarioReport, WarningReport } from '../evaluator/wording/report.ts'
import { visible, wrap } from '../text/terminal-text.ts'
import type { TimelineSource } from '../timeline/timeline.ts'
import { diagramOf } from './diagram.ts'
import { failureLines, type Layout } from './failure.ts'

/** Failures shown in full. Many failures of one scenario usually have one cause. */
const MAX_SHOWN = 10

export function detailLines(scenario: ScenarioReport, layout: Layout): string[] {
  const reason = (scenario.reason ?? '').split('\n').flatMap(line => wrap(visible(line), layout.columns))
  const lines = [
    ...failuresText(scenario, layout),
    ...(scenario.reason === null ? [] : reason),
    ...notReached(scenario, layout),
    ...warningLines(scenario.warnings, layout),
    ...diagramText(scenario, layout),
    `again: ${visible(scenario.rerunCommand)}`,
  ]
  return lines.map(line => line.trimEnd())
}

/** The same for failures outside of every scenario. */
export function outsideDetailLines({ failures, journal }: RunReport, layout: Layout): string[] {
  const diagram = diagramText({ journal, failures, conversations: {}, steps: [] }, layout)
  return [...failuresText({ failures }, layout), ...diagram].map(line => line.trimEnd())
}

function failuresText({ failures }: Pick<ScenarioReport, 'failures'>, layout: Layout): string[] {
  const groups = groupFailures(failures)
  const shown = groups.slice(0, MAX_SHOWN)
  const left = failures.length - shown.flat().length
  const lines = shown.flatMap(group => [...failureLines(group[0], layout), ...similarLines(group, layout)])
  return left > 0
    ? [...lines, layout.theme.bad(`… ${left} more failures: the json and html reports have them all`)]
    : lines
}

function similarLines(group: FailureGroup, { columns, theme }: Layout): string[] {
  const text = similarText(group)
  return text === null ? [] : wrap(text, columns - 2).map(line => theme.bad(`  ${line}`))
}

function notReached({ steps }: ScenarioReport, { columns }: Layout): string[] {
  const numbers = steps.filter(({ outcome }) => outcome === 'not reached').map(({ number }) => number)
  if (numbers.length === 0) return []
  return wrap(`not reached: step${numbers.length === 1 ? '' : 's'} ${ranges(numbers)}`, columns)
}

function warningLines(warnings: readonly WarningReport[], { columns, theme }: Layout): string[] {
  return warnings.slice(0, MAX_SHOWN).flatMap(warning => {
    const text = `warning ${visible(warning.rule)}: ${visible(warning.message)}`
    return wrap(text, columns).map(line => theme.warn(line))
  })
}

const diagramText = (timed: TimelineSource, { columns, theme }: Layout): string[] =>
  diagramOf(timed, columns).map(({ text, shade }) => theme[shade](text))

/** The first failure of a group, and the others. */
export type FailureGroup = readonly [FailureReport, ...FailureReport[]]

/** Groups equal failures, in the order of the first one of each group. */
function groupFailures(failures: readonly FailureReport[]): FailureGroup[] {
  const groups = new Map<string, [FailureReport, ...FailureReport[]]>()
  for (const failure of failures) {
    const key = failure.group
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [failure])
    else group.push(failure)
  }
  return [...groups.values()]
}

/** `and 7 more like it: steps 8, 9, 14-18`; null when there is none. */
function similarText([, ...others]: FailureGroup): string | null {
  if (others.length === 0) return null
  const steps = others.flatMap(({ step }) => (step === null ? [] : [step.number])).sort((a, b) => a - b)
  const chats = others.flatMap(({ step, conversation }) =>
    step === null && conversation !== null && conversation !== 'main' ? [visible(conversation)] : [],
  )
  const where = [
    steps.length === 0 ? '' : `step${steps.length === 1 ? '' : 's'} ${ranges(steps)}`,
    chats.length === 0 ? '' : `chat${chats.length === 1 ? '' : 's'} ${chats.join(', ')}`,
  ].filter(Boolean)
  return `and ${others.length} more like it${where.length === 0 ? '' : `: ${where.join('; ')}`}`
}

/** `3, 8-10`. */
function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
