/** Runs one check in a simulator of its own, and builds its result. */

import { elapsedMs, wallTimer } from '../../base/runtime/clock.ts'
import { anySignal } from '../../base/runtime/node.ts'
import { hashWords } from '../../base/runtime/random.ts'
import { isError } from '../../base/text/error-text.ts'
import { isInternalError } from '../../platform/journal/internal-errors.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { Capability } from './capabilities.ts'
import { type CheckDefinition, type CheckResult, outcomeOf } from './check.ts'
import { CheckEndedError, type Collected, createCheckContext, type Limits } from './context.ts'
import type { CheckReason } from './reasons.ts'
import { changedKnobs, findDecisiveKnobs, type Rotation, rotationFor } from './rotation.ts'

/** A simulator for one check. */
export interface CheckSimulator {
  readonly sim: PlatformSimulator
  /** Called for each chat before anything happens in it. */
  chatOpened(chatId: string): void
  /** Whether only this check uses it, so that late entries belong to the check. */
  readonly isOwn: boolean
  /** Ends its use. Late calls about its chats are still answered. */
  release(): void | Promise<void>
}

export interface CheckEnvironment {
  /** Opens a simulator with these knobs and this seed, whose calls arrive from the intermediary. */
  open(knobs: Rotation, seed: number): Promise<CheckSimulator>
  readonly driver: Driver | null
  readonly missing: ReadonlySet<Capability>
  readonly limits: Limits
  readonly seed: number
  /** Whether unspecified behaviours are varied. */
  readonly rotates: boolean
  readonly hasWire: boolean
  /** The address the intermediary calls. */
  readonly url: string
  readonly signal: AbortSignal
}

/** together: at the same time as others. alone: once more, after the intermediary ended meanwhile. */
export type PlaySeries = 'together' | 'alone'

/** A check that has ended. */
export interface CheckRun {
  readonly result: CheckResult
  /** The result with the calls that came after the check had ended. */
  withLateEntries(): CheckResult
}

/** Never rejects: an internal error is an outcome. */
export async function runCheck(
  check: CheckDefinition,
  environment: CheckEnvironment,
  series: PlaySeries = 'together',
): Promise<CheckRun> {
  const reason = obstacleTo(check, environment)
  if (reason !== null) return runOf(notRun(check, reason))
  const fixed = check.knobs ?? {}
  const rotation = environment.rotates ? rotationFor(environment.seed, check.id, fixed) : {}
  let plays = 0
  const replay = (changed: Rotation) =>
    play(check, environment, {
      knobs: { ...changed, ...fixed },
      rotated: changed,
      seed: seedOfPlay(environment, check, series, plays++),
    })
  const ends = endsOf(environment)
  const { result, withLateEntries } = await replay(rotation)
  if (endsOf(environment) > ends) return { result, withLateEntries }
  const decisive = await findDecisiveKnobs({ result, replay: async changed => (await replay(changed)).result })
  return { result: { ...result, decisive }, withLateEntries: () => ({ ...withLateEntries(), decisive }) }
}

/** How often the intermediary has ended by itself: a repetition would not find it. */
const endsOf = ({ driver }: CheckEnvironment): number => driver?.target?.ends.length ?? 0

/** Nothing comes later. */
export const runOf = (result: CheckResult): CheckRun => ({ result, withLateEntries: () => result })

/** A check that is repeated needs other chats, because the intermediary remembers those of before. */
function seedOfPlay({ seed }: CheckEnvironment, { id }: CheckDefinition, series: PlaySeries, play: number): number {
  const name = series === 'together' ? `check ${id}` : `check ${id}, alone`
  return hashWords(play === 0 ? name : `${name}, again ${play}`, seed)[0]
}

/** One play of a check. */
interface Play {
  readonly knobs: Rotation
  /** The knobs that are varied. */
  readonly rotated: Rotation
  /** Of the simulator, and of the chats. */
  readonly seed: number
}

/** The result of a check that did not run. */
export const notRun = (check: CheckDefinition, reason: CheckReason): CheckResult => ({
  check,
  outcome: outcomeOf([], reason),
  findings: [],
  reason,
  measurements: {},
  rotated: {},
  decisive: [],
  durationMs: 0,
  journal: [],
  chats: {},
})

function obstacleTo(check: CheckDefinition, { driver, missing, signal }: CheckEnvironment): CheckReason | null {
  const { capability, needs = [], restarts = false } = check
  if (capability !== undefined && missing.has(capability)) return { code: 'capability_missing', capability }
  if (signal.aborted) return { code: 'stopped' }
  if (driver === null) return needs.length > 0 || restarts ? { code: 'driver_missing' } : null
  const verbs = needs.filter(verb => !driver.verbs.includes(verb))
  if (verbs.length > 0) return { code: 'verbs_missing', verbs }
  return restarts && driver.target === null ? { code: 'restart_missing' } : null
}

async function play(check: CheckDefinition, environment: CheckEnvironment, played: Play): Promise<CheckRun> {
  const started = elapsedMs()
  const limit = timeLimit(check.limitMs ?? environment.limits.checkMs, environment.signal)
  try {
    const opened = await environment.open(played.knobs, played.seed)
    const ended = await playIn(opened, check, environment, limit, played)
    const more = { rotated: changedKnobs(played.rotated), durationMs: elapsedMs() - started }
    const result = () => resultOf(check, opened.sim, ended, more)
    return opened.isOwn ? { result: result(), withLateEntries: result } : runOf(result())
  } catch (error) {
    return runOf({ ...notRun(check, internalError(error)), durationMs: elapsedMs() - started })
  } finally {
    limit.clear()
  }
}

interface Ended {
  readonly collected: Collected
  readonly firstSeq: number
}

async function playIn(
  { sim, chatOpened, release }: CheckSimulator,
  check: CheckDefinition,
  environment: CheckEnvironment,
  limit: TimeLimit,
  { seed }: Play,
): Promise<Ended> {
  const { driver, limits, hasWire, url } = environment
  const firstSeq = sim.journal.nextSeq
  const options = { check, sim, chatOpened, driver, limits, seed, hasWire, url, signal: limit.signal }
  const { context, collected, close } = createCheckContext(options)
  const stopCounting = countCalls(sim, limit)
  try {
    await check.run(context)
  } catch (error) {
    collected.reason = reasonOf(error, limit) ?? collected.reason
  } finally {
    stopCounting()
    close()
    await release()
  }
  return { collected, firstSeq }
}

/** More calls in one check are a flood: the largest check needs about 1,500. */
const MAX_CALLS = 5_000

/** Ends a check that has too many calls. */
function countCalls(sim: PlatformSimulator, limit: TimeLimit): () => void {
  const { journal } = coreOf(sim)
  const started = journal.atMs
  let calls = 0
  return journal.subscribe(({ kind }) => {
    if (kind !== 'api' || ++calls !== MAX_CALLS) return
    limit.end({ code: 'call_flood', calls, overMs: journal.atMs - started })
  })
}

interface TimeLimit {
  readonly signal: AbortSignal
  /** Why the check was ended; null when it was not, or with the run. */
  readonly reason: CheckReason | null
  end(reason: CheckReason): void
  clear(): void
}

/** Combines the limits of a check and the end of the run. */
function timeLimit(limitMs: number, outer: AbortSignal): TimeLimit {
  const own = new AbortController()
  let reason: CheckReason | null = null
  const end = (why: CheckReason) => {
    reason ??= why
    own.abort()
  }
  const timer = wallTimer(limitMs, () => end({ code: 'time_limit', limitMs }))
  return {
    signal: anySignal([own.signal, outer]),
    get reason() {
      return reason
    },
    end,
    clear: () => timer.cancel(),
  }
}

/** Null for a check that has ended itself. */
function reasonOf(error: unknown, limit: TimeLimit): CheckReason | null {
  if (error instanceof CheckEndedError) return null
  return error instanceof InterruptedError ? (limit.reason ?? { code: 'stopped' }) : internalError(error)
}

const internalError = (error: unknown): CheckReason => ({
  code: 'internal_error',
  detail: isError(error) ? `${error.name}: ${error.message}` : String(error),
})

function resultOf(
  check: CheckDefinition,
  sim: PlatformSimulator,
  { collected, firstSeq }: Ended,
  more: Pick<CheckResult, 'rotated' | 'durationMs'>,
): CheckResult {
  const { findings, measurements, chats } = collected
  const entries = sim.journal.query({ after: firstSeq - 1 })
  const note = entries.find(isInternalError)
  const reason = note === undefined ? collected.reason : internalError(note.message)
  const header = String(coreOf(sim).knobs['webhook.signatureHeader'])
  return {
    check,
    outcome: outcomeOf(findings, reason),
    findings,
    reason,
    measurements,
    chats,
    decisive: [],
    ...more,
    journal: entries.map(entry => presentEntry(entry, header)),
  }
}
