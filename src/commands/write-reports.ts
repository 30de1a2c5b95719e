/** Writes the requested reports to their streams and files; one that fails does not stop the others. */

import { appendFileSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { OUTPUT_FOLDER, saveText } from '../base/files/user-files.ts'
import { messageOf } from '../base/text/error-text.ts'
import type { Redacted } from '../base/text/redactor.ts'
import { visible } from '../base/text/terminal-text.ts'
import { journalLines } from '../evaluation/evaluator/journal-file.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import { githubAnnotations, markdownReport, withoutCommands } from '../pages/reporters/github.ts'
import type { ProgressOptions } from '../pages/reporters/progress.ts'
import type { Report } from '../pages/reporters/report-model.ts'
import { isOn, type ReportRequest, type RunReportName } from '../pages/reporters/report-option.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'
import type { Coverage } from '../running/explorer/situations.ts'
import { type Context, canRedraw, colorLevel, columnsOf } from './io.ts'

interface Stream {
  write(text: string): void
  readonly columns?: number | undefined
}

export interface ReportContext {
  readonly io: { readonly stdout: Stream; readonly stderr: Stream; readonly cwd: string }
  readonly env: Readonly<Record<string, string | undefined>>
  /** The colours that stdout can show. */
  readonly colorLevel: ColorLevel
}

export interface TextOptions {
  readonly colorLevel: ColorLevel
  readonly columns?: number
}

/** Annotations go to stderr, because GitHub reads both streams and stdout carries data; the summary to the page of the workflow. */
export interface GitHubReport {
  readonly annotations: string
  readonly summary: string
}

/** Renders one report, which shows this exit code. */
export type Render<Request> = (
  request: Request,
  exitCode: number,
  options: TextOptions,
) => Promise<Iterable<string> | GitHubReport>

/** What `createProgress` takes for a command that writes these reports at its end. */
export function progressOptions({ io, env }: Context, reports: readonly ReportRequest[]): ProgressOptions {
  const { stderr } = io
  return {
    output: stderr,
    isTTY: canRedraw(env, stderr.isTTY),
    isReported: reports.some(({ report, file }) => file === null && report !== 'json'),
    isPaused: () => io.isAsking === true,
    ...{ colorLevel: colorLevel(env, stderr.isTTY), columns: columnsOf(env, stderr) },
  }
}

/** A run that passes but fails to write a report ends with exit code 3. */
export const exitCodeWith = (exitCode: number, problems: readonly unknown[]): number =>
  exitCode === 0 && problems.length > 0 ? 3 : exitCode

/**
 * Says on stderr what it wrote and what it could not. Resolves with the problems of reports that are asked for; never
 * rejects. A file that cannot be written can change the exit code, so the other files are written again and what is shown
 * comes last.
 */
export async function writeRequested<Request extends ReportRequest>(
  requests: readonly Request[],
  exitCode: number,
  render: Render<Request>,
  context: ReportContext,
): Promise<string[]> {
  const { stderr } = context.io
  const problems = new Map<Request, string>()
  const write = async (some: readonly Request[], code: number) => {
    for (const request of some) {
      const { report, file } = request
      await writeOne(request, code, render, context).catch(error => {
        const where = file === null ? '' : ` ${file}`
        problems.set(request, `the ${report} report${where} could not be written: ${messageOf(error)}`)
      })
    }
  }
  const files = requests.filter(({ file }) => file !== null)
  await write(files, exitCode)
  const finalCode = exitCodeWith(exitCode, asked(problems))
  if (finalCode !== exitCode)
    await write(
      files.filter(request => !problems.has(request)),
      finalCode,
    )
  await write(
    requests.filter(({ file }) => file === null),
    finalCode,
  )
  for (const request of files)
    if (!problems.has(request)) stderr.write(`${request.report} report: ${visible(request.file ?? '')}\n`)
  for (const [{ isDefault }, text] of problems) stderr.write(`${isDefault ? 'Note: ' : ''}${visible(text)}\n`)
  return asked(problems)
}

function asked(problems: ReadonlyMap<ReportRequest, string>): string[] {
  const texts: string[] = []
  for (const [{ isDefault }, text] of problems) if (!isDefault) texts.push(text)
  return texts
}

/** Writes one report to its file without colours, or to a stream. */
async function writeOne<Request extends ReportRequest>(
  request: Request,
  exitCode: number,
  render: Render<Request>,
  { io, env, colorLevel }: ReportContext,
): Promise<void> {
  const { report, file } = request
  const options = file === null ? { colorLevel, columns: columnsOf(env, io.stdout) } : { colorLevel: 0 as const }
  const rendered = await render(request, exitCode, options)
  if ('annotations' in rendered) {
    io.stderr.write(rendered.annotations)
    if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, rendered.summary)
  } else if (file !== null) {
    saveText(resolve(io.cwd, file), rendered, report === 'journal' ? 0o600 : undefined)
  } else {
    const text = [...rendered].join('')
    io.stdout.write(report === 'pretty' && isOn(env.GITHUB_ACTIONS) ? withoutCommands(text) : text)
  }
}

/** Renders the formats that runs and certificates share. `fileOf` converts a path to one from the root of the repository. */
export async function renderModel(
  report: 'junit' | 'ctrf' | 'tap' | 'markdown' | 'github',
  model: Report,
  fileOf?: (file: string) => string,
): Promise<string[] | GitHubReport> {
  if (report === 'junit') return [(await import('../pages/reporters/junit.ts')).junitReport(model)]
  if (report === 'ctrf') return [(await import('../pages/reporters/ctrf.ts')).ctrfReport(model)]
  if (report === 'tap') return [(await import('../pages/reporters/tap.ts')).tapReport(model)]
  const summary = markdownReport(model)
  return report === 'markdown' ? [summary] : { annotations: githubAnnotations(model, fileOf), summary }
}

/** How far an exploration came. */
export interface Explored {
  readonly conversations: number
  readonly coverage: Coverage
}

/** Writes the reports of a run, and how far an exploration came. Renderers are loaded when they are needed. */
export async function writeReports(
  result: Redacted<RunResult>,
  requests: readonly ReportRequest<RunReportName>[],
  context: ReportContext,
  explored?: Explored,
): Promise<string[]> {
  const { io, env } = context
  const render: Render<ReportRequest<RunReportName>> = async ({ report }, exitCode, options) => {
    const ended = { ...result, exitCode }
    switch (report) {
      case 'journal':
        return formatLines(ended)
      case 'pretty':
        return [
          (await import('../pages/reporters/pretty.ts')).prettyReport(ended, {
            ...options,
            conversations: explored?.conversations,
          }),
        ]
      case 'json':
        return [(await import('../pages/reporters/json.ts')).jsonReport(ended)]
      case 'html':
        return [(await import('../pages/web/report/run-report.tsx')).htmlReport(ended, explored?.coverage)]
    }
    const { reportOfRun } = await import('../pages/reporters/report-model.ts')
    return renderModel(report, reportOfRun(ended), file => {
      if (!env.GITHUB_WORKSPACE) return file
      const path = relative(env.GITHUB_WORKSPACE, resolve(io.cwd, file))
      return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/')
    })
  }
  return writeRequested(requests, result.exitCode, render, context)
}

function* formatLines(result: RunResult): Generator<string> {
  for (const line of journalLines(result)) yield `${line}\n`
}

export const DEFAULT_JOURNAL = `${OUTPUT_FOLDER}/journal.jsonl`

export const DEFAULT_JOURNAL_REPORT: ReportRequest<'journal'> = {
  report: 'journal',
  file: DEFAULT_JOURNAL,
  isDefault: true,
}
