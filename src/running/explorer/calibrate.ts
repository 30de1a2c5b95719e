/**
 * Tries plain conversations first: what the help desk shows, and which capabilities that the platform's description leaves to
 * the intermediary it has. A capability that fails alone is not explored: the scenarios and the certification test it.
 */
import { keysOf } from '../../base/objects.ts'
import { hashWords } from '../../base/runtime/random.ts'
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { type LoadOptions, loadValues } from '../../evaluation/scenario/load/load.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { VARIED_KNOBS, type Vocabulary } from './generate.ts'
import { endpointOf } from './invariants.ts'
import {
  ACT_FAULTS,
  ACT_RULES,
  type Act,
  type ActFault,
  type ActKind,
  type ActSequence,
  PACES,
  ruleOf,
} from './model.ts'
import { type Abilities, type ScenarioSettings, toScenario } from './to-scenario.ts'

export interface CalibrateOptions {
  readonly seed: number
  readonly jobs: number
  /** How long an effect may take. */
  readonly withinMs: number
  readonly inProcess: ScenarioSettings['inProcess']
  /** What the agent driver can do. */
  readonly verbs: readonly string[]
  readonly load: LoadOptions
  /** Runs scenarios, at most `jobs` at once. */
  run(wanted: readonly SelectedScenario[], jobs: number, seed: number): Promise<RunResult>
}

export interface Calibration {
  readonly abilities: Abilities
  readonly vocabulary: Vocabulary
  readonly control: ActSequence
  readonly result: ScenarioResult | null
  /** The plain conversation that fails, so that nothing can be explored; null when it passes. */
  readonly broken: ScenarioResult | null
  /** What is not explored, because the agent driver has no verb for it. */
  readonly missing: readonly MissingVerb[]
  /** What else is left out, and why. */
  readonly leftOut: readonly string[]
}

export interface MissingVerb {
  readonly what: string
  readonly verb: string
}

export const missingText = ({ what, verb }: MissingVerb): string => `${what}: the agent driver has no verb ${verb}`

const plainActs: readonly Act[] = [
  { kind: 'press', chat: 0, pace: 'human' },
  { kind: 'accept', chat: 0, pace: 'human' },
  { kind: 'user', chat: 0, pace: 'human', text: { kind: 'plain', value: 'Where is my parcel?' } },
  { kind: 'says', chat: 0, pace: 'human', text: { kind: 'plain', value: 'It is on its way.' } },
  { kind: 'leave', chat: 0, pace: 'human' },
]

/** What the plain conversation waits: four pauses between its acts, and quiet at the end. */
export const PLAIN_PAUSES_MS = 900

/** The plain conversation with one act changed, or one added before it. */
const withAct = (kind: ActKind, change: Partial<Act>): Act[] =>
  plainActs.map(act => (act.kind === kind ? { ...act, ...change } : act))

const NOTHING_SHOWN: Abilities = { inbox: false, requests: false, laterRequests: false, notices: false }

const DURING_START = 'acts while start is being answered'
const LATER_REQUESTS = 'requests after a handover without texts'

interface TriedConversation {
  /** The name of its scenario. */
  readonly name: string
  readonly acts: readonly Act[]
  readonly abilities: Abilities
  readonly isTrial?: boolean
}

export async function calibrate({
  verbs,
  withinMs,
  inProcess,
  load,
  seed,
  run,
  jobs,
}: CalibrateOptions): Promise<Calibration> {
  const tryAll = async (tried: readonly TriedConversation[], label: string): Promise<readonly ScenarioResult[]> => {
    const scenarios = tried.map(({ acts, abilities, ...named }) => {
      const settings = { ...abilities, ...named, withinMs, inProcess }
      return toScenario({ seed, acts, knobs: {} }, settings).scenario
    })
    const wanted = compile(await loadValues(scenarios, load)).map(plan => ({ plan, instance: 1 }))
    return (await run(wanted, jobs, hashWords(label, seed)[0] >>> 1)).scenarios
  }

  // The most that the inbox may show, then less. An inbox must show the texts of the user.
  const hasInbox = verbs.includes('inbox')
  const withTexts = { ...NOTHING_SHOWN, inbox: true }
  const choices: Abilities[] = hasInbox
    ? [{ ...withTexts, requests: true, laterRequests: true }, withTexts]
    : [NOTHING_SHOWN]
  const trials = await tryAll(
    choices.map((abilities, index) => ({
      name: `A plain conversation, trial ${index + 1}`,
      acts: plainActs,
      abilities,
      isTrial: true,
    })),
    'trials',
  )
  const at = trials.findIndex(({ outcome }) => outcome === 'pass')
  const notices = (trials[at]?.warnings ?? []).some(
    ({ failure }) => failure?.code === 'unexpected_call' && endpointOf(failure) === 'message',
  )
  const abilities: Abilities = { ...(choices[at] ?? choices.at(-1) ?? NOTHING_SHOWN), notices }
  const leftOut: string[] = []
  const missing: MissingVerb[] = []
  if (!hasInbox) missing.push({ what: 'what the agent sees', verb: 'inbox' })
  else if (!abilities.requests) leftOut.push('requests in the inbox: it does not show that of a plain conversation')
  if (notices) leftOut.push('texts that no agent wrote: the intermediary sends notices in a plain conversation')

  const kinds: ActKind[] = []
  for (const kind of keysOf(ACT_RULES)) {
    const { verb } = ruleOf(kind)
    if (verb === null || verbs.includes(verb)) kinds.push(kind)
    else missing.push({ what: kind, verb })
  }
  // Who goes away has to be able to come back.
  const usable = kinds.filter(
    kind => !(kind === 'away' || kind === 'back') || ['away', 'back'].every(verb => verbs.includes(verb)),
  )

  // Each capability alone: the platform's description does not ask for it.
  const optional: {
    readonly name: string
    readonly fault?: ActFault
    readonly acts: readonly Act[]
    /** It is missing only when the help desk refuses an act: otherwise something is wrong with it. */
    readonly isRefusal?: true
  }[] = []
  for (const fault of keysOf(ACT_FAULTS))
    for (const kind of ACT_FAULTS[fault].of)
      if (usable.includes(kind))
        optional.push({ name: `${kind} when ${ACT_FAULTS[fault].about}`, fault, acts: withAct(kind, { fault }) })
  const file = { name: 'receipt.pdf', type: 'application/pdf', size_kb: 87 }
  if (abilities.inbox) optional.push({ name: 'files', acts: withAct('user', { files: [file] }) })
  const during = plainActs
    .filter(({ kind }) => kind !== 'user')
    .map(act => (act.kind === 'says' ? { ...act, pace: 'during' as const } : act))
  if (usable.includes('says')) optional.push({ name: DURING_START, acts: during, isRefusal: true })
  // Without texts, an inbox that begins anew looks as it was.
  const silent = plainActs.filter(({ kind }) => kind !== 'user' && kind !== 'says')
  const again: Act = { kind: 'press', chat: 0, pace: 'human' }
  if (abilities.requests) optional.push({ name: LATER_REQUESTS, acts: [...silent, again] })
  const restarted = plainActs.toSpliced(2, 0, { kind: 'restart', chat: 0, pace: 'human' })
  if (usable.includes('restart')) optional.push({ name: 'restarts', acts: restarted })
  const control: ActSequence = { seed, acts: plainActs, knobs: {} }
  const tried = [{ name: 'A plain conversation', acts: plainActs }, ...optional].map(({ name, acts }) => ({
    name,
    acts,
    abilities,
  }))
  const [result = null, ...results] = at < 0 ? [trials.at(-1)] : await tryAll(tried, 'capabilities')
  const failing = optional.filter(({ isRefusal }, index) => {
    const { outcome, failures = [] } = results[index] ?? {}
    return outcome !== 'pass' && (!isRefusal || failures.some(({ kind }) => kind === 'driver'))
  })
  for (const { name } of failing) leftOut.push(`${name}: it fails in a plain conversation`)
  const isMissing = (name: string) => failing.some(capability => capability.name === name)
  return {
    abilities: { ...abilities, laterRequests: abilities.laterRequests && !isMissing(LATER_REQUESTS) },
    control,
    result,
    broken: result?.outcome === 'pass' ? null : result,
    missing: result?.outcome === 'pass' ? missing : [],
    leftOut: result?.outcome === 'pass' ? leftOut : [],
    vocabulary: {
      kinds: usable.filter(kind => kind !== 'restart' || !isMissing('restarts')),
      faults: keysOf(ACT_FAULTS).filter(fault => !failing.some(capability => capability.fault === fault)),
      knobs: VARIED_KNOBS,
      paces: PACES.filter(pace => pace !== 'slow' && !(pace === 'during' && isMissing(DURING_START))),
      hasFiles: abilities.inbox && !isMissing('files'),
    },
  }
}
