/** Runs one check in a simulator of its own, and builds its result. */

import { elapsedMs, wallTimer } from '../../base/runtime/clock.ts'
import { anySignal } from '../../base/runtime/node.ts'
import { hashWords } from '../../base/runtime/random.ts'
import { isError } from '../../base/text/error-text.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { isInternalError } from '../../platform/journal/journal.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { Capability } from './capabilities.ts'
import { mayBeBlocked } from './causes.ts'
import { type AvoidedCause, type CheckDefinition, type CheckResult, type CheckRun, outcomeOf } from './check.ts'
import { CheckEndedError, createCheckContext, type Limits } from './context.ts'
import { type CheckReason, STOPPED } from './reason.ts'
import { changedKnobs, findDecisiveKnobs, type Rotation, type RotationTiers, rotationFor } from './rotation.ts'

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
  /** What each varied behaviour rests on. */
  readonly tiers: RotationTiers
  readonly hasWire: boolean
  /** The address the intermediary calls. */
  readonly url: string
  readonly signal: AbortSignal
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
  avoided: null,
  durationMs: 0,
  journal: [],
  chats: {},
})

/** A run to which no entries come later. */
export const runWithout = (result: CheckResult): CheckRun => ({ result, withLateEntries: changed => changed })

export interface RunOptions {
  /** Why it is repeated. A repetition needs other chats, because the intermediary remembers those of before. */
  readonly repetition?: string
  readonly avoided?: AvoidedCause | null
}

/** Never rejects: an internal error is an outcome. */
export async function runCheck(
  check: CheckDefinition,
  environment: CheckEnvironment,
  { repetition = '', avoided = null }: RunOptions = {},
): Promise<CheckRun> {
  const { driver, rotates, seed, tiers } = environment
  const reason = obstacleTo(check, environment)
  if (reason !== null) return runWithout(notRun(check, reason))
  const endsBefore = driver?.target?.ends.length ?? 0
  const rotation = rotates ? rotationFor(seed, check.id, check.knobs ?? {}, tiers) : {}
  const run = await runOnce(check, environment, { ...rotation, ...avoided?.knobs }, repetition)
  const result = { ...run.result, avoided }
  // A repetition would not find how often the intermediary ends by itself. Another check may explain an obstacle.
  const hasEnded = (driver?.target?.ends.length ?? 0) > endsBefore
  return { ...run, result: hasEnded || mayBeBlocked(result) ? result : await withDecisiveKnobs(result, environment) }
}

/** Adds the unspecified behaviours that decide that the check fails. */
export async function withDecisiveKnobs(result: CheckResult, environment: CheckEnvironment): Promise<CheckResult> {
  const { check, avoided } = result
  let repetitions = 0
  const runAgain = async (rotated: Rotation) => {
    repetitions++
    return (await runOnce(check, environment, { ...rotated, ...avoided?.knobs }, `again ${repetitions}`)).result
  }
  return { ...result, decisive: await findDecisiveKnobs(result, runAgain) }
}

function runOnce(
  check: CheckDefinition,
  environment: CheckEnvironment,
  rotated: Rotation,
  repetition: string,
): Promise<CheckRun> {
  const [seed] = hashWords(`check ${check.id}${repetition === '' ? '' : `, ${repetition}`}`, environment.seed)
  return runInSimulator(check, environment, { knobs: { ...rotated, ...check.knobs }, rotated, seed })
}

function obstacleTo(check: CheckDefinition, { driver, missing, signal }: CheckEnvironment): CheckReason | null {
  const { capability, needs = [], restarts = false } = check
  if (capability !== undefined && missing.has(capability))
    return {
      code: 'capability_missing',
      text: `The capability file says that there is no support for ${capability}.`,
    }
  if (signal.aborted) return STOPPED
  if (driver === null) return needs.length > 0 || restarts ? DRIVER_MISSING : null
  const verbs = needs.filter(verb => !driver.verbs.includes(verb))
  if (verbs.length > 0)
    return {
      code: 'verbs_missing',
      text: `The agent driver has no ${verbs.join(', ')}, so this check cannot be observed.`,
    }
  return restarts && driver.target === null ? RESTART_MISSING : null
}

const DRIVER_MISSING: CheckReason = {
  code: 'driver_missing',
  text: 'This check needs an agent driver, which acts as the human agent: pass --agent-driver FILE.',
}
const RESTART_MISSING: CheckReason = {
  code: 'restart_missing',
  text: 'This check restarts the intermediary: give the agent driver a target with a start command.',
}

interface RunSettings {
  readonly knobs: Rotation
  /** The knobs that are varied. */
  readonly rotated: Rotation
  /** Of the simulator, and of the chats. */
  readonly seed: number
}

/** More calls in one check are a flood: the largest check needs about 1,500. */
const MAX_CALLS = 5_000

async function runInSimulator(
  check: CheckDefinition,
  environment: CheckEnvironment,
  { knobs, rotated, seed }: RunSettings,
): Promise<CheckRun> {
  const { driver, limits, hasWire, url } = environment
  const started = elapsedMs()
  const printedBefore = driver?.target?.printed ?? 0
  const limitMs = check.limitMs ?? limits.checkMs
  // Why the check was ended; null when it was not, or with the run.
  let interruption: CheckReason | null = null
  const ended = new AbortController()
  const end = (reason: CheckReason) => {
    interruption ??= reason
    ended.abort()
  }
  const timer = wallTimer(limitMs, () =>
    end({ code: 'time_limit', text: `The check did not end within ${formatDuration(limitMs)}.` }),
  )
  try {
    const { sim, isOwn, chatOpened, release } = await environment.open(knobs, seed)
    const { journal } = coreOf(sim)
    const firstSeq = journal.nextSeq
    const signal = anySignal([ended.signal, environment.signal])
    const context = createCheckContext({ sim, chatOpened, driver, limits, seed, hasWire, url, signal })
    const { reported } = context
    const startedMs = journal.atMs
    let calls = 0
    const stopCounting = journal.subscribe(({ kind }) => {
      if (kind === 'api' && ++calls === MAX_CALLS) end(callFlood(journal.atMs - startedMs))
    })
    try {
      await check.run(context)
    } catch (error) {
      // A check that ended itself has reported why.
      if (error instanceof InterruptedError) reported.reason = interruption ?? STOPPED
      else if (!(error instanceof CheckEndedError)) reported.reason = internalError(error)
    } finally {
      stopCounting()
      await release()
    }
    const header = String(coreOf(sim).platform.knobs['webhook.signatureHeader'])
    const withEntries = (result: CheckResult): CheckResult => {
      const entries = sim.journal.query({ after: firstSeq - 1 })
      const note = entries.find(isInternalError)
      const reason = note === undefined ? result.reason : internalError(note.message)
      const shown = entries.map(entry => presentEntry(entry, header))
      return { ...result, reason, outcome: outcomeOf(result.findings, reason), journal: shown }
    }
    const { findings, reason, measurements, chats } = reported
    const durationMs = elapsedMs() - started
    const facts = { findings, reason, measurements, chats, rotated: changedKnobs(rotated), durationMs }
    const ran = withEntries({ ...notRun(check, STOPPED), ...facts })
    const targetOutput = ran.outcome === 'pass' ? null : (driver?.target?.outputAfter(printedBefore) ?? null)
    const result = targetOutput === null ? ran : { ...ran, targetOutput }
    return isOwn ? { result, withLateEntries: withEntries } : runWithout(result)
  } catch (error) {
    return runWithout({ ...notRun(check, internalError(error)), durationMs: elapsedMs() - started })
  } finally {
    timer.cancel()
  }
}

function internalError(error: unknown): CheckReason {
  const detail = isError(error) ? `${error.name}: ${error.message}` : String(error)
  const text = `Internal error of handover-sim: ${detail}. It says nothing about the intermediary; please report it.`
  return { code: 'internal_error', text }
}

function callFlood(overMs: number): CheckReason {
  const within = formatDuration(Math.max(1, Math.round(overMs)))
  const text = `The intermediary made ${MAX_CALLS} calls in ${within}, more than a check follows, so it was ended. Look for a loop that makes the same call again, such as an answer to its own typing events.`
  return { code: 'call_flood', text }
}
