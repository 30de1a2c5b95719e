/** The story of a play that went wrong: its failures, what else was seen, what happened when, how to see it again. */

import type { RunResult, ScenarioResult } from '../evaluator/verdict.ts'
import type { LintFinding } from '../linter/rule.ts'
import { wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import { diagramOf } from './diagram.ts'
import { failureLines, type Layout } from './failure.ts'
import { type FailureGroup, groupFailures, othersText, ranges } from './group-failures.ts'
import type { Timed } from './timeline.ts'

/** Failures shown in full; a play that goes wrong everywhere has one cause most of the time. */
const SHOWN = 10

export function storyLines(played: ScenarioResult, layout: Layout): string[] {
  const reason = (played.reason ?? '').split('\n').flatMap(line => wrap(visible(line), layout.columns))
  const lines = [
    ...failuresText(played, layout),
    ...(played.reason === null ? [] : reason),
    ...notReached(played, layout),
    ...warningLines(played.warnings, layout),
    ...diagramText(played, layout),
    `again: ${visible(played.again)}`,
  ]
  return lines.map(line => line.trimEnd())
}

/** The same for failures that belong to no scenario. */
export function outsideLines({ failures, journal }: RunResult, layout: Layout): string[] {
  const diagram = diagramText({ journal, failures, conversations: {}, steps: [] }, layout)
  return [...failuresText({ failures }, layout), ...diagram].map(line => line.trimEnd())
}

function failuresText({ failures }: Pick<ScenarioResult, 'failures'>, layout: Layout): string[] {
  const groups = groupFailures(failures)
  const shown = groups.slice(0, SHOWN)
  const left = failures.length - shown.flat().length
  const lines = shown.flatMap(group => [...failureLines(group[0], layout), ...othersLines(group, layout)])
  return left > 0
    ? [...lines, layout.theme.bad(`… ${left} more failures: the json and html reports have them all`)]
    : lines
}

function othersLines(group: FailureGroup, { columns, theme }: Layout): string[] {
  const text = othersText(group)
  return text === null ? [] : wrap(text, columns - 2).map(line => theme.bad(`  ${line}`))
}

function notReached({ steps }: ScenarioResult, { columns }: Layout): string[] {
  const numbers = steps.filter(({ outcome }) => outcome === 'not reached').map(({ number }) => number)
  if (numbers.length === 0) return []
  return wrap(`not reached: step${numbers.length === 1 ? '' : 's'} ${ranges(numbers)}`, columns)
}

function warningLines(warnings: readonly LintFinding[], { columns, theme }: Layout): string[] {
  return warnings.slice(0, SHOWN).flatMap(({ rule, message }) => {
    const text = `warning ${visible(rule)}: ${visible(message)}`
    return wrap(text, columns).map(line => theme.warn(line))
  })
}

const diagramText = (timed: Timed, { columns, theme }: Layout): string[] =>
  diagramOf(timed, columns).map(({ text, shade }) => theme[shade](text))
