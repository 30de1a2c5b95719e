/** Writes the requested reports of a run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { journalLines } from '../evaluation/evaluator/journal-file.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import { describeRun } from '../evaluation/evaluator/wording/report.ts'
import { githubAnnotations, markdownReport } from '../pages/reporters/github.ts'
import type { PrettyOptions } from '../pages/reporters/pretty.ts'
import type { ReportRequest, RunReportName } from '../pages/reporters/report-option.ts'
import type { Io } from './io.ts'
import { type ReportContext, writeRequested, writeText, writeToGitHub } from './write-requested.ts'

/** Resolves with the problems; never rejects. */
export async function writeReports(
  result: RunResult,
  requests: readonly ReportRequest<RunReportName>[],
  context: ReportContext,
): Promise<string[]> {
  const write = (request: ReportRequest<RunReportName>, exitCode: number) =>
    writeOne({ ...result, exitCode }, request, context)
  return writeRequested(requests, result.exitCode, write, context.io)
}

async function writeOne(
  result: RunResult,
  request: ReportRequest<RunReportName>,
  context: ReportContext,
): Promise<void> {
  const { report } = request
  if (report === 'github') return annotate(result, context)
  await writeText(
    options => textOf[report](result, options),
    request,
    context,
    report === 'journal' ? 0o600 : undefined,
  )
}

async function annotate(result: RunResult, context: ReportContext): Promise<void> {
  const { io, env } = context
  const report = await modelOf(result)
  const annotations = githubAnnotations(report, file => {
    if (!env.GITHUB_WORKSPACE) return file
    const path = relative(env.GITHUB_WORKSPACE, resolve(io.cwd, file))
    return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/')
  })
  writeToGitHub(annotations, () => markdownReport(report), context)
}

const modelOf = async (result: RunResult) =>
  (await import('../pages/reporters/report-model.ts')).reportOfRun(describeRun(result))

type Texts = Readonly<
  Record<Exclude<RunReportName, 'github'>, (result: RunResult, options: PrettyOptions) => Promise<Iterable<string>>>
>

/** Renderers by report, loaded when they are needed. Every run writes a journal. */
const textOf: Texts = {
  pretty: async (result, options) => [
    (await import('../pages/reporters/pretty.ts')).prettyReport(describeRun(result), options),
  ],
  json: async result => [(await import('../pages/reporters/json.ts')).jsonReport(describeRun(result))],
  junit: async result => [(await import('../pages/reporters/junit.ts')).junitReport(await modelOf(result))],
  tap: async result => [(await import('../pages/reporters/tap.ts')).tapReport(await modelOf(result))],
  html: async result => [(await import('../pages/web/report/run-report.tsx')).htmlReport(describeRun(result))],
  journal: async result => linesOf(journalLines(result)),
}

function* linesOf(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield line.endsWith('\n') ? line : `${line}\n`
}

const FOLDER = '.handover-sim'
export const DEFAULT_JOURNAL = `${FOLDER}/journal.jsonl`

/** Ignores a folder that cannot be made: writing the journal reports it. */
export function defaultJournal({ cwd }: Pick<Io, 'cwd'>): ReportRequest<'journal'> {
  try {
    mkdirSync(join(cwd, FOLDER), { recursive: true })
    writeFileSync(join(cwd, FOLDER, '.gitignore'), '*\n')
  } catch {
    // Said with the file that could not be written.
  }
  return { report: 'journal', file: DEFAULT_JOURNAL }
}
