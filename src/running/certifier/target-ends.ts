/** Notices that the intermediary ended by itself during a check, starts it again, and says what ended it. */

import { elapsedMs, wallDelay } from '../../base/runtime/clock.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import type { TargetControl, TargetEnd } from '../agent-driver/driver.ts'
import { TargetStartError } from '../agent-driver/target.ts'
import { type CheckDefinition, type CheckResult, outcomeOf } from './check.ts'
import type { CheckReason } from './reasons.ts'
import type { CheckRun } from './run-check.ts'
import { attemptsOf, type EventAttempt, isLost } from './target-watch.ts'

/** A check as it was played, and how the intermediary ended meanwhile. */
export interface WatchedRun {
  readonly run: CheckRun
  readonly ends: readonly TargetEnd[]
}

type WatchedRuns = ReadonlyMap<CheckDefinition, WatchedRun>

/** Plays, and collects how the target ended by itself meanwhile. */
export async function collectEnds(target: TargetControl, play: () => Promise<CheckRun>): Promise<WatchedRun> {
  const before = target.ends.length
  const run = await play()
  if (attemptsOf(run.result).some(isLost)) await settled(target)
  return { run, ends: target.ends.slice(before) }
}

/** Null when the target runs. */
export async function startAgain(target: TargetControl): Promise<EarlyEnd | null> {
  try {
    await target.start()
    return null
  } catch (error) {
    if (!(error instanceof TargetStartError)) throw error
    return { code: 'target_not_restarted', failure: error.failure }
  }
}

/** Between the end of a connection and the end of the process. */
const EXIT_MS = 500

/** A connection breaks before the end of the process is known. */
async function settled(target: TargetControl): Promise<void> {
  const ends = target.ends.length
  const untilMs = elapsedMs() + EXIT_MS
  while (target.running && target.ends.length === ends && elapsedMs() < untilMs) await wallDelay(20)
}

/** What a check that was interrupted has shown when it was played alone. */
export function explained(check: CheckDefinition, together: WatchedRuns, alone: WatchedRuns): CheckRun {
  const { run, ends } = alone.get(check)!
  const [end] = ends
  if (end !== undefined) return changed(run, result => withTargetEnded(result, end))
  const before = together.get(check)!
  if (run.result.reason?.code === 'stopped') return changed(before.run, withoutConclusion)
  const open = before.ends.find(one => !isCaused(one, together, alone))
  if (open === undefined) return run
  const checks = [...together].filter(([, played]) => played.ends.includes(open)).map(([{ id }]) => id)
  return changed(run, result => withUnexplainedEnd(result, { code: 'target_ended', failure: open.failure, checks }))
}

/** Whether a check that ran at this end ends the target alone as well. */
const isCaused = (end: TargetEnd, together: WatchedRuns, alone: WatchedRuns): boolean =>
  [...alone].some(([check, { ends }]) => ends.length > 0 && together.get(check)?.ends.includes(end))

/** Keeps what happened, of a check that could not be repeated. */
function withoutConclusion(result: CheckResult): CheckResult {
  const reason = { code: 'stopped' } as const
  return { ...result, findings: [], reason, outcome: outcomeOf([], reason) }
}

function withUnexplainedEnd(result: CheckResult, reason: CheckReason): CheckResult {
  if (result.reason !== null) return result
  return { ...result, reason, outcome: outcomeOf(result.findings, reason) }
}

const changed = ({ result, withLateEntries }: CheckRun, change: (result: CheckResult) => CheckResult): CheckRun => ({
  result: change(result),
  withLateEntries: () => change(withLateEntries()),
})

/** The result of a check that ended the target, although nothing else ran. What came after the end is left out. */
function withTargetEnded(result: CheckResult, { failure, output }: TargetEnd): CheckResult {
  const suspect = lastBefore(result.journal)
  const details = {
    after: suspect === undefined ? null : String(suspect.kind === 'delivery' ? suspect.event : suspect.verb),
    failure,
    output,
  }
  const seqs = suspect === undefined ? [] : [suspect.seq]
  const isBefore = (seq: number) => suspect !== undefined && seq <= suspect.seq
  const earlier = result.findings.filter(({ entrySeqs }) => entrySeqs.length > 0 && entrySeqs.every(isBefore))
  const findings = [{ level: 'MUST', code: 'target-ended', details, entrySeqs: seqs } as const, ...earlier]
  return { ...result, findings, reason: null, outcome: outcomeOf(findings, null) }
}

type Act = EventAttempt | EntryOf<'driver'>

/** What was sent, or done, last before nothing listened any more. */
function lastBefore(journal: readonly Entry[]): Act | undefined {
  const acts = journal.filter((entry): entry is Act => entry.kind === 'delivery' || isVerb(entry))
  const refused = acts.findIndex(entry => entry.failure?.code === 'connection_refused')
  const reached = refused === -1 ? acts : acts.slice(0, refused)
  return reached.find(entry => entry.kind === 'delivery' && isLost(entry)) ?? reached.at(-1)
}

/** Reads of the inbox do nothing. */
const isVerb = (entry: Entry): boolean => entry.kind === 'driver' && entry.verb !== 'inbox'
