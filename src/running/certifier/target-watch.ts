/** Decides about checks during which the intermediary ended, or could not be reached any more. */

import { elapsedMs, wallDelay } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, peerLoss } from '../../base/runtime/connection-failure.ts'
import type { Finding } from '../../evaluation/finding.ts'
import { type DriverCallEntry, isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { failureText, targetFailureText } from '../../platform/wording/failures.ts'
import type { TargetControl, TargetEnd } from '../agent-driver/driver.ts'
import { probe } from '../agent-driver/probe.ts'
import { probeTarget } from '../agent-driver/target.ts'
import { type CheckDefinition, type CheckResult, type CheckRun, outcomeOf } from './check.ts'
import { type CheckReason, STOPPED } from './reason.ts'
import { suffix } from './words.ts'

type EventAttempt = EntryOf<'delivery'>

export const attemptsOf = ({ journal }: Pick<CheckResult, 'journal'>): EventAttempt[] =>
  journal.filter(entry => entry.kind === 'delivery')

export const isRefused = ({ failure }: EventAttempt | DriverCallEntry): boolean =>
  failure?.code === 'connection_refused'

/** Whether the connection was refused, or broke. */
const isLost = ({ status, failure }: EventAttempt): boolean => status === null && failure?.code !== 'timeout'
const isLostEntry = (entry: Entry): boolean =>
  entry.kind === 'delivery' ? isLost(entry) : isDriverCall(entry) && peerLoss(entry.failure) !== null

/** A request of a check to the intermediary: an event, or an act of the agent in its help desk. Times are of the wall. */
interface SentRequest {
  readonly result: CheckResult
  readonly entry: EventAttempt | DriverCallEntry
  /** `REQUESTING TAKEOVER`, `accept`. */
  readonly name: string
  readonly isAnswered: boolean
  readonly isLost: boolean
  readonly sentMs: number
  readonly endedMs: number
}

function requestsOf(result: CheckResult): SentRequest[] {
  const requests: SentRequest[] = []
  for (const entry of result.journal) {
    if (entry.kind !== 'delivery' && !isDriverCall(entry)) continue
    const isEvent = entry.kind === 'delivery'
    const endedMs = Date.parse(entry.time)
    requests.push({
      result,
      entry,
      name: isEvent ? entry.event : entry.verb,
      isAnswered: isEvent ? entry.status !== null : entry.outcome !== 'unreachable',
      isLost: isLostEntry(entry),
      sentMs: endedMs - entry.duration_ms,
      endedMs,
    })
  }
  return requests
}

/**
 * Decides about checks during which the target ended, when nothing starts it again: the one whose request ended it fails,
 * when it is known. The others keep what they found before, and are inconclusive.
 */
export function withoutTarget(results: readonly CheckResult[]): CheckResult[] {
  const all = results.flatMap(requestsOf)
  // What answers an event, or calls, runs. The help desk may be another program.
  let aliveMs = 0
  for (const { entry, isAnswered, sentMs } of all)
    if (isAnswered && entry.kind === 'delivery') aliveMs = Math.max(aliveMs, sentMs)
  for (const { journal } of results)
    for (const { kind, time } of journal) if (kind === 'api') aliveMs = Math.max(aliveMs, Date.parse(time))
  const lost = all.filter(({ isLost, endedMs }) => isLost && endedMs >= aliveMs)
  const endMs = Math.min(...lost.map(({ endedMs }) => endedMs))
  const suspects = suspectsOf(all, lost, endMs)
  const [first] = suspects
  return results.map(result => {
    const times = new Map(result.journal.map(({ seq, time }) => [seq, Date.parse(time)]))
    const isEarlier = ({ entrySeqs }: Finding) => entrySeqs.every(seq => (times.get(seq) ?? 0) < endMs)
    const findings = result.findings.filter(isEarlier)
    if (first?.isCause && first.result === result) {
      findings.unshift(createEndFinding(first, suspects))
      return { ...result, findings, reason: null, outcome: outcomeOf(findings, null) }
    }
    const isSuspect = first?.isCause === false && suspects.some(request => request.result === result)
    if (!isSuspect && findings.length === result.findings.length && !lost.some(request => request.result === result))
      return result
    const named = isSuspect ? suspects.map(({ result: { check }, name }) => ({ check: check.id, request: name })) : []
    const reason: CheckReason = { code: 'target_unreachable', text: unreachableText(named), suspects: named }
    return { ...result, findings, reason, outcome: outcomeOf(findings, reason) }
  })
}

const unreachableText = (suspects: NonNullable<CheckReason['suspects']>): string =>
  suspects.length === 0
    ? 'No program listened at the target any more. The end of this report says why the run was stopped.'
    : `The intermediary ended, and it is not known which of these requests ended it: ${suspects.map(({ check, request }) => `${request} of ${check}`).join(', ')}. Start it again, and run each of these checks alone, with --only.`

/** How a body is sent, which a server handles before the intermediary does. */
const TRANSFER_HEADERS = ['content-length', 'transfer-encoding']

/** Of the checks that send events. A header that only some of them have, such as an id of the delivery, is less frequent. */
const USUAL_SHARE = 0.7
/** Fewer checks do not show what is usual. */
const MANY = 5

/** An intermediary may end by what it does after its answer. */
const RECENT_MS = 1_000

/** A request that may have ended the target. */
interface Suspect extends SentRequest {
  /** Whether it is the one, or the first of those that are most likely. */
  readonly isCause: boolean
}

/**
 * The requests that may have ended the target, one of each check: those that are unusual and have no answer. Else those
 * without an answer, and those that were answered just before and that only their check sends.
 */
function suspectsOf(all: readonly SentRequest[], lost: readonly SentRequest[], endMs: number): Suspect[] {
  const headersOf = ({ entry }: SentRequest): string[] =>
    entry.kind === 'delivery' ? Object.keys(entry.request.headers).map(name => name.toLowerCase()) : []
  const checksByHeader = new Map<string, Set<CheckResult>>()
  const senders = new Set<CheckResult>()
  const answered = new Set<string>()
  const sentIn = new Map<string, Set<CheckResult>>()
  for (const request of all) {
    if (request.entry.kind === 'delivery') senders.add(request.result)
    for (const header of headersOf(request))
      checksByHeader.set(header, (checksByHeader.get(header) ?? new Set()).add(request.result))
    if (request.isAnswered) answered.add(request.name)
    sentIn.set(request.name, (sentIn.get(request.name) ?? new Set()).add(request.result))
  }
  const usual = [...checksByHeader]
    .filter(([name, { size }]) => size > Math.max(MANY, senders.size) * USUAL_SHARE && !TRANSFER_HEADERS.includes(name))
    .map(([name]) => name)
  const isUnusual = (request: SentRequest) => {
    if (answered.size > 0 && !answered.has(request.name)) return true
    if (request.entry.kind !== 'delivery') return false
    const headers = headersOf(request)
    return (request.entry.sign ?? 'valid') !== 'valid' || usual.some(name => !headers.includes(name))
  }
  const firstOfEach = (requests: readonly SentRequest[]) => {
    const firsts = new Map<CheckResult, SentRequest>()
    for (const request of [...requests].sort((a, b) => a.sentMs - b.sentMs))
      if (!firsts.has(request.result)) firsts.set(request.result, request)
    return [...firsts.values()]
  }
  // Reads of the inbox do nothing.
  const broken = lost.filter(({ entry, name }) => !isRefused(entry) && name !== 'inbox')
  const unusual = firstOfEach(broken.filter(isUnusual))
  if (unusual.length > 0) return unusual.map(request => ({ ...request, isCause: true }))
  const recent = all.filter(
    ({ isAnswered, name, endedMs }) => isAnswered && endedMs >= endMs - RECENT_MS && sentIn.get(name)?.size === 1,
  )
  const suspects = firstOfEach([...recent, ...broken])
  const isCause = suspects.length === 1 && recent.length === 0
  return suspects.map(request => ({ ...request, isCause }))
}

function createEndFinding({ entry, name }: Suspect, [, ...more]: readonly Suspect[]): Finding {
  const { failure, seq } = entry
  const otherChecks = more.map(({ result: { check } }) => check.id)
  const also =
    otherChecks.length === 0
      ? ''
      : ` ${otherChecks.join(', ')} sent unusual requests at the same time, which may be the cause too.`
  const what = entry.kind === 'delivery' ? `it received ${name}` : `the agent driver performed ${name}`
  return {
    level: 'MUST',
    conversation: null,
    code: 'target-ended',
    happened: `The intermediary ended when ${what} in this check${suffix(failure && failureText(failure))}. Nothing listens at the target since then.${also}`,
    hint: 'Look in its log for the exception, catch it where the event is handled, and answer the request. Give the agent driver a `target` with a start command, so that the other checks run too.',
    details: { after: name, failure: failure ?? null, others: otherChecks },
    entrySeqs: [seq],
  }
}

/** Adds the checks to look at when the target is gone: those that may have ended it, else those that ran then. */
export function withInterruptedChecks(end: EarlyEnd, results: readonly CheckResult[]): EarlyEnd {
  if (end.code !== 'target_unreachable') return end
  const during: string[] = []
  const ending: string[] = []
  for (const { check, findings, reason, journal } of results) {
    const isSuspect = (reason?.suspects ?? []).length > 0
    if (isSuspect || findings.some(({ code }) => code === 'target-ended')) ending.push(check.id)
    const attempts = attemptsOf({ journal })
    const last = attempts.at(-1)
    if (attempts.every(isRefused)) continue
    if (attempts.some(isRefused) || (last && isLost(last)) || reason?.code === 'stopped') during.push(check.id)
  }
  if (ending.length > 0) return { ...end, during: ending }
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
  readonly #target: URL
  readonly #signal: AbortSignal
  /** Resolves with why nothing listens; with null when something listens again. */
  #return: Promise<ConnectionFailure | null> = Promise.resolve(null)
  /** Looks whether it is gone; null when nothing gives a reason to look. */
  #look: Promise<void> | null = null

  constructor(target: URL, signal: AbortSignal) {
    this.#target = target
    this.#signal = signal
  }

  /** Looks after each event and each act of the agent whose connection was refused, or broke. */
  observe(sim: PlatformSimulator): void {
    coreOf(sim).journal.subscribe(entry => {
      if (isLostEntry(entry)) this.#look ??= this.#findEnd().finally(() => (this.#look = null))
    })
  }

  /** Waits until it listens again. Resolves with why it does not. */
  async returned(): Promise<ConnectionFailure | null> {
    return this.#return
  }

  /** The agent driver has started it again: how long that took says nothing. */
  forget(): void {
    this.#return = Promise.resolve(null)
  }

  /** Resolves when it is known whether it has ended. */
  async endedOrServing(): Promise<void> {
    await this.#look
  }

  /** A process that is ending still accepts connections, and breaks them. */
  async #findEnd(): Promise<void> {
    const untilMs = elapsedMs() + RETURN_MS
    let failure = await probe(this.#target.href, this.#signal)
    while (peerLoss(failure) === 'broken' && elapsedMs() < untilMs && !this.#signal.aborted) {
      await wallDelay(POLL_MS, this.#signal)
      failure = await probe(this.#target.href, this.#signal)
    }
    if (failure?.code !== 'connection_refused') return
    this.ends.push({ ended: { code: 'gone', address: this.#target.host }, lines: [], file: null })
    this.#return = probeTarget(this.#target, RETURN_MS, this.#signal)
    await this.#return
  }
}

const POLL_MS = 20

/** Runs a check, and collects how the target ended by itself meanwhile. */
export async function collectEnds(
  target: Pick<TargetControl, 'ends' | 'endedOrServing'>,
  runCheck: () => Promise<CheckRun>,
  signal: AbortSignal,
): Promise<WatchedCheck> {
  const before = target.ends.length
  const run = await runCheck()
  // A connection breaks before the end of the process is reported.
  if (attemptsOf(run.result).some(isLost)) await target.endedOrServing(signal)
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
    const stopped = { ...before.run.result, findings: [], reason: STOPPED, outcome: outcomeOf([], STOPPED) }
    return { ...before.run, result: stopped }
  }
  // An end is explained when a check that ran at that time ends the target alone as well.
  const explained = new Set<TargetEnd>()
  for (const [other, { ends: endsAlone }] of alone)
    if (endsAlone.length > 0) for (const end of together.get(other)?.ends ?? []) explained.add(end)
  const open = before.ends.find(end => !explained.has(end))
  if (open === undefined || result.reason !== null) return run
  const checks: string[] = []
  for (const [{ id }, watched] of together) if (watched.ends.includes(open)) checks.push(id)
  const text = `The intermediary ended by itself while ${checks.join(', ')} ran (${targetFailureText(open.ended)}), and it did not end when each ran alone, so the cause is unknown. Try --jobs 1, and look for what several chats at once share.`
  const reason: CheckReason = { code: 'target_ended', text }
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
  const finding: Finding = {
    level: 'MUST',
    conversation: null,
    code: 'target-ended',
    happened: `The intermediary ended by itself${after === null ? '' : ` after ${after}`}: ${targetFailureText(end.ended)}.`,
    hint: 'Look in its last output for the exception, catch it where the event is handled, and answer the request. A bad event must cost one answer, and not all chats.',
    details: { after, failure: end.ended },
    entrySeqs: last === null ? [] : [last.seq],
  }
  const lastSeq = last?.seq ?? -1
  const isEarlier = ({ entrySeqs }: Finding) => entrySeqs.length > 0 && entrySeqs.every(seq => seq <= lastSeq)
  const findings = [finding, ...result.findings.filter(isEarlier)]
  return { ...result, findings, reason: null, outcome: outcomeOf(findings, null), targetOutput: end }
}
