/** Renders the checks of a certificate as lines of text: words of outcomes, headings, and the evidence of a failed check. */

import { formatMs, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { TimelineSource } from '../../evaluation/timeline/timeline.ts'
import type { CheckOutcome } from '../../running/certifier/check.ts'
import {
  type CertificateReport,
  type CheckReport,
  type FindingReport,
  isExpectedFailure,
  WORST_FIRST,
} from '../../running/certifier/report.ts'
import { diagramOf } from './diagram.ts'
import type { Layout } from './failures.ts'
import type { Shade } from './theme.ts'

const TEXTS = {
  known: 'known',
}

export const CHECK_STYLES: Readonly<Record<CheckOutcome, { readonly word: string; readonly shade: Shade }>> = {
  pass: { word: 'PASS', shade: 'good' },
  fail: { word: 'FAIL', shade: 'bad' },
  warn: { word: 'WARN', shade: 'warn' },
  info: { word: 'INFO', shade: 'hint' },
  not_applicable: { word: 'N/A', shade: 'faint' },
  inconclusive: { word: 'INCONCLUSIVE', shade: 'warn' },
  error: { word: 'ERROR', shade: 'bad' },
}

/** Fails the run, unless it is a warning. */
export const isBroken = (result: CheckReport): boolean =>
  (result.outcome === 'fail' || result.outcome === 'error') && !isExpectedFailure(result)

/** The first finding, else the reason, in one line; empty when it passed. */
export const checkCause = ({ findings: [first], reason }: Pick<CheckReport, 'findings' | 'reason'>): string =>
  first?.happened ?? reason ?? ''

export const checkTitle = ({ id, title }: Pick<CheckReport, 'id' | 'title'>): string => `${id} ${title}`

const LABEL_COLUMNS = 10

function labelled(label: string, text: string, shade: Shade, { columns, theme }: Layout): string[] {
  const lines = wrap(visible(text), columns - LABEL_COLUMNS)
  return lines.map((line, at) => `${theme.faint((at === 0 ? label : '').padEnd(LABEL_COLUMNS))}${theme[shade](line)}`)
}

/** A command stays on one line, so that it can be copied. */
const commandLine = (label: string, command: string, { theme }: Layout): string =>
  `${theme.faint(label.padEnd(LABEL_COLUMNS))}${visible(command)}`

/** `similar`: an earlier check with the same first finding, which is shown in full. */
export function checkDetails(result: CheckReport, layout: Layout, similar: CheckReport | null = null): string[] {
  const { reason, decisiveText, outcome } = result
  const isShort = similar !== null || isExpectedFailure(result) || outcome === 'info'
  const diagram = isShort ? [] : diagramLines(result, layout)
  return [
    ...expectationLines(result, layout),
    ...result.findings.flatMap((finding, at) => [...(at === 0 ? [] : ['']), ...findingLines(finding, result, layout)]),
    ...(similar === null
      ? []
      : labelled('', `The same finding as in ${similar.id}, which is shown with its diagram.`, 'faint', layout)),
    ...(reason === null ? [] : labelled('because', reason, 'plain', layout)),
    ...(decisiveText === null ? [] : labelled('varied', decisiveText, 'plain', layout)),
    ...(diagram.length === 0 ? [] : ['', ...diagram, '']),
    ...(outcome === 'info' ? [] : [commandLine('help', result.helpCommand, layout)]),
    commandLine('again', result.rerunCommand, layout),
  ]
}

function findingLines(finding: FindingReport, { findings, outcome }: CheckReport, layout: Layout): string[] {
  const { level, happened, expected, next, entrySeqs } = finding
  const seqs = entrySeqs.length === 0 ? '' : ` (${entrySeqs.map(seq => `#${seq}`).join(', ')})`
  const text = findings.length === 1 ? happened : `${level}: ${happened}`
  const shade = outcome === 'info' ? 'plain' : CHECK_STYLES[level === 'MUST' ? 'fail' : 'warn'].shade
  return [
    ...labelled('happened', `${text}${seqs}`, level === 'INFO' ? 'plain' : shade, layout),
    ...labelled('expected', expected, 'plain', layout),
    ...labelled('try', next, 'hint', layout),
  ]
}

function expectationLines({ expectation }: CheckReport, layout: Layout): string[] {
  if (expectation === null) return []
  const { status, because, until } = expectation
  if (status === 'failed')
    return labelled(TEXTS.known, `${because}${until === null ? '' : ` (until ${until})`}`, 'plain', layout)
  return status === 'expired'
    ? labelled(TEXTS.known, `It was expected to fail until ${until ?? ''}: ${because}`, 'bad', layout)
    : []
}

function diagramLines(result: CheckReport, { columns, theme }: Layout): string[] {
  const shades = { plain: theme.plain, faint: theme.faint, bad: theme.bad }
  return diagramOf(timelineSourceOf(result), columns).map(({ text, shade }) => shades[shade](text))
}

/** The chats that the findings are about, or all when they name none. */
function timelineSourceOf({ journal, chats, findings }: CheckReport): TimelineSource {
  const seqs = new Set(findings.flatMap(({ entrySeqs }) => entrySeqs))
  const ids = new Set(journal.flatMap(({ seq, chat_id }) => (seqs.has(seq) && chat_id !== undefined ? [chat_id] : [])))
  const isShown = (id: string | undefined) => ids.size === 0 || id === undefined || ids.has(id)
  return {
    journal: journal.filter(({ chat_id }) => isShown(chat_id)),
    conversations: Object.fromEntries(Object.entries(chats).filter(([, id]) => isShown(id))),
    steps: [],
    failures: [{ step: null, entrySeqs: [...seqs] }],
  }
}

/** Checks with the same first finding that are shown in full. */
const DETAILED = 2

/** Checks that are shown briefly, each with the first one that has the same first finding. */
export function similarChecks(checks: readonly CheckReport[]): Map<CheckReport, CheckReport> {
  const byCode = new Map<string, CheckReport[]>()
  const similar = new Map<CheckReport, CheckReport>()
  for (const check of checks) {
    const code = check.findings[0]?.code
    if (code === undefined || check.outcome === 'info' || isExpectedFailure(check)) continue
    const earlier = byCode.get(code) ?? []
    if (earlier[0] !== undefined && earlier.length >= DETAILED) similar.set(check, earlier[0])
    byCode.set(code, [...earlier, check])
  }
  return similar
}

/** `3.1 ms` at the right of a column; empty for a check that did not run. */
export const timeCell = (ms: number, columns: number): string => {
  const text = ms === 0 ? '' : formatMs(ms)
  return `${' '.repeat(Math.max(0, columns - widthOf(text)))}${text}`
}

/** `ack_20_chats_p50_ms`, with or without percentile and unit. */
/** `12 PASS, 2 FAIL (1 expected)`. */
export function certificateCounts(
  { counts, checks }: Pick<CertificateReport, 'counts' | 'checks'>,
  styled: (outcome: CheckOutcome, text: string) => string = (_, text) => text,
): string {
  const outcomes = [...WORST_FIRST].reverse().filter(outcome => counts[outcome] > 0)
  return outcomes.map(outcome => styled(outcome, countText(outcome, counts[outcome], checks))).join(', ')
}

function countText(outcome: CheckOutcome, count: number, checks: readonly CheckReport[]): string {
  const expected = checks.filter(check => check.outcome === outcome && isExpectedFailure(check)).length
  return `${count} ${CHECK_STYLES[outcome].word}${expected === 0 ? '' : ` (${expected} expected)`}`
}
