/** Writes the reports a run was asked for, each for itself: one that cannot be written keeps no other from it. */
import { appendFileSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Ran } from '../../scenario/verdict.ts'
import { visible } from '../../text/visible.ts'
import { isOn, type ReportName, type ReportWish } from '../reporters.ts'
import { columnsOf } from './columns.ts'
import { githubAnnotations, githubSummary, withoutCommands } from './github.ts'
import type { ColorLevel } from './ink.ts'
import type { PrettyOptions } from './pretty.ts'
import { saveText } from './save.ts'

interface Stream {
  write(text: string): void
  readonly columns?: number | undefined
}

export interface ReportIo {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly cwd: string
}

export interface Around {
  readonly io: ReportIo
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of stdout. */
  readonly colorLevel: ColorLevel
}

/**
 * Says on stderr what it wrote and what it could not. Resolves with the problems; never rejects. Files come first, so
 * that what is shown knows the exit code even when one of them could not be written.
 */
export async function writeReports(ran: Ran, wishes: readonly ReportWish[], around: Around): Promise<string[]> {
  const files = wishes.filter(({ file }) => file !== null)
  const problems = await writeEach(ran, files, around)
  const exitCode = exitCodeOf(ran, problems)
  const shown = wishes.filter(({ file }) => file === null)
  const more = await writeEach({ ...ran, exitCode }, shown, around)
  for (const wish of files) tellFile(wish, problems, around)
  for (const { text } of [...problems, ...more]) around.io.stderr.write(`${visible(text)}\n`)
  return [...problems, ...more].map(({ text }) => text)
}

/** A run that passed and left no report has not gone well. */
export const exitCodeOf = ({ exitCode }: Ran, problems: readonly unknown[]): number =>
  exitCode === 0 && problems.length > 0 ? 3 : exitCode

interface Problem {
  readonly wish: ReportWish
  readonly text: string
}

async function writeEach(ran: Ran, wishes: readonly ReportWish[], around: Around): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const wish of wishes) {
    const { report, file } = wish
    await writeOne(ran, wish, around).catch(error => {
      const text = `the ${report} report${file === null ? '' : ` ${file}`} could not be written: ${why(error)}`
      problems.push({ wish, text })
    })
  }
  return problems
}

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

function tellFile(wish: ReportWish, problems: readonly Problem[], { io }: Around): void {
  if (problems.some(problem => problem.wish === wish)) return
  io.stderr.write(`${wish.report} report: ${visible(wish.file ?? '')}\n`)
}

async function writeOne(ran: Ran, { report, file }: ReportWish, around: Around): Promise<void> {
  const { io, env, colorLevel } = around
  if (report === 'github') return annotate(ran, around)
  if (file !== null) return saveText(resolve(io.cwd, file), await textOf[report](ran, { colorLevel: 0 }))
  const text = [...(await textOf[report](ran, { colorLevel, columns: columnsOf(env, io.stdout) }))].join('')
  io.stdout.write(report === 'pretty' && isOn(env.GITHUB_ACTIONS) ? withoutCommands(text) : text)
}

/** GitHub reads commands on both streams, and stdout is for data. */
function annotate(ran: Ran, { io, env }: Around): void {
  io.stderr.write(githubAnnotations(ran, file => fromWorkspace(file, io.cwd, env.GITHUB_WORKSPACE)))
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, githubSummary(ran))
}

function fromWorkspace(file: string, cwd: string, workspace: string | undefined): string {
  if (!workspace) return file
  const path = relative(workspace, resolve(cwd, file))
  return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/')
}

type Texts = Readonly<
  Record<Exclude<ReportName, 'github'>, (ran: Ran, options: PrettyOptions) => Promise<Iterable<string>>>
>

/** Loaded one by one: a run needs one or two of them. */
const textOf: Texts = {
  pretty: async (ran, options) => [(await import('./pretty.ts')).prettyReport(ran, options)],
  json: async ran => [(await import('./json.ts')).jsonReport(ran)],
  junit: async ran => [(await import('./junit.ts')).junitReport(ran)],
  tap: async ran => [(await import('./tap.ts')).tapReport(ran)],
  html: async ran => [(await import('../html/report.ts')).htmlReport(ran)],
  journal: async ran => linesOf((await import('../../scenario/judge/journal-file.ts')).journalLines(ran)),
}

function* linesOf(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield line.endsWith('\n') ? line : `${line}\n`
}
