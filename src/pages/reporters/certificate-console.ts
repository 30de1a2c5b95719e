/** Renders a certificate for a terminal: failures with their evidence, then a table by profile, then the summary. */

import { groupBy } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, pad, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import { exercisedIn } from '../../running/certifier/coverage.ts'
import {
  type CertificateReport,
  type CheckReport,
  isExpectedFailure,
  measurementLines,
  worstFirst,
} from '../../running/certifier/report.ts'
import { CHECK_STYLES, certificateCounts, checkDetails, similarChecks, timeCell } from './certificate-lines.ts'
import type { Layout } from './failures.ts'
import { type ColorLevel, createTheme } from './theme.ts'

const INDENT = '  '

export function certificateText(certificate: CertificateReport, colorLevel: ColorLevel, columns = 100): string {
  const layout = { columns: Math.min(160, Math.max(40, columns)), theme: createTheme(colorLevel) }
  const blocks = [...detailBlocks(certificate, layout), ...tables(certificate, layout), summaryOf(certificate, layout)]
  return `${blocks.map(lines => lines.join('\n')).join('\n\n')}\n`
}

function detailBlocks({ checks }: CertificateReport, layout: Layout): string[][] {
  const shown = worstFirst(checks.filter(({ outcome }) => outcome !== 'pass'))
  const similar = similarChecks(shown)
  const [withFindings, others] = [
    shown.filter(({ findings }) => findings.length > 0),
    shown.filter(({ findings }) => findings.length === 0),
  ]
  const groups = groupBy(others, ({ outcome, reason }) => JSON.stringify([outcome, reason]))
  return [
    ...withFindings.map(check => blockOf(check, layout, similar.get(check) ?? null)),
    ...[...groups.values()].map(group => groupBlock(group, layout)),
  ]
}

function blockOf(check: CheckReport, layout: Layout, similar: CheckReport | null): string[] {
  const inner = { ...layout, columns: layout.columns - INDENT.length }
  const lines = checkDetails(check, inner, similar)
  return [headingOf(check, layout), ...lines.map(line => (line === '' ? '' : `${INDENT}${line}`))]
}

/** `FAIL SIG-03 A signature made with another key has no effect                    MUST, 2.3 s`, where there is room. */
function headingOf(check: CheckReport, { columns, theme }: Layout): string {
  const { outcome, level, durationMs } = check
  const { word, shade } = CHECK_STYLES[outcome]
  const mark = isExpectedFailure(check) ? `${word} (expected)` : word
  const facts = `${level}, ${formatMs(durationMs)}`
  const title = visible(check.title)
  const free = columns - widthOf(mark) - widthOf(check.id) - widthOf(facts) - 4
  const head = `${theme[shade](mark)} ${theme.strong(`${check.id} ${pad(title, free)}`)}`
  return widthOf(title) > free ? head : `${head}  ${theme.faint(facts)}`
}

/** Checks without findings that have one reason. */
function groupBlock(group: readonly [CheckReport, ...CheckReport[]], layout: Layout): string[] {
  const [first] = group
  if (group.length === 1) return blockOf(first, layout, null)
  const { word, shade } = CHECK_STYLES[first.outcome]
  const inner = layout.columns - INDENT.length
  const below = [first.reason ?? '', group.map(({ id }) => id).join(', ')].filter(text => text !== '')
  return [
    `${layout.theme[shade](word)} ${layout.theme.strong(counted(group.length, 'check'))}`,
    ...below.flatMap(text => wrap(visible(text), inner)).map(line => `${INDENT}${line}`),
  ]
}

interface TableColumns {
  readonly word: number
  readonly id: number
  readonly title: number
  readonly time: number
}

const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf))

function tables({ checks, profiles }: CertificateReport, layout: Layout): string[][] {
  const word = longest(checks.map(({ outcome }) => CHECK_STYLES[outcome].word))
  const id = longest(checks.map(check => check.id))
  const time = longest(checks.map(({ durationMs }) => formatMs(durationMs)))
  const free = layout.columns - INDENT.length - word - id - time - 5
  const widths = { word, id, time, title: Math.min(free, longest(checks.map(({ title }) => title))) }
  return profiles.flatMap(profile => {
    const own = checks.filter(check => check.profile === profile)
    if (own.length === 0) return []
    const passed = own.filter(({ outcome }) => outcome === 'pass').length
    const head = `${layout.theme.strong(profile)}  ${layout.theme.faint(`${passed} of ${own.length} pass`)}`
    return [[head, ...own.flatMap(check => rowsOf(check, widths, layout))]]
  })
}

function rowsOf(check: CheckReport, widths: TableColumns, { columns, theme }: Layout): string[] {
  const { word, shade } = CHECK_STYLES[check.outcome]
  const title = pad(shorten(visible(check.title), widths.title), widths.title)
  const time = theme.faint(timeCell(check.durationMs, widths.time))
  const row = `${INDENT}${theme[shade](pad(word, widths.word))} ${pad(check.id, widths.id)}  ${title}  ${time}`
  const margin = INDENT.length + widths.word + widths.id + 3
  const below = measurementLines(check).flatMap(line => wrap(visible(line), columns - margin))
  return [row, ...below.map(line => `${' '.repeat(margin)}${theme.faint(line)}`)]
}

function summaryOf(certificate: CertificateReport, { columns, theme }: Layout): string[] {
  const { level, levelText, expectations, stopped, exitCode, exitText } = certificate
  const plain = certificateCounts(certificate)
  const styled = certificateCounts(certificate, (outcome, text) => theme[CHECK_STYLES[outcome].shade](text))
  const passing = expectations.filter(({ status }) => status === 'passed')
  const wrapped = (text: string) => wrap(visible(text), columns)
  const levelLine = level === null ? `no level: ${levelText}` : `level ${level}: ${levelText}`
  return [
    ...(widthOf(plain) > columns ? wrapped(plain) : [styled]),
    ...passing.flatMap(({ check }) =>
      wrapped(`${check} was expected to fail and passes: remove it from the file of expected failures.`).map(line =>
        theme.warn(line),
      ),
    ),
    ...(stopped === null ? [] : wrapped(`stopped early: ${stopped}`).map(line => theme.bad(line))),
    ...wrapped(levelLine).map(line => theme.strong(line)),
    ...factLines(certificate).flatMap(wrapped),
    ...wrapped(`exit ${exitCode}: ${exitText}`),
  ]
}

/** How the run was made, for those who read the report elsewhere. */
export function factLines(certificate: CertificateReport): string[] {
  const { target, seed, durationMs, version, machine, rotates, missing } = certificate
  const more = [
    ...(rotates ? [] : ['unspecified behaviour not varied']),
    ...(missing.length === 0 ? [] : [`without ${missing.join(', ')}`]),
  ]
  return [
    coverageText(certificate),
    [`target ${target}, seed ${seed}, ${formatMs(durationMs)}`, ...more].join(', '),
    `handover-sim ${version}, Node ${machine.node}, ${machine.os}`,
  ]
}

function coverageText({ coverage }: CertificateReport): string {
  const { endpoints, events, faults } = exercisedIn(coverage)
  const text = ({ count, of }: { readonly count: number; readonly of: number }) => `${count} of ${of}`
  return `exercised: ${text(endpoints)} endpoints, ${text(events)} events, ${text(faults)} faults`
}
