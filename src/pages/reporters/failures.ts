/** Renders failures and the details of a failed scenario: steps, nearest calls, warnings, diagram, rerun command. */
import { groupBy } from '../../base/objects.ts'
import { pad, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { StepRef } from '../../evaluation/evaluator/failure.ts'
import type {
  DifferenceReport,
  FailureReport,
  NearMissReport,
  RunReport,
  ScenarioReport,
  WarningReport,
} from '../../evaluation/evaluator/wording/report.ts'
import { placeText } from '../../evaluation/scenario/plan.ts'
import type { TimelineSource } from '../../evaluation/timeline/timeline.ts'
import { diagramOf } from './diagram.ts'
import { createTheme, type Shade, type Theme } from './theme.ts'

const TEXTS = {
  similar: (count: number, where: string) => `and ${count} more like it${where && `: ${where}`}`,
}

/** A failure in one line that is complete by itself: `happened` says what was expected where it differs. */
export const headlineOf = ({
  step,
  expected,
  happened,
}: Pick<FailureReport, 'step' | 'expected' | 'happened'>): string =>
  step === null ? `${happened} (expected: ${expected})` : `step ${step.number}: ${happened}`

/** The headline of the first failure, else why the scenario has no verdict; empty when it passed. */
export const causeOf = ({ failures: [first], reason }: Pick<ScenarioReport, 'failures' | 'reason'>): string =>
  first === undefined ? (reason ?? '') : headlineOf(first)

export interface Layout {
  readonly columns: number
  readonly theme: Theme
}

/** For files: no colours, and lines that fit into most viewers. */
export const PLAIN_LAYOUT: Layout = { columns: 100, theme: createTheme(0) }

/** Names the failures of no scenario. */
export const outsideText = (): string => 'outside every scenario'

export const againText = ({ rerunCommand }: Pick<ScenarioReport, 'rerunCommand'>): string =>
  `again: ${visible(rerunCommand)}`

const MAX_OTHERS = 5
const LABEL_COLUMNS = 9

/** The first line is the headline. */
export function failureLines(failure: FailureReport, layout: Layout): string[] {
  return [
    ...hanging('x ', visible(headlineOf(failure)), 'bad', layout),
    ...locationLines(failure, layout),
    ...nearestLines(failure.nearest, layout),
    ...labelled('hint', failure.hint, 'hint', layout),
    ...labelled('rules', failure.rules.join(', '), 'faint', layout),
  ]
}

/** Puts the mark before the first line, and indents the others. */
function hanging(mark: string, text: string, shade: Shade, { columns, theme }: Layout): string[] {
  const lines = wrap(text, columns - mark.length)
  return lines.map((line, index) => theme[shade](`${index === 0 ? mark : ' '.repeat(mark.length)}${line}`))
}

/** `scenarios/happy.yaml:19:5  step 7/10  expect message { message: "Hi" } within 2s`. */
function locationLines({ step, conversation, soft, expected }: FailureReport, layout: Layout): string[] {
  const parts = [
    step?.place ? visible(placeText(step.place)) : '',
    step === null ? chatText(conversation) : `${stepText(step)}  ${visible(expected)}`,
    soft ? 'soft' : '',
  ].filter(Boolean)
  return parts.length === 0 ? [] : hanging('  ', parts.join('  '), 'plain', layout)
}

/** `main` is the only chat of its scenario. */
const chatText = (conversation: string | null) =>
  conversation === null || conversation === 'main' ? '' : `chat ${visible(conversation)}`

function stepText({ number, of, id, name, conversation }: StepRef): string {
  const called = name ?? id
  const chat = chatText(conversation)
  return `step ${number}/${of}${called === null ? '' : ` ${visible(called)}`}${chat && `, ${chat}`}`
}

function nearestLines(nearest: readonly NearMissReport[], layout: Layout): string[] {
  const [first, ...others] = nearest
  if (first === undefined) return []
  const left = others.length - MAX_OTHERS
  return [
    ...nearMissLines('nearest', first, layout),
    ...others.slice(0, MAX_OTHERS).flatMap((miss, index) => nearMissLines(index === 0 ? 'others' : '', miss, layout)),
    ...(left > 0 ? labelled(' ', `… ${left} more`, 'faint', layout) : []),
  ]
}

function nearMissLines(label: string, miss: NearMissReport, layout: Layout): string[] {
  const after = `${miss.afterMs < 0 ? '-' : '+'}${(Math.abs(miss.afterMs) / 1000).toFixed(2)}s`
  const head = `#${miss.seq} ${visible(miss.what)} ${after}  ${visible(miss.why)}`
  const margin = ' '.repeat(2 + LABEL_COLUMNS)
  const inner = differenceLines(miss.differences, layout.columns - margin.length, layout.theme)
  return [...labelled(label || ' ', head, 'plain', layout), ...inner.map(line => `${margin}${line}`)]
}

function labelled(label: string, text: string | undefined, shade: Shade, { columns, theme }: Layout): string[] {
  if (text === undefined || text === '') return []
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
function differenceLines(differences: readonly DifferenceReport[], columns: number, theme: Theme): string[] {
  const shownPath = ({ path }: DifferenceReport) => shorten(visible(path), MAX_PATH_COLUMNS)
  const margin = Math.max(0, ...differences.map(difference => widthOf(shownPath(difference))))
  return differences.flatMap(difference => {
    const head = margin === 0 ? '' : `${pad(shownPath(difference), margin)}  `
    return oneDifference(difference, head, columns, theme)
  })
}

function oneDifference(
  { expected, received, hint }: DifferenceReport,
  head: string,
  columns: number,
  theme: Theme,
): string[] {
  const available = Math.max(20, columns - widthOf(head) - 2)
  const [wanted, plusText] = focus(clean(expected), clean(received), available)
  const [minus, plus] = [`- ${wanted}`, `+ ${plusText}`]
  const why = hint === undefined ? '' : visible(hint)
  if (widthOf(`${head}${minus}   ${plus}   ${why}`) <= columns)
    return [`${head}${theme.good(minus)}   ${theme.bad(plus)}${why && `   ${theme.hint(why)}`}`]
  const below = ' '.repeat(widthOf(head))
  const lines = [`${head}${theme.good(minus)}`, `${below}${theme.bad(plus)}`]
  return why === '' ? lines : [...lines, `${below}${theme.hint(shorten(why, available))}`]
}

const clean = (text: string) => visible(text.slice(0, MAX_VALUE_CHARS))

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

export function detailLines(scenario: ScenarioReport, layout: Layout): string[] {
  const reason = (scenario.reason ?? '').split('\n').flatMap(line => wrap(visible(line), layout.columns))
  const lines = [
    ...failuresText(scenario, layout),
    ...(scenario.reason === null || (scenario.failures.length > 0 && OF_FAILURES.includes(scenario.reasonCode))
      ? []
      : reason),
    ...notReached(scenario, layout),
    ...warningLines(scenario.warnings, layout),
    ...diagramText(scenario, layout),
    againText(scenario),
  ]
  return lines.map(line => line.trimEnd())
}

/** Reasons that repeat a failure. */
const OF_FAILURES: readonly ScenarioReport['reasonCode'][] = [
  'environment',
  'scenario',
  'internal',
  'check_evicted',
  'stopped',
]

/** The first failure without details, for a scenario with the same cause as another one. */
export function briefLines(scenario: ScenarioReport, other: ScenarioReport, layout: Layout): string[] {
  const lines = scenario.failures
    .slice(0, 1)
    .flatMap(failure => [
      ...hanging('x ', visible(headlineOf(failure)), 'bad', layout),
      ...locationLines(failure, layout),
    ])
  return [
    ...lines,
    ...wrap(
      `the same cause as in ${visible(other.name)}: details are in the json and html reports`,
      layout.columns,
    ).map(line => layout.theme.faint(line)),
    againText(scenario),
  ]
}

/** The same for failures outside of every scenario. */
export function outsideDetailLines({ failures, journal }: RunReport, layout: Layout): string[] {
  const diagram = diagramText({ journal, failures, conversations: {}, steps: [] }, layout)
  return [...failuresText({ failures }, layout), ...diagram].map(line => line.trimEnd())
}

function failuresText({ failures }: Pick<ScenarioReport, 'failures'>, layout: Layout): string[] {
  const shown = [...groupBy(failures, ({ group }) => group).values()].slice(0, MAX_SHOWN)
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
  return wrap(`not reached: ${stepsText(numbers)}`, columns)
}

function warningLines(warnings: readonly WarningReport[], { columns, theme }: Layout): string[] {
  return warnings.slice(0, MAX_SHOWN).flatMap(warning => {
    const text = `warning ${visible(warning.rule)}: ${visible(warning.message)}`
    return wrap(text, columns).map(line => theme.warn(line))
  })
}

const diagramText = (timed: TimelineSource, { columns, theme }: Layout): string[] =>
  diagramOf(timed, columns).map(({ text, shade }) => theme[shade](text))

type FailureGroup = readonly [FailureReport, ...FailureReport[]]

/** `and 7 more like it: steps 8, 9, 14-18`; null when there is none. */
function similarText([, ...others]: FailureGroup): string | null {
  if (others.length === 0) return null
  const steps = others.flatMap(({ step }) => (step === null ? [] : [step.number])).sort((a, b) => a - b)
  const chats = others.flatMap(({ step, conversation }) =>
    step === null && conversation !== null && conversation !== 'main' ? [visible(conversation)] : [],
  )
  const where = [
    steps.length === 0 ? '' : stepsText(steps),
    chats.length === 0 ? '' : `chat${chats.length === 1 ? '' : 's'} ${chats.join(', ')}`,
  ].filter(Boolean)
  return TEXTS.similar(others.length, where.join('; '))
}

/** `steps 3, 8-10`. */
const stepsText = (numbers: readonly number[]) => `step${numbers.length === 1 ? '' : 's'} ${ranges(numbers)}`

function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
