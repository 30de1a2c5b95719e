/** Tries each verb of an agent driver in one chat, as a scenario plays it (`doctor --agent-driver FILE`). */
import { freshSeed } from '../base/runtime/node.ts'
import type { ScenarioResult } from '../evaluation/evaluator/verdict.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import type { Step } from '../evaluation/scenario/format/step.ts'
import { loadValues } from '../evaluation/scenario/load/load.ts'
import { SILENT } from '../running/runner/run-scenario.ts'
import { runSuite } from '../running/runner/suite.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { scenarioSources } from './command.ts'
import { type Context, EnvironmentError } from './io.ts'
import { attach, runInterruptibly, type TargetFlags, whyUnreachable } from './run-target.ts'

export interface TriedVerb {
  readonly verb: string
  readonly state: 'ok' | 'problem' | 'skipped'
  /** What it did, or why it failed or was not tried. */
  readonly text: string
  readonly hint: string | null
}

const TEXT = 'Where is my parcel?'

/** In an order that a conversation may have. Only what comes after `accept` needs it. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  accept: [{ agent: 'accept' }, { expect: 'start' }],
  inbox: [{ user: TEXT }, { agent: { sees: TEXT }, soft: true }],
  type: [{ agent: 'type', soft: true }],
  stop: [{ agent: 'stop', soft: true }],
  says: [
    { agent: { says: 'It is on its way.' }, soft: true },
    { expect: 'message', soft: true },
  ],
  away: [{ agent: 'away', soft: true }],
  back: [{ agent: 'back', soft: true }],
  leave: [
    { agent: 'leave', soft: true },
    { expect: 'end', soft: true },
  ],
}

/** Resolves with a finding for each verb. Rejects with `EnvironmentError` and the other errors of a run that cannot begin. */
export async function tryVerbs(context: Context, flags: TargetFlags, resolved: Resolved): Promise<TriedVerb[]> {
  const tried: TriedVerb[] = []
  await runInterruptibly({ context, flags, resolved }, null, async ({ router, shutdown, signal }) => {
    const { target, driver } = await attach({ context, flags, resolved, storesChats: false, router, shutdown, signal })
    const unreachable = await whyUnreachable(target, 0, signal)
    if (unreachable !== null) throw new EnvironmentError(`${unreachable}.`)
    const verbs = driver?.verbs ?? []
    const steps: Step[] = [{ press: 'handover' }]
    /** Of each step. */
    const verbOf: (string | null)[] = [null]
    for (const [verb, some] of Object.entries(STEPS)) {
      if (!verbs.includes(verb)) continue
      steps.push(...some)
      verbOf.push(...some.map(() => verb))
    }
    const plans = compile(await loadValues([{ version: 1, name: 'Each verb', steps }], scenarioSources(context)))
    const { scenarios } = await runSuite({
      ...{ wanted: plans.map(plan => ({ plan, instance: 1 })), router, base: resolved.options, target: target.href },
      ...{ seed: freshSeed(), seedWins: true, driver, jobs: 1, strict: false, bail: null, env: context.env, signal },
      listener: SILENT,
      rerunCommand: () => '',
    })
    const result = scenarios[0]
    if (result === undefined) return 0
    for (const verb of new Set(verbOf)) tried.push(...describeVerb(verb, verbOf, result))
    for (const verb of verbs)
      if (verb.startsWith('does.'))
        tried.push({ verb, state: 'skipped', text: 'not tried, because scenarios give it its parameters', hint: null })
    return 0
  })
  return tried
}

/** `verb`: null for what the user does before any verb, which is described only when it failed. */
function describeVerb(
  verb: string | null,
  verbOf: readonly (string | null)[],
  { steps, failures, journal, reason }: ScenarioResult,
): TriedVerb[] {
  const isOfVerb = (number: number | undefined) => number !== undefined && verbOf[number - 1] === verb
  const failure = failures.find(({ step }) => isOfVerb(step?.number))
  const name = verb ?? 'handover'
  if (failure !== undefined)
    return [{ verb: name, state: 'problem', text: failure.happened, hint: failure.hint ?? null }]
  if (verb === null) return []
  if (!steps.some(({ number, outcome }) => isOfVerb(number) && outcome === 'pass')) {
    const why = reason === null ? 'an earlier step failed' : reason.text
    return [{ verb, state: 'skipped', text: `not tried, because ${why}`, hint: null }]
  }
  const call = journal.findLast(entry => entry.kind === 'driver' && entry.verb === verb)
  return [{ verb, state: 'ok', text: `${call?.kind === 'driver' ? call.how : 'called'}`, hint: null }]
}
