/** Renders a certificate as Markdown, for a release page, a pull request or the summary of a job, and as annotations of GitHub. */

import { formatMs, visible } from '../../base/text/terminal-text.ts'
import { ANSWER_CLASSES, type AnswerCounts, type Coverage } from '../../running/certifier/coverage.ts'
import {
  type CertificateReport,
  type CheckReport,
  isExpectedFailure,
  worstFirst,
} from '../../running/certifier/report.ts'
import { factLines } from './certificate-console.ts'
import { CHECK_STYLES, certificateCounts, checkCause, checkDetails, checkTitle, isBroken } from './certificate-lines.ts'
import { PLAIN_LAYOUT } from './failures.ts'
import { command, escapeData, htmlText, MAX_ANNOTATIONS, markdown, NO_PLACE } from './github.ts'

const TEXTS = {
  check: 'Check',
  demand: 'Level',
  expected: (because: string) => `expected: ${because}`,
  count: 'Count',
}

/** Failed checks that are shown with their evidence. */
const MAX_DETAILS = 20

export function certificateMarkdown(certificate: CertificateReport): string {
  const { level, levelText, checks, stopped } = certificate
  const notable = worstFirst(checks.filter(({ outcome }) => outcome !== 'pass'))
  const blocks = [
    `## ${level === null ? 'Handover certificate: no level' : `Handover certificate: ${level}`}`,
    `${certificateCounts(certificate)}. ${markdown(levelText)}`,
    ...(stopped === null ? [] : [`**Stopped early:** ${markdown(stopped)}`]),
    ...(notable.length === 0 ? [] : [table(['', TEXTS.check, TEXTS.demand, 'What happened'], notable.map(notableRow))]),
    ...notable
      .filter(({ findings }) => findings.length > 0)
      .slice(0, MAX_DETAILS)
      .map(evidenceOf),
    folded(`All ${checks.length} checks`, table(['', TEXTS.check, TEXTS.demand, 'Time'], checks.map(row))),
    folded('What was exercised', coverageTables(certificate.coverage)),
    factLines(certificate).map(markdown).join('<br>\n'),
  ]
  return `${blocks.join('\n\n')}\n`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(cells => line(cells.map(markdown)))].join('\n')
}

const folded = (summary: string, content: string): string =>
  `<details><summary>${htmlText(summary)}</summary>\n\n${content}\n\n</details>`

function notableRow(check: CheckReport): string[] {
  const because = isExpectedFailure(check) ? ` (${TEXTS.expected(check.expectation?.because ?? '')})` : ''
  return [CHECK_STYLES[check.outcome].word, checkTitle(check), check.level, `${checkCause(check)}${because}`]
}

const row = (check: CheckReport): string[] => [
  CHECK_STYLES[check.outcome].word,
  checkTitle(check),
  check.level,
  formatMs(check.durationMs),
]

function evidenceOf(check: CheckReport): string {
  const text = htmlText(checkDetails(check, PLAIN_LAYOUT).join('\n'))
  // A blank line ends the HTML of Markdown.
  const lines = text.split('\n').map(line => (line.trim() === '' ? '&nbsp;' : line))
  return folded(`${CHECK_STYLES[check.outcome].word} ${checkTitle(check)}`, `<pre>${lines.join('\n')}</pre>`)
}

function coverageTables({ endpoints, events, signatures, faults }: Coverage): string {
  const answers = (head: string, rows: readonly AnswerCounts[]) =>
    table(
      [head, ...ANSWER_CLASSES],
      rows.map(({ name, answers: counts }) => [name, ...ANSWER_CLASSES.map(one => String(counts[one]))]),
    )
  return [
    answers('Endpoint', endpoints),
    answers('Event', events),
    table(
      ['Signature of events that checks sent', TEXTS.count],
      signatures.map(({ mode, events: count }) => [mode, String(count)]),
    ),
    table(
      ['Fault', TEXTS.count],
      faults.map(({ side, effect, hits }) => [`${side} ${effect}`, String(hits)]),
    ),
  ].join('\n\n')
}

/** Annotations of the checks that fail; `certificateMarkdown` is the summary of the job. */
export function certificateAnnotations({ checks }: CertificateReport): string {
  const broken = worstFirst(checks.filter(isBroken))
  const lines = broken.slice(0, MAX_ANNOTATIONS).map(annotationOf)
  const left = broken.length - MAX_ANNOTATIONS
  const more = left > 0 ? [`::notice::${escapeData(`${left} more checks failed: see the summary of the job`)}`] : []
  return [...lines, ...more].map(line => `${line}\n`).join('')
}

function annotationOf(check: CheckReport): string {
  const { findings, outcome, helpCommand, rerunCommand } = check
  const [first] = findings
  const lines = [
    checkCause(check),
    ...(first === undefined ? [] : [first.expected, `try: ${first.next}`]),
    `help: ${helpCommand}`,
    `again: ${rerunCommand}`,
  ]
  const title = `${CHECK_STYLES[outcome].word} ${checkTitle(check)}`
  return command({ ...NO_PLACE, title, message: lines.map(visible).join('\n') })
}
