/** Which reports there are of a run, and how `--report` names them. */

import { problem } from '../files/errors.ts'
import { nearest } from '../text/near-names.ts'

interface Kind {
  /** Where it goes when no file is named; null: it needs one. */
  readonly without: 'stdout' | 'stderr' | null
  /** For messages. */
  readonly example: string
}

const KINDS = {
  pretty: { without: 'stdout', example: 'pretty' },
  json: { without: 'stdout', example: 'json=run.json' },
  junit: { without: null, example: 'junit=junit.xml' },
  html: { without: null, example: 'html=report.html' },
  tap: { without: 'stdout', example: 'tap' },
  github: { without: 'stderr', example: 'github' },
  journal: { without: null, example: 'journal=run.jsonl' },
} as const satisfies Record<string, Kind>

export type ReportName = keyof typeof KINDS
export const REPORTS = Object.keys(KINDS) as readonly ReportName[]

export interface ReportWish {
  readonly report: ReportName
  /** As it was written; null: stdout, or stderr for `github`. */
  readonly file: string | null
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * `pretty,json=run.json,junit=junit.xml`. The pretty report is on stdout unless another report asks for it, and
 * GitHub's annotations come by themselves in its workflows. Throws a ConfigError.
 */
export function parseReports(flag: string, env: Env = {}): ReportWish[] {
  const parts = flag.split(',').map(part => part.trim())
  const wishes = flag.trim() === '' ? [] : parts.map(parseOne)
  checkConflicts(wishes)
  const taken = wishes.some(goesToStdout)
  const annotated = !isOn(env.GITHUB_ACTIONS) || wishes.some(({ report }) => report === 'github')
  return [
    ...(taken ? [] : [{ report: 'pretty', file: null } as const]),
    ...wishes,
    ...(annotated ? [] : [{ report: 'github', file: null } as const]),
  ]
}

export const isOn = (value: string | undefined) =>
  value !== undefined && value !== '' && value !== 'false' && value !== '0'

function parseOne(part: string): ReportWish {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(part)!
  const report = nameOf(name.trim(), part)
  const { without, example } = KINDS[report]
  if (file === undefined) {
    if (without === null) throw wrong(`${report} needs a file: ${example}`)
    return { report, file: null }
  }
  if (report === 'github') throw wrong(`github takes no file, got "${part}"; its table goes to GITHUB_STEP_SUMMARY`)
  if (file.trim() === '') throw wrong(`"${part}" names no file: ${report}=FILE`)
  return { report, file: file.trim() }
}

function nameOf(name: string, part: string): ReportName {
  if ((REPORTS as readonly string[]).includes(name)) return name as ReportName
  if (name === '')
    throw wrong(`${part === '' ? 'there is nothing between two commas' : `"${part}" names no report`}; ${known}`)
  throw wrong(`there is no report "${name}"${nearest(name, REPORTS) || `; ${known}`}`)
}

const known = `known: ${REPORTS.join(', ')}`
const wrong = (message: string) => problem('--report', message)

const goesToStdout = ({ report, file }: ReportWish) => file === null && KINDS[report].without === 'stdout'

function checkConflicts(wishes: readonly ReportWish[]): void {
  const [first, second] = wishes.filter(goesToStdout)
  if (first !== undefined && second !== undefined) {
    const example = `${second.report}=FILE`
    throw wrong(`${first.report} and ${second.report} cannot both go to stdout; give one a file: ${example}`)
  }
  for (const [index, { report, file }] of wishes.entries()) {
    const other = wishes
      .slice(0, index)
      .find(before => before.file === file && (file !== null || before.report === report))
    if (other === undefined) continue
    throw wrong(file === null ? `${report} is named twice` : `${other.report} and ${report} would both write ${file}`)
  }
}
