/** Writes reports to their streams and files; one that fails does not stop the others. */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { saveText } from '../base/files/user-files.ts'
import { messageOf } from '../base/text/error-text.ts'
import { visible } from '../base/text/terminal-text.ts'
import { withoutCommands } from '../pages/reporters/github.ts'
import { isOn, type ReportRequest } from '../pages/reporters/report-option.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'
import { columnsOf } from './io.ts'

interface Stream {
  write(text: string): void
  readonly columns?: number | undefined
}

interface ReportIo {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly cwd: string
}

export interface ReportContext {
  readonly io: ReportIo
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of stdout. */
  readonly colorLevel: ColorLevel
}

/** Writes one report, which shows this exit code. */
type Write<Request> = (request: Request, exitCode: number) => Promise<void>

/**
 * Says on stderr what it wrote and what it could not. Resolves with the problems; never rejects. A file that cannot be
 * written can change the exit code, so the other files are written again and what is shown comes last.
 */
export async function writeRequested<Request extends ReportRequest>(
  requests: readonly Request[],
  exitCode: number,
  write: Write<Request>,
  io: ReportIo,
): Promise<string[]> {
  const files = requests.filter(({ file }) => file !== null)
  const problems = await writeEach(files, request => write(request, exitCode))
  const finalCode = exitCodeOf({ exitCode }, problems)
  const isWritten = (request: Request) => problems.every(problem => problem.request !== request)
  if (finalCode !== exitCode)
    problems.push(...(await writeEach(files.filter(isWritten), request => write(request, finalCode))))
  const shown = requests.filter(({ file }) => file === null)
  const more = await writeEach(shown, request => write(request, finalCode))
  for (const request of files) reportFile(request, problems, io)
  for (const { text } of [...problems, ...more]) io.stderr.write(`${visible(text)}\n`)
  return [...problems, ...more].map(({ text }) => text)
}

/** A run that passes but fails to write a report ends with exit code 3. */
export const exitCodeOf = ({ exitCode }: { readonly exitCode: number }, problems: readonly unknown[]): number =>
  exitCode === 0 && problems.length > 0 ? 3 : exitCode

interface Problem {
  readonly request: ReportRequest
  readonly text: string
}

async function writeEach<Request extends ReportRequest>(
  requests: readonly Request[],
  write: (request: Request) => Promise<void>,
): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const request of requests) {
    const { report, file } = request
    await write(request).catch(error => {
      const text = `the ${report} report${file === null ? '' : ` ${file}`} could not be written: ${messageOf(error)}`
      problems.push({ request, text })
    })
  }
  return problems
}

function reportFile(request: ReportRequest, problems: readonly Problem[], io: ReportIo): void {
  if (problems.some(problem => problem.request === request)) return
  io.stderr.write(`${request.report} report: ${visible(request.file ?? '')}\n`)
}

export interface TextOptions {
  readonly colorLevel: ColorLevel
  readonly columns?: number
}

/** Writes a text to its file without colours, or to stdout. */
export async function writeText(
  render: (options: TextOptions) => Promise<Iterable<string>>,
  { report, file }: ReportRequest,
  { io, env, colorLevel }: ReportContext,
  mode?: number,
): Promise<void> {
  if (file !== null) return saveText(resolve(io.cwd, file), await render({ colorLevel: 0 }), mode)
  const text = [...(await render({ colorLevel, columns: columnsOf(env, io.stdout) }))].join('')
  io.stdout.write(report === 'pretty' && isOn(env.GITHUB_ACTIONS) ? withoutCommands(text) : text)
}

/** Writes annotations to stderr: GitHub reads both streams, and stdout carries data. */
export function writeToGitHub(annotations: string, summary: () => string, { io, env }: ReportContext): void {
  io.stderr.write(annotations)
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, summary())
}
