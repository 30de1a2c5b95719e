/** Parses `--report`. */
import { problem } from '../../base/files/errors.ts'
import { nearest } from '../../base/text/error-text.ts'

interface ReportKind {
  /** Where it goes when no file is named; null: it needs one. */
  readonly defaultStream: 'stdout' | 'stderr' | null
  /** For messages. */
  readonly example: string
}

const KINDS = {
  pretty: { defaultStream: 'stdout', example: 'pretty' },
  json: { defaultStream: 'stdout', example: 'json=run.json' },
  junit: { defaultStream: null, example: 'junit=junit.xml' },
  ctrf: { defaultStream: null, example: 'ctrf=ctrf-report.json' },
  html: { defaultStream: null, example: 'html=report.html' },
  tap: { defaultStream: 'stdout', example: 'tap' },
  github: { defaultStream: 'stderr', example: 'github' },
  journal: { defaultStream: null, example: 'journal=run.jsonl' },
  markdown: { defaultStream: null, example: 'markdown=certificate.md' },
  badge: { defaultStream: null, example: 'badge=handover.svg' },
} as const satisfies Record<string, ReportKind>

type ReportName = keyof typeof KINDS

/** Of `run` and `report`. */
export const RUN_REPORTS = ['pretty', 'json', 'junit', 'ctrf', 'html', 'tap', 'github', 'journal'] as const
export type RunReportName = (typeof RUN_REPORTS)[number]

/** Of `certify`. */
export const CERTIFICATE_REPORTS = [
  'pretty',
  'json',
  'junit',
  'ctrf',
  'html',
  'tap',
  'github',
  'markdown',
  'badge',
] as const
export type CertificateReportName = (typeof CERTIFICATE_REPORTS)[number]

/** Of `load`. */
export const LOAD_REPORTS = ['pretty', 'json', 'junit', 'ctrf', 'html', 'tap', 'github', 'markdown'] as const
export type LoadReportName = (typeof LOAD_REPORTS)[number]

/** Of `calibrate`. */
export const CALIBRATION_REPORTS = ['pretty', 'json', 'markdown'] as const

export interface ReportRequest<Name extends ReportName = ReportName> {
  readonly report: Name
  /** As it was written; null: stdout, or stderr for `github`. */
  readonly file: string | null
  /** No flag names it: when it cannot be written, that is a note. */
  readonly isDefault?: true
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Parses `pretty,json=run.json,junit=junit.xml` for a command that has the reports `names`. Adds the pretty report unless
 * another report uses stdout, and the annotations in workflows of GitHub. Throws a ConfigError.
 */
export function parseReports<Name extends ReportName>(
  flag: string,
  names: readonly (Name | 'pretty' | 'github')[],
  env: Env = {},
): ReportRequest<Name | 'pretty' | 'github'>[] {
  const parts = flag.split(',').map(part => part.trim())
  const requests = flag.trim() === '' ? [] : parts.map(part => parseOne(part, names))
  checkConflicts(requests)
  const isStdoutTaken = requests.some(goesToStdout)
  const annotated = !isOn(env.GITHUB_ACTIONS) || requests.some(({ report }) => report === 'github')
  return [
    ...(isStdoutTaken ? [] : [{ report: 'pretty', file: null } as const]),
    ...requests,
    ...(annotated ? [] : [{ report: 'github', file: null } as const]),
  ]
}

export const isOn = (value: string | undefined) =>
  value !== undefined && value !== '' && value !== 'false' && value !== '0'

function parseOne<Name extends ReportName>(part: string, names: readonly Name[]): ReportRequest<Name> {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(part) ?? []
  const report = nameOf(name.trim(), part, names)
  const { defaultStream, example } = KINDS[report]
  if (file === undefined) {
    if (defaultStream === null) throw wrong(`${report} needs a file: ${example}`)
    return { report, file: null }
  }
  if (report === 'github') throw wrong(`github takes no file, got "${part}"; its table goes to GITHUB_STEP_SUMMARY`)
  if (file.trim() === '') throw wrong(`"${part}" names no file: ${report}=FILE`)
  return { report, file: file.trim() }
}

function nameOf<Name extends ReportName>(name: string, part: string, names: readonly Name[]): Name {
  const report = names.find(one => one === name)
  if (report !== undefined) return report
  const known = `known: ${names.join(', ')}`
  if (name === '')
    throw wrong(`${part === '' ? 'there is nothing between two commas' : `"${part}" names no report`}; ${known}`)
  if (Object.hasOwn(KINDS, name))
    throw wrong(`${name} is a report of ${commandsOf(name)}, not of this command; ${known}`)
  throw wrong(`there is no report "${name}"${nearest(name, names) || `; ${known}`}`)
}

const commandsOf = (name: string) => (CERTIFICATE_REPORTS.some(one => one === name) ? 'certify' : 'run')

const wrong = (message: string) => problem('--report', message)

const goesToStdout = ({ report, file }: ReportRequest) => file === null && KINDS[report].defaultStream === 'stdout'

function checkConflicts(requests: readonly ReportRequest[]): void {
  const [first, second] = requests.filter(goesToStdout)
  if (first !== undefined && second !== undefined)
    throw wrong(`${first.report} and ${second.report} cannot both go to stdout; give one a file: ${second.report}=FILE`)
  const earlier = new Map<string, string>()
  for (const { report, file } of requests) {
    const other = earlier.get(file ?? report)
    earlier.set(file ?? report, report)
    if (other === undefined) continue
    throw wrong(file === null ? `${report} is named twice` : `${other} and ${report} would both write ${file}`)
  }
}
