/** Renders a certificate for a terminal: the failures first, then a table by profile. */
import { CHECK_OUTCOMES, type CheckOutcome } from '../certifier/check.ts'
import type { CertificateReport, CheckReport } from '../certifier/report.ts'
import { formatMs, pad, visible, wrap } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { type ColorLevel, createTheme, type Shade, type Theme } from './theme.ts'

const TEXTS = defineTexts({
  expected: (text: string) => `expected: ${text}`,
  next: (text: string) => `try: ${text}`,
  target: (url: string, seed: number, duration: string) => `target ${url}, seed ${seed}, ${duration}`,
  level: (level: string) => `level ${level}`,
  noLevel: 'no level',
})

export const CHECK_STYLES: Readonly<Record<CheckOutcome, { readonly word: string; readonly shade: Shade }>> = {
  pass: { word: 'PASS', shade: 'good' },
  fail: { word: 'FAIL', shade: 'bad' },
  warn: { word: 'WARN', shade: 'warn' },
  info: { word: 'INFO', shade: 'hint' },
  not_applicable: { word: 'N/A', shade: 'faint' },
  inconclusive: { word: 'INCONCLUSIVE', shade: 'warn' },
  error: { word: 'ERROR', shade: 'bad' },
}

interface Layout {
  readonly columns: number
  readonly theme: Theme
}

const WORST_FIRST: readonly CheckOutcome[] = ['error', 'fail', 'warn', 'inconclusive', 'info']
const INDENT = '    '

export function certificateText(certificate: CertificateReport, colorLevel: ColorLevel, columns = 100): string {
  const layout = { columns: Math.min(160, Math.max(40, columns)), theme: createTheme(colorLevel) }
  const shown = WORST_FIRST.flatMap(outcome => certificate.checks.filter(check => check.outcome === outcome))
  const blocks = [
    ...shown.map(result => detailsOf(result, layout)),
    tableOf(certificate, layout),
    summaryOf(certificate),
  ]
  return `${blocks.map(lines => lines.join('\n')).join('\n\n')}\n`
}

const WORD_COLUMNS = 13

const headingOf = ({ check, outcome, durationMs }: CheckReport, { theme }: Layout): string => {
  const { word, shade } = CHECK_STYLES[outcome]
  return `${theme[shade](pad(word, WORD_COLUMNS))} ${theme.strong(check.id)} ${check.texts.title}  ${theme.faint(formatMs(durationMs))}`
}

function detailsOf(result: CheckReport, layout: Layout): string[] {
  const wrapped = (text: string) => wrap(visible(text), layout.columns - INDENT.length).map(line => INDENT + line)
  const findings = result.findings.flatMap(finding => {
    const { level, happened, expected, next, entrySeqs } = finding
    const seqs = entrySeqs.map(seq => `#${seq}`).join(', ')
    return [
      ...wrapped(`${level}  ${happened}${seqs === '' ? '' : ` (${seqs})`}`),
      ...wrapped(TEXTS.expected(expected)),
      ...wrapped(TEXTS.next(next)),
    ]
  })
  const more = [result.decisiveText, result.reason].flatMap(text => (text === null ? [] : wrapped(text)))
  return [headingOf(result, layout), ...findings, ...more]
}

function tableOf({ checks, profiles }: CertificateReport, layout: Layout): string[] {
  return profiles.flatMap(profile => [
    layout.theme.strong(profile),
    ...checks.filter(({ check }) => check.profile === profile).map(result => headingOf(result, layout)),
  ])
}

function summaryOf({ counts, target, seed, durationMs, level }: CertificateReport): string[] {
  const parts = CHECK_OUTCOMES.filter(outcome => counts[outcome] > 0)
  return [
    parts.map(outcome => `${counts[outcome]} ${CHECK_STYLES[outcome].word}`).join(', '),
    level === null ? TEXTS.noLevel : TEXTS.level(level),
    TEXTS.target(visible(target), seed, formatMs(durationMs)),
  ]
}
