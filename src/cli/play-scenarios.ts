/** Plays scenarios with progress on stderr, and writes reports. `run` loads it while the target starts. */
import type { RunResult } from '../evaluator/verdict.ts'
import { awaitedText } from '../evaluator/wording/expected.ts'
import { describeScenario } from '../evaluator/wording/report.ts'
import { createProgress, type Progress } from '../reporters/progress.ts'
import type { ReportRequest, RunReportName } from '../reporters/report-option.ts'
import { type RunListener, runSuite, type SuiteOptions } from '../runner/suite.ts'
import type { Redactor } from '../text/redactor.ts'
import { type Context, colorLevel, columnsOf } from './io.ts'
import { redactRun } from './secrets.ts'
import { defaultJournal, writeReports } from './write-reports.ts'
import { exitCodeOf } from './write-requested.ts'

export interface PlayContext {
  readonly context: Context
  readonly reports: readonly ReportRequest<RunReportName>[]
}

export async function playWithProgress(
  { io, env, secrets }: Context,
  options: Omit<SuiteOptions, 'listener'>,
): Promise<RunResult> {
  const { isTTY } = io.stderr
  const progress = createProgress({
    output: io.stderr,
    isTTY,
    colorLevel: colorLevel(env, isTTY),
    columns: columnsOf(env, io.stderr),
  })
  progress.planned(options.wanted.length)
  try {
    return await runSuite({ ...options, listener: listenerOf(progress, secrets) })
  } finally {
    progress.stop()
  }
}

/** Renders what a run waits for and how its scenarios end. */
const listenerOf = (progress: Progress, secrets: Redactor): RunListener => ({
  ...progress,
  waiting: (name, what, sinceMs, atMostMs) => progress.waiting(name, () => awaitedText(what), sinceMs, atMostMs),
  finished: result => progress.finished(describeScenario(secrets.redactDeep(result))),
})

/** Always saves the journal, so that `report` can evaluate the run again. Resolves with the exit code of the command. */
export async function reportRun(result: RunResult, { context, reports }: PlayContext): Promise<number> {
  const { io, env, secrets } = context
  const kept = reports.some(request => request.report === 'journal') ? [] : [defaultJournal(io)]
  const problems = await writeReports(redactRun(result, secrets), [...reports, ...kept], {
    io,
    env,
    colorLevel: colorLevel(env, io.stdout.isTTY),
  })
  return exitCodeOf(result, problems)
}
