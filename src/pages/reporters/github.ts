/** Renders GitHub annotations and the summary of a job. */

import { formatMs, visible } from '../../base/text/terminal-text.ts'
import type { FailureReport, RunReport, ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { againText, causeOf, detailLines, headlineOf, outsideText } from './failures.ts'
import { countsText, titleOf } from './pretty.ts'
import { createTheme, OUTCOME_STYLES } from './theme.ts'

const TEXTS = {
  more: (count: number) => `and ${count} more`,
}

/** GitHub shows at most ten annotations per step. */
export const MAX_ANNOTATIONS = 10

export const NO_PLACE = { file: null, line: null, column: null }

export interface Annotation {
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  readonly title: string
  readonly message: string
}

/** `fileOf` converts a path to one from the root of the repository. */
export function githubAnnotations(result: RunReport, fileOf: (file: string) => string = file => file): string {
  const outside = result.failures
    .slice(0, 1)
    .map(failure => annotateOutside(failure, `${OUTCOME_STYLES.fail.word} ${outsideText()}`))
  const failed = result.scenarios.filter(isBad)
  const all = [...outside, ...failed.map(annotateScenario)]
  const lines = all.slice(0, MAX_ANNOTATIONS).map(annotation => command(annotation, fileOf))
  const left = all.length - MAX_ANNOTATIONS
  const more = left > 0 ? [`::notice::${escapeData(`${left} more scenarios failed: see the summary of the job`)}`] : []
  return [...lines, ...more].map(line => `${line}\n`).join('')
}

const isBad = ({ outcome }: ScenarioReport) => outcome === 'fail' || outcome === 'error'

function annotateScenario(scenario: ScenarioReport): Annotation {
  const [first] = scenario.failures
  const title = `${OUTCOME_STYLES[scenario.outcome].word} ${scenario.name}`
  const own = scenario.place ?? { ...NO_PLACE, file: scenario.file }
  if (first === undefined) return { ...own, title, message: scenario.reason ?? '' }
  const { file, line, column } = first.step?.place ?? own
  const more = scenario.failures.length - 1
  const lines = [messageOf(first), ...(more > 0 ? [TEXTS.more(more)] : []), againText(scenario)]
  return { file, line, column, title, message: lines.join('\n') }
}

const annotateOutside = (failure: FailureReport, title: string): Annotation => ({
  ...NO_PLACE,
  title,
  message: messageOf(failure),
})

const messageOf = (failure: FailureReport) =>
  [headlineOf(failure), ...(failure.hint === undefined ? [] : [`hint: ${failure.hint}`])].map(visible).join('\n')

/** `::error title=...::message`. */
export function command(
  { file, line, column, title, message }: Annotation,
  fileOf: (file: string) => string = file => file,
): string {
  const properties = Object.entries({ file: file === null ? null : fileOf(file), line, col: column, title })
    .filter(([, value]) => value !== null)
    .map(
      ([key, value]) =>
        `${key}=${escapeData(visible(String(value)))
          .replaceAll(':', '%3A')
          .replaceAll(',', '%2C')}`,
    )
  return `::error ${properties.join(',')}::${escapeData(message)}`
}

/** Escapes line ends, which would end the command, and shows invisible characters. */
export const escapeData = (text: string) =>
  text.split('\n').map(visible).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A')
/** Escapes text in GitHub's log that looks like a workflow command. */
export const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/gm, '$1.:').replaceAll('##[', '# #[')

const MAX_ROWS = 200
const MAX_DETAILS = 20

/** Markdown to append to the job's summary. */
export function githubSummary(result: RunReport): string {
  const notable = result.scenarios.filter(({ outcome }) => outcome !== 'pass')
  const sorted = [...notable.filter(isBad), ...notable.filter(scenario => !isBad(scenario))]
  const left = sorted.length - MAX_ROWS
  return [
    `### handover-sim: ${countsText(result)}`,
    '',
    ...(sorted.length === 0 ? [] : ['| | Scenario | Time | What happened |', '| --- | --- | --- | --- |']),
    ...sorted.slice(0, MAX_ROWS).map(rowOf),
    ...(left > 0 ? ['', TEXTS.more(left)] : []),
    ...result.causes.map(
      ({ text, scenarios }) => `\n**One cause in ${scenarios.length} scenarios:** ${markdown(text)}`,
    ),
    ...result.failures
      .slice(0, MAX_ANNOTATIONS)
      .map(failure => `\n**Outside every scenario:** ${markdown(headlineOf(failure))}`),
    ...(result.stopped === null ? [] : [`\n**Stopped early:** ${markdown(result.stopped)}`]),
    ...result.scenarios.filter(isBad).slice(0, MAX_DETAILS).map(storyOf),
    '',
  ].join('\n')
}

function rowOf(scenario: ScenarioReport): string {
  const { outcome, durationMs } = scenario
  const cells = [OUTCOME_STYLES[outcome].word, titleOf(scenario), formatMs(durationMs), causeOf(scenario)]
  return `| ${cells.map(markdown).join(' | ')} |`
}

const LAYOUT = { columns: 110, theme: createTheme(0) }

function storyOf(scenario: ScenarioReport): string {
  const text = htmlText(detailLines(scenario, LAYOUT).join('\n'))
  return `\n<details><summary>${htmlText(titleOf(scenario))}</summary>\n\n<pre>${text}</pre>\n\n</details>`
}

export const htmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Escapes text for Markdown, also in the cell of a table. */
export const markdown = (text: string) =>
  htmlText(visible(text)).replace(/[\\`*_|[\]~@#]/g, char => `&#${char.charCodeAt(0)};`)
