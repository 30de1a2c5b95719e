/** Runs scenarios with progress on stderr, and writes reports. `run` loads it while the target starts. */
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import { awaitedText } from '../evaluation/evaluator/words.ts'
import { causeOf } from '../pages/reporters/failures.ts'
import { createProgress } from '../pages/reporters/progress.ts'
import type { ReportRequest, RunReportName } from '../pages/reporters/report-option.ts'
import { runSuite, type SuiteOptions } from '../running/runner/suite.ts'
import { type Context, colorLevel } from './io.ts'
import { redactRun } from './secrets.ts'
import { DEFAULT_JOURNAL_REPORT, type Explored, exitCodeWith, progressOptions, writeReports } from './write-reports.ts'

export async function runWithProgress(
  context: Context,
  options: Omit<SuiteOptions, 'listener'>,
  reports: readonly ReportRequest[],
): Promise<RunResult> {
  const progress = createProgress(progressOptions(context, reports))
  progress.planned(options.wanted.length)
  try {
    return await runSuite({
      ...options,
      listener: {
        ...progress,
        waiting: (name, what, sinceMs, atMostMs) => progress.waiting(name, awaitedText(what), sinceMs, atMostMs),
        finished(result) {
          const { name, outcome, durationMs, ...rest } = context.secrets.redactDeep(result)
          progress.finished({ name, outcome, durationMs, cause: causeOf(rest) })
        },
      },
    })
  } finally {
    progress.stop()
  }
}

/** Always saves the journal, so that `report` can evaluate the run again. Resolves with the exit code of the command. */
export async function reportRun(
  result: RunResult,
  { io, env, secrets }: Context,
  requests: readonly ReportRequest<RunReportName>[],
  explored?: Explored,
): Promise<number> {
  const hasJournal = requests.some(({ report }) => report === 'journal')
  const problems = await writeReports(
    redactRun(result, secrets),
    hasJournal ? requests : [...requests, DEFAULT_JOURNAL_REPORT],
    { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) },
    explored,
  )
  return exitCodeWith(result.exitCode, problems)
}
