/** Runs one check in a simulator of its own, and builds its result. */
import type { Driver } from '../agent-driver/driver.ts'
import { isInternalError } from '../journal/internal-errors.ts'
import { InterruptedError } from '../runner/waiting.ts'
import { elapsedMs, wallTimer } from '../runtime/clock.ts'
import { anySignal } from '../runtime/node.ts'
import { hashWords } from '../runtime/random.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { presentEntry } from '../wording/entry.ts'
import type { Capability } from './capabilities.ts'
import { type CheckDefinition, type CheckReason, type CheckResult, outcomeOf } from './check.ts'
import { CheckEndedError, type Collected, createCheckContext, type Limits } from './context.ts'
import { findDecisiveKnobs, INITIAL_KNOBS } from './decisive.ts'
import { changedKnobs, type Rotation, rotationFor } from './rotation.ts'

/** A simulator for one check. */
export interface CheckSimulator {
  readonly sim: PlatformSimulator
  /** Called for each chat before anything happens in it. */
  chatOpened(chatId: string): void
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

/** Never rejects for a failure of the intermediary. */
export async function runCheck(check: CheckDefinition, environment: CheckEnvironment): Promise<CheckResult> {
  const reason = obstacleTo(check, environment)
  if (reason !== null) return notRun(check, reason)
  const fixed = check.knobs ?? {}
  const rotation = environment.rotates ? rotationFor(environment.seed, check.id, fixed) : {}
  let plays = 0
  const replay = (changed: Rotation) =>
    play(check, environment, {
      knobs: { ...changed, ...fixed },
      rotated: changed,
      seed: seedOfPlay(environment, check, plays++),
    })
  const result = await replay(rotation)
  return { ...result, decisive: await findDecisiveKnobs({ result, replay }) }
}

/** A check that is repeated needs other chats, because the intermediary remembers those of before. */
const seedOfPlay = ({ seed }: CheckEnvironment, { id }: CheckDefinition, play: number): number =>
  hashWords(play === 0 ? `check ${id}` : `check ${id}, again ${play}`, seed)[0]

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

async function play(
  check: CheckDefinition,
  environment: CheckEnvironment,
  { knobs, rotated, seed }: Play,
): Promise<CheckResult> {
  const { driver, limits, hasWire, url } = environment
  const started = elapsedMs()
  const limit = timeLimit(limits.checkMs, environment.signal)
  const { sim, chatOpened, release } = await environment.open(knobs, seed)
  const firstSeq = sim.journal.nextSeq
  const { context, collected, close } = createCheckContext({
    check,
    sim,
    chatOpened,
    driver,
    limits,
    seed,
    hasWire,
    url,
    signal: limit.signal,
  })
  try {
    await check.run(context)
  } catch (error) {
    reasonOf(error, limit, collected, limits)
  } finally {
    limit.clear()
    close()
    await release()
  }
  const more = { rotated: changedKnobs(rotated, INITIAL_KNOBS), durationMs: elapsedMs() - started }
  return resultOf(check, sim, firstSeq, collected, more)
}

/** Combines the time limit of a check and the end of the run. */
function timeLimit(limitMs: number, outer: AbortSignal) {
  const own = new AbortController()
  const timer = wallTimer(limitMs, () => own.abort())
  return {
    signal: anySignal([own.signal, outer]),
    expired: () => own.signal.aborted,
    clear: () => timer.cancel(),
  }
}

/** Rethrows internal errors. */
function reasonOf(error: unknown, limit: { expired(): boolean }, collected: Collected, { checkMs }: Limits): void {
  if (error instanceof CheckEndedError) return
  if (!(error instanceof InterruptedError)) throw error
  collected.reason ??= limit.expired() ? { code: 'time_limit', limitMs: checkMs } : { code: 'stopped' }
}

function resultOf(
  check: CheckDefinition,
  sim: PlatformSimulator,
  firstSeq: number,
  { findings, reason, measurements, chats }: Collected,
  more: Pick<CheckResult, 'rotated' | 'durationMs'>,
): CheckResult {
  const entries = sim.journal.query({ after: firstSeq - 1 })
  const header = String(coreOf(sim).knobs['webhook.signatureHeader'])
  return {
    check,
    outcome: entries.some(isInternalError) ? 'error' : outcomeOf(findings, reason),
    findings,
    reason,
    measurements,
    chats,
    decisive: [],
    ...more,
    journal: entries.map(entry => presentEntry(entry, header)),
  }
}
