/** Decides about checks during which the intermediary ended, or could not be reached any more. */

import { elapsedMs, wallDelay } from '../../base/runtime/clock.ts'
import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { failureText, targetFailureText } from '../../platform/wording/failures.ts'
import type { TargetControl, TargetEnd } from '../agent-driver/driver.ts'
import { probeTarget } from '../agent-driver/target.ts'
import { type CheckDefinition, type CheckResult, type CheckRun, outcomeOf } from './check.ts'
import { type CheckFinding, type CheckReason, suffix } from './finding.ts'

type EventAttempt = EntryOf<'delivery'>

export const attemptsOf = ({ journal }: CheckResult): EventAttempt[] =>
  journal.filter(entry => entry.kind === 'delivery')

export const isRefused = ({ failure }: EventAttempt): boolean => failure?.code === 'connection_refused'

/** Whether the connection was refused, or broke. */
const isLost = ({ status, failure }: EventAttempt): boolean => status === null && failure?.code !== 'timeout'

/** An attempt whose connection broke when the target ended. */
interface BrokenAttempt {
  readonly result: CheckResult
  readonly attempt: EventAttempt
  readonly sentMs: number
  readonly endedMs: number
}

/**
 * Decides about checks during which the target ended, when nothing starts it again: the one whose request ended it fails.
 * The others keep what they found before, and are inconclusive.
 */
export function withoutTarget(results: readonly CheckResult[]): CheckResult[] {
  const broken: BrokenAttempt[] = []
  for (const result of results)
    for (const attempt of attemptsOf(result)) {
      const endedMs = Date.parse(attempt.time)
      if (isLost(attempt) && !isRefused(attempt))
        broken.push({ result, attempt, sentMs: endedMs - attempt.duration_ms, endedMs })
    }
  const cause = causeOfEnd(broken, results)
  const endMs = Math.min(...broken.map(({ endedMs }) => endedMs))
  return results.map(result => {
    const times = new Map(result.journal.map(({ seq, time }) => [seq, Date.parse(time)]))
    const isEarlier = ({ entrySeqs }: CheckFinding) => entrySeqs.every(seq => (times.get(seq) ?? 0) < endMs)
    const findings = result.findings.filter(isEarlier)
    if (cause?.result === result) {
      findings.unshift(createEndFinding(cause))
      return { ...result, findings, reason: null, outcome: outcomeOf(findings, null) }
    }
    if (findings.length === result.findings.length && !attemptsOf(result).some(isLost)) return result
    const reason = { code: 'target_unreachable' } as const
    return { ...result, findings, reason, outcome: outcomeOf(findings, reason) }
  })
}

/** How a body is sent, which a server handles before the intermediary does. */
const TRANSFER_HEADERS = ['content-length', 'transfer-encoding']

/** Of all attempts. A header that only some checks vary, such as an id of the delivery, is less frequent. */
const USUAL_SHARE = 0.8

interface CauseOfEnd extends BrokenAttempt {
  /** Ids of other checks that sent unusual requests without an answer. */
  readonly others: readonly string[]
}

/** The first unusual request, or the only one, without an answer; null when it could be any of several. */
function causeOfEnd(broken: readonly BrokenAttempt[], results: readonly CheckResult[]): CauseOfEnd | null {
  const all = results.flatMap(attemptsOf)
  const namesOf = ({ request }: EventAttempt) => Object.keys(request.headers).map(name => name.toLowerCase())
  const counts = new Map<string, number>()
  for (const attempt of all) for (const name of namesOf(attempt)) counts.set(name, (counts.get(name) ?? 0) + 1)
  const usual = [...counts]
    .filter(([name, count]) => count > all.length * USUAL_SHARE && !TRANSFER_HEADERS.includes(name))
    .map(([name]) => name)
  const isUnusual = ({ attempt }: BrokenAttempt) => {
    const names = namesOf(attempt)
    return (attempt.sign ?? 'valid') !== 'valid' || usual.some(name => !names.includes(name))
  }
  const unusual = broken.filter(isUnusual).sort((a, b) => a.sentMs - b.sentMs)
  const checks = new Set((unusual.length > 0 ? unusual : broken).map(({ result }) => result))
  const [first] = unusual.length > 0 || checks.size === 1 ? [...unusual, ...broken] : []
  if (first === undefined) return null
  checks.delete(first.result)
  return { ...first, others: [...checks].map(({ check }) => check.id) }
}

function createEndFinding({ attempt: { event, failure, seq }, others }: CauseOfEnd): CheckFinding {
  const also =
    others.length === 0
      ? ''
      : ` ${others.join(', ')} sent unusual requests at the same time, which may be the cause too.`
  return {
    level: 'MUST',
    code: 'target-ended',
    happened: `The intermediary ended when it received ${event} of this check${suffix(failure && failureText(failure))}. Nothing listens at the target since then.${also}`,
    hint: 'Look in its log for the exception, catch it where the event is handled, and answer the request. Give the agent driver a `target` with a start command, so that the other checks run too.',
    details: { after: event, failure: failure ?? null, others },
    entrySeqs: [seq],
  }
}

/** Adds the checks that ran when the target became unreachable: their first events reached it, and later ones did not. */
export function withInterruptedChecks(end: EarlyEnd, results: readonly CheckResult[]): EarlyEnd {
  if (end.code !== 'target_unreachable') return end
  const during: string[] = []
  for (const result of results) {
    const attempts = attemptsOf(result)
    const last = attempts.at(-1)
    if (attempts.every(isRefused)) continue
    if (attempts.some(isRefused) || (last && isLost(last)) || result.reason?.code === 'stopped')
      during.push(result.check.id)
  }
  return during.length === 0 ? end : { ...end, during }
}

/** A check that ran, and how the process of the intermediary ended meanwhile. */
export interface WatchedCheck {
  readonly run: CheckRun
  readonly ends: readonly TargetEnd[]
}

/** For a program that something else starts again. */
const RETURN_MS = 3_000

/**
 * Finds the ends of an intermediary that something else starts again: nothing listens at its address right after a
 * connection was refused, or broke.
 */
export class AddressWatch {
  readonly ends: TargetEnd[] = []
  /** As of a target: the address is watched all the time. */
  readonly running = true
  readonly #target: URL
  readonly #signal: AbortSignal
  /** Resolves with why nothing listens; with null when something listens again. */
  #return: Promise<ConnectionFailure | null> = Promise.resolve(null)
  #isOut = false

  constructor(target: URL, signal: AbortSignal) {
    this.#target = target
    this.#signal = signal
  }

  /** Looks after each attempt of this simulator whose connection was refused, or broke. */
  observe(sim: PlatformSimulator): void {
    coreOf(sim).journal.subscribe(entry => {
      if (entry.kind === 'delivery' && isLost(entry)) void this.#look()
    })
  }

  /** Waits until it listens again. Resolves with why it does not. */
  async returned(): Promise<ConnectionFailure | null> {
    return this.#return
  }

  async #look(): Promise<void> {
    if (this.#isOut) return
    this.#isOut = true
    const failure = await probeTarget(this.#target, 0, this.#signal)
    if (failure?.code === 'connection_refused') {
      this.ends.push({ ended: { code: 'gone', address: this.#target.host }, lines: [], file: null })
      this.#return = probeTarget(this.#target, RETURN_MS, this.#signal)
      await this.#return
    }
    this.#isOut = false
  }
}

/** Between the end of a connection and the end of the process. */
const EXIT_MS = 500

/** Runs a check, and collects how the target ended by itself meanwhile. */
export async function collectEnds(
  target: Pick<TargetControl, 'ends' | 'running'>,
  runCheck: () => Promise<CheckRun>,
): Promise<WatchedCheck> {
  const before = target.ends.length
  const run = await runCheck()
  // A connection breaks before the end of the process is reported.
  const after = target.ends.length
  const untilMs = elapsedMs() + (attemptsOf(run.result).some(isLost) ? EXIT_MS : 0)
  while (target.running && target.ends.length === after && elapsedMs() < untilMs) await wallDelay(20)
  return { run, ends: target.ends.slice(before) }
}

/** Decides about a check during which the target ended, by what it has shown when it ran again, alone. */
export function runAfterEnd(
  before: WatchedCheck,
  together: ReadonlyMap<CheckDefinition, WatchedCheck>,
  alone: ReadonlyMap<CheckDefinition, WatchedCheck>,
): CheckRun {
  const again = alone.get(before.run.result.check)
  if (again === undefined) return before.run
  const { run } = again
  const { result } = run
  const [end] = again.ends
  if (end !== undefined) return { ...run, result: withTargetEnded(result, end) }
  if (result.reason?.code === 'stopped') {
    // It could not be repeated: shows what happened, without a conclusion.
    const reason = { code: 'stopped' } as const
    const stopped = { ...before.run.result, findings: [], reason, outcome: outcomeOf([], reason) }
    return { ...before.run, result: stopped }
  }
  // An end is explained when a check that ran at that time ends the target alone as well.
  const explained = new Set<TargetEnd>()
  for (const [other, { ends: endsAlone }] of alone)
    if (endsAlone.length > 0) for (const one of together.get(other)?.ends ?? []) explained.add(one)
  const open = before.ends.find(one => !explained.has(one))
  if (open === undefined || result.reason !== null) return run
  const checks: string[] = []
  for (const [{ id }, watched] of together) if (watched.ends.includes(open)) checks.push(id)
  const reason: CheckReason = { code: 'target_ended', failure: open.ended, checks }
  return { ...run, result: { ...result, reason, outcome: outcomeOf(result.findings, reason), targetOutput: open } }
}

/** The result of a check that ended the target, although nothing else ran. What came after the end is left out. */
function withTargetEnded(result: CheckResult, end: TargetEnd): CheckResult {
  // What was sent, or done, last before nothing listened any more. Reads of the inbox do nothing.
  let last: EventAttempt | EntryOf<'driver'> | null = null
  for (const entry of result.journal) {
    const isAct = entry.kind === 'delivery' || (entry.kind === 'driver' && entry.verb !== 'inbox')
    if (!isAct) continue
    if (entry.failure?.code === 'connection_refused') break
    last = entry
    if (entry.kind === 'delivery' && isLost(entry)) break
  }
  const after = last === null ? null : String(last.kind === 'delivery' ? last.event : last.verb)
  const finding: CheckFinding = {
    level: 'MUST',
    code: 'target-ended',
    happened: `The intermediary ended by itself${after === null ? '' : ` after ${after}`}: ${targetFailureText(end.ended)}.`,
    hint: 'Look in its last output for the exception, catch it where the event is handled, and answer the request. A bad event must cost one answer, and not all chats.',
    details: { after, failure: end.ended },
    entrySeqs: last === null ? [] : [last.seq],
  }
  const lastSeq = last?.seq ?? -1
  const isEarlier = ({ entrySeqs }: CheckFinding) => entrySeqs.length > 0 && entrySeqs.every(seq => seq <= lastSeq)
  const findings = [finding, ...result.findings.filter(isEarlier)]
  return { ...result, findings, reason: null, outcome: outcomeOf(findings, null), targetOutput: end }
}
