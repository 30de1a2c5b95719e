/** Writes the reports a run was asked for, each for itself: one that cannot be written keeps no other from it. */
import { appendFileSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Ran } from '../../scenario/verdict.ts'
import { isOn, type ReportName, type ReportWish } from '../reporters.ts'
import { visible } from '../text.ts'
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

/** Says on stderr what it wrote and what it could not. Resolves with the problems; never rejects. */
export async function writeReports(ran: Ran, wishes: readonly ReportWish[], around: Around): Promise<string[]> {
  const problems: string[] = []
  for (const wish of wishes) {
    try {
      await writeOne(ran, wish, around)
    } catch (error) {
      problems.push(
        `the ${wish.report} report${wish.file === null ? '' : ` ${wish.file}`} could not be written: ${why(error)}`,
      )
    }
  }
  for (const problem of problems) around.io.stderr.write(`${visible(problem)}\n`)
  return problems
}

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

async function writeOne(ran: Ran, { report, file }: ReportWish, around: Around): Promise<void> {
  const { io, env, colorLevel } = around
  if (report === 'github') return annotate(ran, around)
  if (file !== null) {
    saveText(resolve(io.cwd, file), await textOf[report](ran, { colorLevel: 0 }))
    io.stderr.write(`${report} report: ${visible(file)}\n`)
    return
  }
  const text = [...(await textOf[report](ran, { colorLevel, columns: io.stdout.columns }))].join('')
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
