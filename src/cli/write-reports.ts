/** Writes the requested reports; one that fails does not stop the others. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { RunResult } from '../evaluator/verdict.ts'
import { describeRun, type RunReport } from '../evaluator/wording/report.ts'
import { saveText } from '../files/user-files.ts'
import { githubAnnotations, githubSummary, withoutCommands } from '../reporters/github.ts'
import type { PrettyOptions } from '../reporters/pretty.ts'
import { isOn, type ReportName, type ReportRequest } from '../reporters/report-option.ts'
import type { ColorLevel } from '../reporters/theme.ts'
import { messageOf } from '../text/error-text.ts'
import { visible } from '../text/terminal-text.ts'
import { columnsOf, type Io } from './io.ts'

interface Stream {
  write(text: string): void
  readonly columns?: number | undefined
}

export interface ReportIo {
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

/**
 * Says on stderr what it wrote and what it could not. Resolves with the problems; never rejects. A file that cannot be
 * written can change the exit code, so the other files are written again and what is shown comes last.
 */
export async function writeReports(
  result: RunResult,
  requests: readonly ReportRequest[],
  context: ReportContext,
): Promise<string[]> {
  const files = requests.filter(({ file }) => file !== null)
  const problems = await writeEach(result, files, context)
  const exitCode = exitCodeOf(result, problems)
  const isWritten = (request: ReportRequest) => problems.every(problem => problem.request !== request)
  if (exitCode !== result.exitCode)
    problems.push(...(await writeEach({ ...result, exitCode }, files.filter(isWritten), context)))
  const shown = requests.filter(({ file }) => file === null)
  const more = await writeEach({ ...result, exitCode }, shown, context)
  for (const request of files) reportFile(request, problems, context)
  for (const { text } of [...problems, ...more]) context.io.stderr.write(`${visible(text)}\n`)
  return [...problems, ...more].map(({ text }) => text)
}

/** A run that passes but fails to write a report ends with exit code 3. */
export const exitCodeOf = ({ exitCode }: RunResult, problems: readonly unknown[]): number =>
  exitCode === 0 && problems.length > 0 ? 3 : exitCode

interface Problem {
  readonly request: ReportRequest
  readonly text: string
}

async function writeEach(
  result: RunResult,
  requests: readonly ReportRequest[],
  context: ReportContext,
): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const request of requests) {
    const { report, file } = request
    await writeOne(result, request, context).catch(error => {
      const text = `the ${report} report${file === null ? '' : ` ${file}`} could not be written: ${messageOf(error)}`
      problems.push({ request, text })
    })
  }
  return problems
}

function reportFile(request: ReportRequest, problems: readonly Problem[], { io }: ReportContext): void {
  if (problems.some(problem => problem.request === request)) return
  io.stderr.write(`${request.report} report: ${visible(request.file ?? '')}\n`)
}

async function writeOne(result: RunResult, { report, file }: ReportRequest, context: ReportContext): Promise<void> {
  const { io, env, colorLevel } = context
  if (report === 'github') return annotate(describeRun(result), context)
  if (file !== null) {
    const mode = report === 'journal' ? 0o600 : undefined
    return saveText(resolve(io.cwd, file), await textOf[report](result, { colorLevel: 0 }), mode)
  }
  const text = [...(await textOf[report](result, { colorLevel, columns: columnsOf(env, io.stdout) }))].join('')
  io.stdout.write(report === 'pretty' && isOn(env.GITHUB_ACTIONS) ? withoutCommands(text) : text)
}

/** Writes annotations to stderr: GitHub reads both streams, and stdout carries data. */
function annotate(result: RunReport, { io, env }: ReportContext): void {
  io.stderr.write(githubAnnotations(result, file => fromWorkspace(file, io.cwd, env.GITHUB_WORKSPACE)))
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, githubSummary(result))
}

function fromWorkspace(file: string, cwd: string, workspace: string | undefined): string {
  if (!workspace) return file
  const path = relative(workspace, resolve(cwd, file))
  return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/')
}

type Texts = Readonly<
  Record<Exclude<ReportName, 'github'>, (result: RunResult, options: PrettyOptions) => Promise<Iterable<string>>>
>

/** Renderers by report, loaded when they are needed. */
const textOf: Texts = {
  pretty: async (result, options) => [
    (await import('../reporters/pretty.ts')).prettyReport(describeRun(result), options),
  ],
  json: async result => [(await import('../reporters/json.ts')).jsonReport(describeRun(result))],
  junit: async result => [(await import('../reporters/junit.ts')).junitReport(describeRun(result))],
  tap: async result => [(await import('../reporters/tap.ts')).tapReport(describeRun(result))],
  html: async result => [(await import('../web/report/report.tsx')).htmlReport(describeRun(result))],
  journal: async result => linesOf((await import('../evaluator/journal-file.ts')).journalLines(result)),
}

function* linesOf(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield line.endsWith('\n') ? line : `${line}\n`
}

const FOLDER = '.handover-sim'
export const DEFAULT_JOURNAL = `${FOLDER}/journal.jsonl`

/** Ignores a folder that cannot be made: writing the journal reports it. */
export function defaultJournal({ cwd }: Pick<Io, 'cwd'>): ReportRequest {
  try {
    mkdirSync(join(cwd, FOLDER), { recursive: true })
    writeFileSync(join(cwd, FOLDER, '.gitignore'), '*\n')
  } catch {
    // Said with the file that could not be written.
  }
  return { report: 'journal', file: DEFAULT_JOURNAL }
}
