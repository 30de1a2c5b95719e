/** Renders failures and the details of a failed scenario: steps, nearest calls, warnings, diagram, rerun command. */
import { groupBy } from '../../base/objects.ts'
import { pad, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import { groupOf } from '../../evaluation/evaluator/causes.ts'
import { targetOutputHeading } from '../../evaluation/evaluator/outcomes.ts'
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { type Difference, type Failure, findingText, type NearMiss } from '../../evaluation/finding.ts'
import { placeText } from '../../evaluation/scenario/plan.ts'
import type { TimelineSource } from '../../evaluation/timeline/timeline.ts'
import { diagramOf } from './diagram.ts'
import { createTheme, type Layout, type Shade, type Theme, wrapped } from './theme.ts'

/** Names the failures that belong to no scenario. */
export const OUTSIDE = 'outside every scenario'

/** A failure in one line that is complete by itself: `happened` says what was expected where it differs. */
export const headlineOf = ({ step, expected, happened }: Pick<Failure, 'step' | 'expected' | 'happened'>): string =>
  step === null ? `${happened} (expected: ${expected})` : `step ${step.number}: ${happened}`

/** The headline of the first failure, else why the scenario has no verdict; empty when it passed. */
export const causeOf = ({ failures: [first], reason }: Pick<ScenarioResult, 'failures' | 'reason'>): string =>
  first === undefined ? (reason?.text ?? '') : headlineOf(first)

/** For files: no colours, and lines that fit into most viewers. */
export const PLAIN_LAYOUT: Layout = { columns: 100, theme: createTheme(0) }

/** Recommended steps that failed: warnings, which `--strict` makes failures. */
export const recommendedOf = ({ warnings }: Pick<ScenarioResult, 'warnings'>): Failure[] =>
  warnings.flatMap(({ code, failure }) => (code === 'recommended' && failure !== undefined ? [failure] : []))

export const rerunText = ({ rerunCommand }: Pick<ScenarioResult, 'rerunCommand'>): string =>
  `rerun: ${visible(rerunCommand)}`

const MAX_OTHERS = 5
const LABEL_COLUMNS = 9

/** The first line is the headline. */
export function failureLines(failure: Failure, layout: Layout): string[] {
  const { nearest, hint, rules } = failure
  const lines = failureHead(failure, layout)
  for (const [index, miss] of nearest.slice(0, MAX_OTHERS + 1).entries()) {
    const label = index === 0 ? 'nearest' : index === 1 ? 'others' : ''
    lines.push(...nearMissLines(label, miss, layout))
  }
  const left = nearest.length - 1 - MAX_OTHERS
  if (left > 0) lines.push(...labelled('', `… ${left} more`, 'faint', layout))
  if (hint !== undefined) lines.push(...labelled('hint', hint, 'hint', layout))
  if (rules.length > 0) lines.push(...labelled('rules', rules.join(', '), 'faint', layout))
  return lines
}

/** The headline, and `scenarios/happy.yaml:19:5  step 7/10  expect message { message: "Hi" } within 2s`. */
function failureHead(failure: Failure, layout: Layout): string[] {
  const { step, conversation, soft, expected } = failure
  const parts: string[] = []
  if (step?.place) parts.push(visible(placeText(step.place)))
  if (step === null) parts.push(chatText(conversation))
  else {
    const called = step.name ?? step.id
    const chat = chatText(step.conversation)
    parts.push(
      `step ${step.number}/${step.of}${called === null ? '' : ` ${visible(called)}`}${chat && `, ${chat}`}  ${visible(expected)}`,
    )
  }
  if (soft) parts.push('soft')
  const where = parts.filter(part => part !== '').join('  ')
  return [
    ...wrapped(visible(headlineOf(failure)), layout, 'bad', 'x '),
    ...(where === '' ? [] : wrapped(where, layout, 'plain', '  ')),
  ]
}

/** `main` is the only chat of its scenario. */
const chatText = (conversation: string | null) =>
  conversation === null || conversation === 'main' ? '' : `chat ${visible(conversation)}`

function nearMissLines(label: string, miss: NearMiss, layout: Layout): string[] {
  const after = `${miss.afterMs < 0 ? '-' : '+'}${(Math.abs(miss.afterMs) / 1000).toFixed(2)}s`
  const head = `#${miss.seq} ${visible(miss.what)} ${after}  ${visible(miss.why)}`
  const margin = ' '.repeat(2 + LABEL_COLUMNS)
  const inner = differenceLines(miss.differences, layout.columns - margin.length, layout.theme)
  return [...labelled(label, head, 'plain', layout), ...inner.map(line => `${margin}${line}`)]
}

function labelled(label: string, text: string, shade: Shade, { columns, theme }: Layout): string[] {
  const lines = wrap(visible(text), columns - 2 - LABEL_COLUMNS)
  return lines.map(
    (line, index) => `  ${theme.faint((index === 0 ? label : '').padEnd(LABEL_COLUMNS))}${theme[shade](line)}`,
  )
}

const MAX_PATH_COLUMNS = 28
/** Characters shown before the first one that differs. */
const CONTEXT_CHARS = 24
const MAX_VALUE_CHARS = 20_000

/** Shows expected and received on one line where they fit, else on two. */
function differenceLines(differences: readonly Difference[], columns: number, theme: Theme): string[] {
  const paths = differences.map(({ path }) => shorten(visible(path), MAX_PATH_COLUMNS))
  const margin = Math.max(0, ...paths.map(widthOf))
  const lines: string[] = []
  for (const [index, { expected, received, hint }] of differences.entries()) {
    const head = margin === 0 ? '' : `${pad(paths[index] ?? '', margin)}  `
    const available = Math.max(20, columns - widthOf(head) - 2)
    const texts = [expected, received].map(text => visible(text.slice(0, MAX_VALUE_CHARS)))
    const [minus, plus] = focus(texts[0] ?? '', texts[1] ?? '', available).map((text, at) => `${'-+'[at]} ${text}`)
    const why = hint === undefined ? '' : visible(hint)
    const [expectedText, receivedText] = [theme.good(minus ?? ''), theme.bad(plus ?? '')]
    if (widthOf(`${head}${minus}   ${plus}   ${why}`) <= columns) {
      lines.push(`${head}${expectedText}   ${receivedText}${why && `   ${theme.hint(why)}`}`)
      continue
    }
    const below = ' '.repeat(widthOf(head))
    lines.push(`${head}${expectedText}`, `${below}${receivedText}`)
    if (why !== '') lines.push(`${below}${theme.hint(shorten(why, available))}`)
  }
  return lines
}

/** Shortens both texts alike, around the first character that differs. */
function focus(a: string, b: string, columns: number): [string, string] {
  if (widthOf(a) <= columns && widthOf(b) <= columns) return [a, b]
  const [left, right] = [Array.from(a), Array.from(b)]
  let same = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same++
  const from = same - CONTEXT_CHARS <= 1 ? 0 : same - CONTEXT_CHARS
  const cut = (chars: readonly string[]) => shorten(`${from === 0 ? '' : '…'}${chars.slice(from).join('')}`, columns)
  return [cut(left), cut(right)]
}

/** Failures shown in full. Many failures of one scenario usually have one cause. */
const MAX_SHOWN = 10

/** Reasons that repeat a failure. */
const OF_FAILURES: readonly string[] = ['environment', 'scenario', 'internal', 'check_evicted', 'stopped']

export function detailLines(scenario: ScenarioResult, layout: Layout): string[] {
  const { failures, reason, steps, warnings } = scenario
  const lines = [...failureGroups(failures, layout), ...targetOutputLines(scenario, layout)]
  if (reason !== null && !(failures.length > 0 && OF_FAILURES.includes(reason.code)))
    for (const line of reason.text.split('\n')) lines.push(...wrapped(visible(line), layout))
  const notReached = steps.filter(({ outcome }) => outcome === 'not reached').map(({ number }) => number)
  if (notReached.length > 0) lines.push(...wrapped(`not reached: ${stepsText(notReached)}`, layout))
  for (const warning of warnings.slice(0, MAX_SHOWN))
    lines.push(...wrapped(`warning ${visible(warning.code)}: ${visible(findingText(warning))}`, layout, 'warn'))
  lines.push(...diagramLines(scenario, layout), rerunText(scenario))
  return lines.map(line => line.trimEnd())
}

/** The last lines that the target printed, as they are: not wrapped, and without control characters. */
export function targetOutputLines({ targetOutput }: Pick<ScenarioResult, 'targetOutput'>, layout: Layout): string[] {
  if (targetOutput === undefined) return []
  const lines = wrapped(visible(targetOutputHeading(targetOutput)), layout)
  for (const line of targetOutput.lines) lines.push(layout.theme.faint(`  | ${visible(line)}`))
  return lines
}

/** The first failure without details, for a scenario with the same cause as another one. */
export function briefLines(scenario: ScenarioResult, other: ScenarioResult, layout: Layout): string[] {
  const [first] = scenario.failures
  const same = `the same cause as in ${visible(other.name)}: details are in the json and html reports`
  return [
    ...(first === undefined ? [] : failureHead(first, layout)),
    ...wrapped(same, layout, 'faint'),
    rerunText(scenario),
  ]
}

/** The details of the failures that belong to no scenario. */
export function outsideDetailLines({ failures, journal }: RunResult, layout: Layout): string[] {
  const diagram = diagramLines({ journal, failures, conversations: {}, steps: [] }, layout)
  return [...failureGroups(failures, layout), ...diagram].map(line => line.trimEnd())
}

const diagramLines = (source: TimelineSource, { columns, theme }: Layout): string[] =>
  diagramOf(source, columns).map(({ text, shade }) => theme[shade](text))

/** Shows the first failure of each group in full, and counts the others: `and 7 more like it: steps 8, 9, 14-18`. */
function failureGroups(failures: readonly Failure[], layout: Layout): string[] {
  const shown = [...groupBy(failures, groupOf).values()].slice(0, MAX_SHOWN)
  const lines: string[] = []
  for (const [first, ...others] of shown) {
    lines.push(...failureLines(first, layout))
    if (others.length === 0) continue
    const steps: number[] = []
    const chats: string[] = []
    for (const { step, conversation } of others) {
      if (step !== null) steps.push(step.number)
      else if (conversation !== null && conversation !== 'main') chats.push(visible(conversation))
    }
    const where: string[] = []
    if (steps.length > 0) where.push(stepsText(steps.sort((a, b) => a - b)))
    if (chats.length > 0) where.push(`chat${chats.length === 1 ? '' : 's'} ${chats.join(', ')}`)
    const text = `and ${others.length} more like it${where.length === 0 ? '' : `: ${where.join('; ')}`}`
    lines.push(...wrapped(text, layout, 'bad', '  '))
  }
  const left = failures.length - shown.flat().length
  if (left > 0) lines.push(layout.theme.bad(`… ${left} more failures: the json and html reports have them all`))
  return lines
}

/** `steps 3, 8-10`. */
function stepsText(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
  return `step${numbers.length === 1 ? '' : 's'} ${texts.join(', ')}`
}
