/** Plays scenarios with progress on stderr, and writes reports. `run` loads it while the target starts. */

import { nextMacrotask } from '../base/runtime/clock.ts'
import type { Redactor } from '../base/text/redactor.ts'
import { encodeEntries } from '../evaluation/evaluator/journal-file.ts'
import type { RunResult, ScenarioResult } from '../evaluation/evaluator/verdict.ts'
import { awaitedText } from '../evaluation/evaluator/wording/expected.ts'
import { describeScenario } from '../evaluation/evaluator/wording/report.ts'
import { causeOf } from '../pages/reporters/failures.ts'
import { createProgress, type Progress } from '../pages/reporters/progress.ts'
import type { ReportRequest, RunReportName } from '../pages/reporters/report-option.ts'
import type { Entry } from '../platform/journal/entry.ts'
import { type RunListener, runSuite, type SuiteOptions } from '../running/runner/suite.ts'
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
  const total = options.wanted.length
  progress.planned(total)
  const encoder = createIdleEncoder(total)
  try {
    return await runSuite({ ...options, listener: listenerOf(progress, encoder, secrets) })
  } finally {
    encoder.stop()
    progress.stop()
  }
}

/** Renders what a run waits for and how its scenarios end. */
const listenerOf = (progress: Progress, encoder: IdleEncoder, secrets: Redactor): RunListener => ({
  ...progress,
  waiting: (name, what, sinceMs, atMostMs) => progress.waiting(name, awaitedText(what), sinceMs, atMostMs),
  listening(name) {
    progress.listening(name)
    encoder.listening()
  },
  finished(result) {
    const { name, outcome, durationMs, ...rest } = describeScenario(secrets.redactDeep(result))
    progress.finished({ name, outcome, durationMs, cause: causeOf(rest) })
    encoder.finished(result)
  },
})

/** A late call would wait while more entries are encoded. */
const MOST_ENTRIES = 5_000

type IdleEncoder = ReturnType<typeof createIdleEncoder>

/** Encodes the journals of ended scenarios when all others only wait for late calls, because then nothing else is to do. */
function createIdleEncoder(scenarios: number) {
  const journals: (readonly Entry[])[] = []
  let playing = scenarios
  let isEncoding = false
  async function encodeAll(): Promise<void> {
    for (let next = journals.shift(); next !== undefined; next = journals.shift()) {
      encodeEntries(next)
      await nextMacrotask()
    }
    isEncoding = false
  }
  function encode(): void {
    if (playing > 0 || isEncoding) return
    isEncoding = true
    // What cannot be encoded is reported when the journal is written.
    encodeAll().catch(() => {})
  }
  return {
    listening() {
      playing--
      encode()
    },
    finished({ journal }: ScenarioResult) {
      if (journal.length <= MOST_ENTRIES) journals.push(journal)
      encode()
    },
    stop: () => void journals.splice(0),
  }
}

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
