/** Renders a certificate for a terminal: causes, failures with their evidence, a table by profile, the summary. */
import { groupBy } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, pad, shorten, visible, widthOf } from '../../base/text/terminal-text.ts'
import type { CheckOutcome } from '../../running/certifier/check.ts'
import { exercisedIn } from '../../running/certifier/coverage.ts'
import {
  blockedText,
  type CertificateReport,
  type CheckReport,
  isExpectedFailure,
  leadingCauses,
  measurementLines,
  shownLevel,
  stoppedText,
  WORST_FIRST,
  worstFirst,
} from '../../running/certifier/report.ts'
import { checkDetails } from './findings.ts'
import { layoutFor, type PrettyOptions } from './pretty.ts'
import { type Layout, OUTCOME_STYLES, type Shade, wrapped } from './theme.ts'

const INDENT = '  '

export function certificateText(certificate: CertificateReport, options: PrettyOptions): string {
  const layout = layoutFor(options)
  const shown = worstFirst(certificate.checks.filter(({ outcome }) => outcome !== 'pass'))
  const similar = similarChecks(shown)
  const blocks: string[][] = certificate.causes.length > 0 ? [causeLines(certificate, layout)] : []
  const others: CheckReport[] = []
  for (const check of shown) {
    if (check.findings.length > 0) blocks.push(detailBlock(check, layout, similar.get(check) ?? null))
    else others.push(check)
  }
  // Checks without findings are shown together when they have one reason.
  for (const group of groupBy(others, ({ outcome, reason, blockedBy }) => `${outcome} ${blockedBy ?? reason}`).values())
    blocks.push(group.length === 1 ? detailBlock(group[0], layout, null) : groupBlock(group, layout))
  blocks.push(...tables(certificate, layout), summaryLines(certificate, layout))
  return `${blocks.map(lines => lines.join('\n')).join('\n\n')}\n`
}

/** `SIG-07: The webhook computes ... It also stopped 16 other checks, which were repeated without it.` */
function causeLines(certificate: CertificateReport, layout: Layout): string[] {
  const lines: string[] = []
  for (const cause of leadingCauses(certificate)) {
    const text = `${cause.check}: ${cause.text} ${stoppedText(cause)}`.trimEnd()
    lines.push(...wrapped(visible(text), layout, 'bad'))
  }
  return lines
}

/** A table of all checks for each profile, with the same columns in all of them. */
function tables({ checks, profiles }: CertificateReport, { columns, theme }: Layout): string[][] {
  let [wordColumns, idColumns, timeColumns, titleColumns] = [0, 0, 0, 0]
  for (const check of checks) {
    wordColumns = Math.max(wordColumns, widthOf(OUTCOME_STYLES[check.outcome].word))
    idColumns = Math.max(idColumns, widthOf(check.id))
    timeColumns = Math.max(timeColumns, widthOf(timeOf(check)))
    titleColumns = Math.max(titleColumns, widthOf(check.title))
  }
  titleColumns = Math.min(titleColumns, columns - INDENT.length - wordColumns - idColumns - timeColumns - 5)
  const margin = ' '.repeat(INDENT.length + wordColumns + idColumns + 3)
  const blocks: string[][] = []
  for (const profile of profiles) {
    const rows: string[] = []
    let [count, passed] = [0, 0]
    for (const check of checks) {
      if (check.profile !== profile) continue
      count++
      if (check.outcome === 'pass') passed++
      const { word, shade } = OUTCOME_STYLES[check.outcome]
      const title = pad(shorten(visible(check.title), titleColumns), titleColumns)
      const time = theme.faint(timeOf(check).padStart(timeColumns))
      rows.push(`${INDENT}${theme[shade](pad(word, wordColumns))} ${pad(check.id, idColumns)}  ${title}  ${time}`)
      for (const line of measurementLines(check))
        rows.push(...wrapped(visible(line), { columns, theme }, 'faint', margin))
    }
    if (count > 0) blocks.push([`${theme.strong(profile)}  ${theme.faint(`${passed} of ${count} pass`)}`, ...rows])
  }
  return blocks
}

/** Checks that are shown briefly: from the third one on, those with the same first finding as an earlier check. */
function similarChecks(checks: readonly CheckReport[]): Map<CheckReport, CheckReport> {
  const similar = new Map<CheckReport, CheckReport>()
  const detailed = checks.filter(
    check => check.findings.length > 0 && check.outcome !== 'info' && !isExpectedFailure(check),
  )
  for (const [first, , ...others] of groupBy(detailed, ({ findings }) => findings[0]?.code).values())
    for (const check of others) similar.set(check, first)
  return similar
}

/** `FAIL SIG-03 A signature made with another key has no effect                    MUST, 2.3 s`, where there is room. */
function detailBlock(check: CheckReport, layout: Layout, similar: CheckReport | null): string[] {
  const { columns, theme } = layout
  const { word, shade } = OUTCOME_STYLES[check.outcome]
  const mark = isExpectedFailure(check) ? `${word} (expected)` : word
  const facts = `${shownLevel(check)}, ${formatMs(check.durationMs)}`
  const title = visible(check.title)
  const free = columns - widthOf(mark) - widthOf(check.id) - widthOf(facts) - 4
  const head = `${theme[shade](mark)} ${theme.strong(`${check.id} ${pad(title, free)}`)}`
  const lines = checkDetails(check, { ...layout, columns: columns - INDENT.length }, similar)
  return [
    widthOf(title) > free ? head : `${head}  ${theme.faint(facts)}`,
    ...lines.map(line => (line === '' ? '' : `${INDENT}${line}`)),
  ]
}

function groupBlock(group: readonly [CheckReport, ...CheckReport[]], layout: Layout): string[] {
  const [{ outcome, reason: ofFirst, blockedBy }] = group
  const reason = blockedBy === null ? ofFirst : blockedText(blockedBy)
  const { word, shade } = OUTCOME_STYLES[outcome]
  const ids = group.map(({ id }) => id).join(', ')
  return [
    `${layout.theme[shade](word)} ${layout.theme.strong(counted(group.length, 'check'))}`,
    ...(reason === null ? [] : wrapped(visible(reason), layout, 'plain', INDENT)),
    ...wrapped(ids, layout, 'plain', INDENT),
  ]
}

/** A check that did not run has no time. */
const timeOf = ({ durationMs }: CheckReport) => (durationMs === 0 ? '' : formatMs(durationMs))

function summaryLines(certificate: CertificateReport, layout: Layout): string[] {
  const { level, levelText, expectations, stopped, exitCode, exitText } = certificate
  const plain = certificateCounts(certificate)
  const styled = certificateCounts(certificate, (outcome, text) => layout.theme[OUTCOME_STYLES[outcome].shade](text))
  const lines = widthOf(plain) > layout.columns ? wrapped(plain, layout) : [styled]
  const add = (text: string, shade?: Shade) => lines.push(...wrapped(visible(text), layout, shade))
  for (const { check, status } of expectations)
    if (status === 'passed')
      add(`${check} was expected to fail and passes: remove it from the file of expected failures.`, 'warn')
  if (stopped !== null) add(`stopped early: ${stopped}`, 'bad')
  add(level === null ? `no level: ${levelText}` : `level ${level}: ${levelText}`, 'strong')
  for (const fact of factLines(certificate)) add(fact)
  add(`exit ${exitCode}: ${exitText}`)
  return lines
}

/** How the run was made, for those who read the report elsewhere. */
export function factLines(certificate: CertificateReport): string[] {
  const { target, seed, durationMs, version, machine, rotates, tiers, missing, coverage } = certificate
  const { endpoints, events, faults } = exercisedIn(coverage)
  const facts = [`target ${target}, seed ${seed}, ${formatMs(durationMs)}`]
  if (!rotates) facts.push('unspecified behaviour not varied')
  const seen = Object.values(tiers).filter(tier => tier === 'seen').length
  if (rotates && seen > 0)
    facts.push(`${counted(seen, 'behaviour')} not varied, because recorded traffic shows what the platform does`)
  if (missing.length > 0) facts.push(`without ${missing.join(', ')}`)
  return [
    `exercised: ${endpoints.count} of ${endpoints.of} endpoints, ${events.count} of ${events.of} events, ${faults.count} of ${faults.of} faults`,
    facts.join(', '),
    `handover-sim ${version}, Node ${machine.node}, ${machine.os}`,
  ]
}

/** `12 PASS, 2 FAIL (1 expected)`. */
export function certificateCounts(
  { counts, checks }: Pick<CertificateReport, 'counts' | 'checks'>,
  styled: (outcome: CheckOutcome, text: string) => string = (_, text) => text,
): string {
  const parts: string[] = []
  for (const outcome of [...WORST_FIRST].reverse()) {
    if (counts[outcome] === 0) continue
    const expected = checks.filter(check => check.outcome === outcome && isExpectedFailure(check)).length
    const text = `${counts[outcome]} ${OUTCOME_STYLES[outcome].word}${expected === 0 ? '' : ` (${expected} expected)`}`
    parts.push(styled(outcome, text))
  }
  return parts.join(', ')
}
