/** Explores an intermediary: runs generated conversations until the budget is used up, and shortens those that fail. */
import { elapsedMs } from '../../base/runtime/clock.ts'
import { hashWords } from '../../base/runtime/random.ts'
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { loadScenarioText, loadValues } from '../../evaluation/scenario/load/load.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { type CalibrateOptions, type Calibration, calibrate, PLAIN_PAUSES_MS } from './calibrate.ts'
import { createFailingScenario, type FailingScenario, nameOf, needsOf } from './failing-scenario.ts'
import { generateSequence, nextSequence } from './generate.ts'
import { brokenBy, type InvariantId } from './invariants.ts'
import { type ActSequence, inModel, possibleActs, ruleOf } from './model.ts'
import { shrink } from './shrink.ts'
import { countSituations, type Tried } from './situations.ts'
import { toScenario } from './to-scenario.ts'

export interface ExploreOptions extends CalibrateOptions {
  /** Null: as long as `conversations` takes. */
  readonly durationMs: number | null
  /** Null: as many as fit into `durationMs`. */
  readonly conversations: number | null
  /** Conversations to run before others: those that failed in an earlier run. */
  readonly first: readonly ActSequence[]
  /** The number of the one conversation to run; null to generate others. */
  readonly replay: number | null
  /** What earlier runs have tried; is counted on. */
  readonly situations: Map<string, Tried>
  /** How many conversations earlier runs have generated from this seed. */
  readonly startIndex: number
  /** Where the scenario files are written. */
  readonly folder: string
  readonly signal: AbortSignal
  /** Starts the intermediary again when it has ended. Resolves with a sentence when it does not answer; null when it does. */
  revive(): Promise<string | null>
  /** The command or the call that runs the conversation with this seed again. */
  rerun(seed: number): string
  readonly listener: ExploreListener
}

export interface ExploreListener {
  /** After each part of the work. */
  progress(counts: ExploreCounts): void
  /** Again and again while the shortest conversation that fails is looked for, for at most so long. */
  shortening(seed: number, invariant: InvariantId, atMostMs: number): void
  found(finding: FailedConversation): void
  doubted(failure: Unconfirmed): void
}

export interface ExploreCounts {
  readonly conversations: number
  readonly acts: number
  readonly situations: number
}

/** A failure that needs a certain conversation. */
export interface FailedConversation {
  readonly invariant: InvariantId
  /** As short as it was found. */
  readonly sequence: ActSequence
  readonly acts: number
  /** The name of the scenario: what happens, and after which acts. */
  readonly name: string
  /** What the failure needs beside these acts, as sentences. */
  readonly needs: readonly string[]
  /** How often it failed when it was repeated alone; 0 when it failed again only among other conversations. */
  readonly failed: number
  readonly of: number
  /** The scenario file; null when it does not fail reliably. */
  readonly file: FailingScenario | null
  readonly result: ScenarioResult
  /** How many other conversations failed for what seems to be the same cause. */
  others: number
}

/** A failure that did not come again: neither alone, nor among others. */
export interface Unconfirmed {
  readonly invariant: InvariantId
  readonly sequence: ActSequence
  readonly name: string
  /** The first run that failed. */
  readonly result: ScenarioResult
}

export interface ExploreResult extends ExploreCounts {
  readonly findings: readonly FailedConversation[]
  /** What did not fail again, alone or among a few others. */
  readonly unconfirmed: readonly Unconfirmed[]
  readonly calibration: Calibration
  /** What happened between two conversations, so that no scenario shows it. */
  readonly between: readonly string[]
  /** How many conversations had no verdict, by the reason. */
  readonly undecided: ReadonlyMap<string, number>
  /** Why it ended before its budget; null when it did not. */
  readonly stopped: string | null
  /** Whether the signal ended it: then what it found is not all. */
  readonly isInterrupted: boolean
  readonly nextIndex: number
}

/** 1: something failed. 4: no conversation had a verdict. */
export function exitCodeOf({ findings, between, stopped, undecided, conversations }: ExploreResult): 0 | 1 | 4 {
  if (findings.length > 0 || between.length > 0 || stopped !== null) return 1
  let withoutVerdict = 0
  for (const count of undecided.values()) withoutVerdict += count
  return withoutVerdict === conversations ? 4 : 0
}

/** How often a failure is repeated, and how often it has to fail. */
const REPEATS = 3
const RELIABLE = 2
/** The rate of an intermittent failure is measured with so many more runs. */
const MORE_REPEATS = 7
/** For one failure, and for all of them when the time for new conversations is over. */
const SHRINK_MS = 60_000
/** Among how many conversations a failure that does not come alone is repeated, and how many of them run at once. */
const OTHERS = 16
const FEW_JOBS = 4
/** How long an effect may take while a conversation is shortened, at least; the shortest one has the usual time again. */
const MIN_WITHIN_MS = 1_000
/** No more findings of one invariant are shortened: the first ones show what to fix. */
const MAX_OF_INVARIANT = 8

interface Failed {
  readonly sequence: ActSequence
  readonly invariant: InvariantId
  readonly cause: string
  readonly failedAt: number | null
  readonly result: ScenarioResult
}

export async function explore(options: ExploreOptions): Promise<ExploreResult> {
  const { seed, jobs, conversations, durationMs, signal, situations, listener, load, withinMs, inProcess } = options
  const startMs = elapsedMs()
  let runs = 0
  let isAlone = false

  /** With a new seed for each run: the intermediary remembers the chats of those before. */
  const runPlans = async (wanted: readonly SelectedScenario[], atOnce = jobs): Promise<RunResult> => {
    const result = await options.run(wanted, isAlone ? 1 : atOnce, hashWords(`run ${++runs}`, seed)[0] >>> 1)
    for (const { happened } of result.failures) between.add(happened)
    return result
  }
  /** Runs each conversation so many times. Resolves with the results of each. */
  const runAll = async (
    sequences: readonly ActSequence[],
    times = 1,
    atMostMs = withinMs,
    atOnce = jobs,
  ): Promise<ScenarioResult[][]> => {
    const settings = { ...calibration.abilities, inProcess, withinMs: Math.min(withinMs, atMostMs) }
    const named = sequences.map((sequence, index) =>
      toScenario(sequence, { ...settings, name: `Conversation ${index + 1}, seed ${sequence.seed}` }),
    )
    const files = named.map(({ scenario }) => scenario)
    const wanted = compile(await loadValues(files, load)).flatMap(plan =>
      Array.from({ length: times }, (_, index) => ({ plan, instance: index + 1 })),
    )
    const result = await runPlans(wanted, atOnce)
    return sequences.map((_, index) => result.scenarios.slice(index * times, (index + 1) * times))
  }
  const failureOf = (sequence: ActSequence, result: ScenarioResult | undefined): Failed | null => {
    const [first] = result?.failures ?? []
    if (result === undefined || first === undefined || result.outcome !== 'fail') return null
    const invariant = brokenBy(first)
    if (invariant === null) return null
    const { actOfStep } = toScenario(sequence, { ...calibration.abilities, withinMs, inProcess, name: 'x' })
    const failedAt = first.step === null ? null : (actOfStep[first.step.number - 1] ?? null)
    return { sequence, invariant, cause: `${invariant} ${first.code}`, failedAt, result }
  }

  const between = new Set<string>()
  const undecided = new Map<string, number>()
  const findings: FailedConversation[] = []
  const unconfirmed: Unconfirmed[] = []
  const counts = { conversations: 0, acts: 0 }
  const countsNow = (): ExploreCounts => ({ ...counts, situations: situations.size })
  let calibration = await calibrate(options)
  // What an interruption left undone says nothing about the intermediary.
  if (signal.aborted) calibration = { ...calibration, result: null, broken: null, missing: [], leftOut: [] }
  // Twice what the plain conversation took beside its pauses.
  const shortMs = Math.max(MIN_WITHIN_MS, 2 * ((calibration.result?.durationMs ?? 0) - PLAIN_PAUSES_MS))
  let index = options.startIndex
  /** How long a conversation takes when all jobs run; about a second with one. */
  let msOfOne = 3_000 / jobs
  let stopped: string | null = null
  if (calibration.broken !== null)
    stopped = `a plain conversation ${calibration.broken.outcome === 'error' ? 'cannot be judged' : 'fails'}`
  const isOver = () =>
    signal.aborted ||
    stopped !== null ||
    (conversations !== null && counts.conversations >= conversations) ||
    (durationMs !== null && elapsedMs() - startMs >= durationMs)

  const { replay } = options
  const waiting = replay === null ? [...options.first] : [generateSequence(replay, calibration.vocabulary)]
  let wave: ActSequence[] = []
  while (!isOver()) {
    // Large waves leave few jobs without work at their end; the last one ends when the time is over, about.
    const leftMs = durationMs === null ? Number.POSITIVE_INFINITY : durationMs - (elapsedMs() - startMs)
    const fitting = Math.max(jobs, Math.floor(leftMs / msOfOne))
    const size = isAlone ? 4 : Math.min(jobs * 8, fitting)
    const most = Math.min(size, conversations === null ? size : conversations - counts.conversations)
    wave = waiting.splice(0, most)
    for (const sequence of wave) countSituations(situations, sequence)
    while (replay === null && wave.length < most) {
      const sequence = nextSequence(seed, index++, calibration.vocabulary, situations)
      countSituations(situations, sequence)
      wave.push(sequence)
    }
    if (wave.length === 0) break
    // The longest first, so that none runs alone at the end; then those that have to run alone.
    wave.sort((a, b) => Number(isOfDesk(a)) - Number(isOfDesk(b)) || lengthOf(b) - lengthOf(a))
    const beganMs = elapsedMs()
    const results = await runAll(wave)
    msOfOne = (elapsedMs() - beganMs) / wave.length
    counts.conversations += wave.length
    for (const sequence of wave) counts.acts += inModel(sequence).length
    listener.progress(countsNow())
    if (signal.aborted) break
    for (const result of results.flat()) {
      if (result.outcome !== 'error' && result.outcome !== 'inconclusive') continue
      const reason = result.reason?.text ?? result.outcome
      undecided.set(reason, (undecided.get(reason) ?? 0) + 1)
      // A driver that reads no inbox lets no conversation be judged.
      if (result.outcome !== 'error' || result.failures[0]?.code !== 'driver_failed') continue
      stopped ??= 'a conversation cannot be judged'
      calibration = { ...calibration, result, broken: result }
    }
    const failed = wave.flatMap((sequence, at) => failureOf(sequence, results[at]?.[0]) ?? [])
    const why = await options.revive()
    if (why !== null) stopped = why
    // The shortest first: it explains the others best.
    failed.sort((a, b) => a.sequence.acts.length - b.sequence.acts.length)
    const wasAlone: boolean = isAlone
    for (const failure of failed) {
      // After the first ones that others had disturbed, the rest of these says nothing.
      if (signal.aborted || stopped !== null || isAlone !== wasAlone) break
      // When the time is over, only what is new is looked at.
      const isLate = durationMs !== null && elapsedMs() - startMs > durationMs
      const known = findings.find(
        finding =>
          explains(finding, failure) || (isLate && finding.invariant === failure.invariant && finding.file !== null),
      )
      if (known !== undefined) known.others++
      else if (
        findings.filter(({ invariant, file }) => file !== null && invariant === failure.invariant).length <
        MAX_OF_INVARIANT
      )
        await examine(failure)
    }
    // After failures a plain conversation shows whether the intermediary still works.
    if (failed.length > 0 && stopped === null && !signal.aborted) {
      const [[control] = []] = await runAll([calibration.control])
      if (control?.outcome === 'fail' || control?.outcome === 'error')
        stopped = `after these conversations a plain one fails: seeds ${wave.map(sequence => sequence.seed).join(', ')}`
    }
  }
  return {
    ...countsNow(),
    findings,
    unconfirmed,
    calibration,
    between: [...between],
    undecided,
    stopped,
    isInterrupted: signal.aborted,
    nextIndex: index,
  }

  /** Repeats a failure, shortens its conversation, and checks the scenario file. */
  async function examine(failed: Failed): Promise<void> {
    const { sequence, invariant } = failed
    const original = createFile(sequence, invariant)
    const plan = await planOf(original)
    // When a second one does not fail alone, conversations disturb each other: from now on each runs alone.
    const alike = findings.find(finding => finding.failed === 0 && finding.invariant === invariant)
    if (alike !== undefined && (await repeat(failed, plan, 1)).failing.length === 0) {
      alike.others++
      isAlone = true
      return
    }
    const { verdict, failing, of } = await confirm(failed, plan)
    if (signal.aborted) return
    if (verdict === 'unconfirmed') {
      const failure = { invariant, sequence, name: nameOf(sequence, invariant), result: failed.result }
      unconfirmed.push(failure)
      listener.doubted(failure)
    } else if (verdict === 'intermittent') add(failed, failing.length, of, null)
    else {
      const shortest = await shorten(failed)
      if (signal.aborted) return
      if (shortest !== null) add(shortest.failed, shortest.times, shortest.of, shortest.file)
      else add({ ...failed, result: failing[0] ?? failed.result }, failing.length, of, original)
    }
  }

  /** Repeats a failure: alone, and when it does not come again alone, once more among others. */
  async function confirm(failed: Failed, plan: Plan) {
    const { runs: of, failing } = await repeat(failed, plan, REPEATS, RELIABLE)
    if (failing.length >= RELIABLE) return { verdict: 'reliable', failing, of } as const
    if (failing.length > 0) {
      const more = await repeat(failed, plan, MORE_REPEATS)
      return { verdict: 'intermittent', failing: [...failing, ...more.failing], of: of + more.runs } as const
    }
    const again = signal.aborted ? [] : await repeatAmongOthers(failed.sequence)
    await options.revive()
    const isAgain = again.some(result => isSame(failed, result))
    return { verdict: isAgain ? 'intermittent' : 'unconfirmed', failing, of } as const
  }

  /** Beside those that ran at about the same time, few at once: what fails then needs others. */
  async function repeatAmongOthers(sequence: ActSequence): Promise<readonly ScenarioResult[]> {
    const at = wave.indexOf(sequence)
    const nearby = wave.slice(Math.max(0, at - OTHERS / 2), at + OTHERS / 2)
    return (await runAll(nearby, RELIABLE, withinMs, Math.min(jobs, FEW_JOBS)))[nearby.indexOf(sequence)] ?? []
  }

  /** The shortest conversation with this failure, whose scenario file has failed as it is written; null when none did. */
  async function shorten(failed: Failed) {
    const { sequence, invariant } = failed
    // An intermediary that ends breaks all conversations that run at the same time. In one process none runs beside another.
    const isOnlySerial = isAlone || inProcess !== null || invariant === 'INV-ALIVE'
    for (const isSerial of isOnlySerial ? [true] : [false, true]) {
      const endMs = durationMs === null ? Number.POSITIVE_INFINITY : startMs + durationMs + SHRINK_MS
      const untilMs = Math.min(elapsedMs() + SHRINK_MS, endMs)
      const shortest = await shrink(sequence, failed.failedAt, {
        isOver: () => signal.aborted || elapsedMs() > untilMs,
        async failing(candidates) {
          listener.shortening(sequence.seed, invariant, untilMs - elapsedMs())
          const isFailing = (candidate: ActSequence, results: readonly ScenarioResult[] = []) =>
            results.length > 0 && results.every(result => isSame({ ...failed, sequence: candidate }, result))
          if (!isSerial) {
            const results = await runAll(candidates, RELIABLE, shortMs)
            return candidates.map((candidate, at) => isFailing(candidate, results[at]))
          }
          // The first one that fails is enough.
          const isFailed = candidates.map(() => false)
          for (const [at, candidate] of candidates.entries()) {
            const [results] = await runAll([candidate], 1, shortMs)
            await options.revive()
            isFailed[at] = isFailing(candidate, results)
            if (isFailed[at] || elapsedMs() > untilMs) break
          }
          return isFailed
        },
      })
      if (signal.aborted) return null
      const file = createFile(shortest, invariant)
      const shortened = { ...failed, sequence: shortest }
      const last = await repeat(shortened, await planOf(file), REPEATS, RELIABLE)
      const [result] = last.failing
      if (result !== undefined && last.failing.length >= RELIABLE)
        return { failed: { ...shortened, result }, times: last.failing.length, of: last.runs, file }
    }
    return null
  }

  /** Runs alone, because other conversations at the same time may be the cause. Ends when it has failed often enough. */
  async function repeat(failed: Failed, plan: Plan, most: number, enough = most) {
    const failing: ScenarioResult[] = []
    let runs = 0
    while (runs < most && failing.length < enough && !signal.aborted) {
      const [result] = (await runPlans([{ plan, instance: ++runs }])).scenarios
      if (result !== undefined && isSame(failed, result)) failing.push(result)
      await options.revive()
    }
    return { runs, failing }
  }

  async function planOf({ path, yaml }: FailingScenario): Promise<Plan> {
    const [plan] = compile(await loadScenarioText(path, yaml, load))
    if (plan === undefined) throw new Error(`The scenario file ${path} has no scenario.`)
    return inProcess === null ? plan : { ...plan, timeouts: { ...plan.timeouts, ...inProcess } }
  }

  function isSame({ sequence, cause }: Failed, result: ScenarioResult): boolean {
    return failureOf(sequence, result)?.cause === cause
  }

  function add(
    { sequence, invariant, result }: Failed,
    failed: number,
    of: number,
    file: FailingScenario | null,
  ): void {
    const acts = inModel(sequence).length
    const name = nameOf(sequence, invariant)
    const same = findings.find(finding => finding.name === name && finding.file !== null)
    if (same !== undefined) {
      same.others++
      return
    }
    const finding = { invariant, sequence, acts, name, needs: needsOf(sequence) }
    const whole: FailedConversation = { ...finding, failed, of, file, result, others: 0 }
    countSituations(situations, sequence, failureOf(sequence, result)?.failedAt ?? acts - 1)
    findings.push(whole)
    listener.found(whole)
  }

  function createFile(sequence: ActSequence, invariant: InvariantId): FailingScenario {
    const settings = { ...calibration.abilities, withinMs, inProcess: null, name: nameOf(sequence, invariant) }
    return createFailingScenario(sequence, invariant, { ...options, settings })
  }
}

const isOfDesk = ({ acts }: ActSequence): boolean => acts.some(({ kind }) => ruleOf(kind).isOfDesk)

/** How long it takes, about: a pause is as long as many acts. */
const lengthOf = ({ acts }: ActSequence): number => acts.length + (acts.some(({ pace }) => pace === 'slow') ? 15 : 0)

/** Whether the acts of a finding are part of a conversation that failed in the same way. */
function explains({ invariant, sequence, file }: FailedConversation, failed: Failed): boolean {
  if (file === null ? sequence.seed !== failed.sequence.seed : invariant !== failed.invariant) return false
  const until = failed.failedAt === null ? undefined : failed.failedAt + 1
  const needed = possibleActs(sequence)
  for (const act of possibleActs(failed.sequence).slice(0, until)) {
    const [next] = needed
    if (next === undefined) break
    const hasText = next.text === undefined || next.text.kind === 'plain' || next.text.kind === act.text?.kind
    if (next.kind === act.kind && hasText) needed.shift()
  }
  return needed.length === 0
}
