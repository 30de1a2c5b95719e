/**
 * Tries a recorded scenario once, beside the running simulator: a simulator of its own with a virtual clock runs it
 * against an intermediary that repeats the recorded calls. Then each call is left out of the journal of that run, to
 * show that the scenario fails without it.
 */
import { ConfigError } from '../../base/files/errors.ts'
import { isMap } from '../../base/objects.ts'
import { elapsedMs, wallTimer } from '../../base/runtime/clock.ts'
import { createAbort } from '../../base/runtime/node.ts'
import { evaluate } from '../../evaluation/evaluator/evaluator.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { loadScenarioText } from '../../evaluation/scenario/load/load.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import type { PlatformSimulatorOptions } from '../../platform/simulator/options.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { RecordingTrial } from '../../server/control/recorder.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { runInProcess } from '../runner/run-in-process.ts'
import type { RunListener } from '../runner/run-scenario.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { DrawnStep } from './draw-steps.ts'
import { describeCall, isExpectable, type RecordedCall } from './recorded-calls.ts'
import type { Recording } from './recording.ts'

/** The longest run of the scenario. */
const LIMIT_MS = 7_000
/** The longest time for leaving out calls. */
const LEAVE_OUT_MS = 2_000

/** Plain data, which a thread receives as a copy. */
export interface Trial {
  readonly chats: Recording['chats']
  readonly steps: readonly Pick<DrawnStep, 'calls'>[]
  readonly yaml: string
}

export async function tryScenario(trial: Trial): Promise<RecordingTrial> {
  const startMs = elapsedMs()
  const calls = trial.steps.flatMap(step => step.calls).length
  const result = (
    outcome: RecordingTrial['outcome'],
    failures: readonly string[],
    leftOut = 0,
    noticed = 0,
  ): RecordingTrial => {
    const duration_ms = Math.round(elapsedMs() - startMs)
    return { outcome, duration_ms, calls, left_out: leftOut, noticed, failures }
  }

  let plan: Plan | undefined
  try {
    plan = compile(await loadScenarioText('recorded.yaml', trial.yaml, { cwd: '.', nodeVersion: process.version }))[0]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const messages = error.problems.map(({ message }) => message)
    return result('skipped', messages)
  }
  if (plan === undefined) return result('skipped', [])

  const { verdict, deviations } = await runTrial(trial, withShortWaits(plan))
  if (verdict.outcome !== 'pass' || deviations.length > 0) {
    const { failures, reason } = verdict
    const reasons = [...(reason === null ? [] : [reason.text]), ...failures.map(({ happened }) => happened)]
    const outcome = verdict.outcome === 'pass' ? 'fail' : verdict.outcome
    return result(outcome, [...deviations, ...(verdict.outcome === 'pass' ? [] : reasons)])
  }

  // Evaluates the journal without each call, in turn, as long as there is time.
  const unnoticed: string[] = []
  let leftOut = 0
  const deadlineMs = elapsedMs() + LEAVE_OUT_MS
  for (const call of verdict.journal) {
    if (call.kind !== 'api' || !isExpectable(call)) continue
    if (elapsedMs() > deadlineMs) break
    const otherEntries = verdict.journal.filter(entry => entry !== call)
    if (evaluate(plan, otherEntries).outcome === 'pass')
      unnoticed.push(`it also passes when this call is left out: ${describeCall(call)}`)
    leftOut++
  }
  return result('pass', unnoticed, leftOut, leftOut - unnoticed.length)
}

/** Every call of the trial comes at once, so no step waits for long. */
const withShortWaits = (plan: Plan): Plan => ({
  ...plan,
  timeouts: { ...plan.timeouts, expectMs: 2_000, settleMs: 20 },
  steps: plan.steps.map(item =>
    item.kind === 'step' && item.action.verb === 'none' ? { ...item, action: { ...item.action, forMs: 20 } } : item,
  ),
})

/** Runs the scenario against an intermediary that repeats the recorded calls when their step begins, and answers events as the step expects. */
async function runTrial({ chats, steps }: Trial, plan: Plan) {
  let ack = 200
  const deviations: string[] = []
  const options: PlatformSimulatorOptions = {
    clock: 'virtual',
    webhook: { fetch: async () => new Response('', { status: ack }) },
    // The settings of the scenario are applied by the runner.
    bot: plan.bot as NonNullable<PlatformSimulatorOptions['bot']>,
  }
  const sim = createPlatformSimulator(options)
  const makeCalls = async (calls: readonly RecordedCall[]) => {
    for (const call of calls) {
      // A fault may close the connection.
      const response = await sim.fetch(requestOf(sim, chats, call)).catch(() => null)
      if (response !== null && response.status !== call.status)
        deviations.push(`${describeCall(call)}: the platform answered ${response.status} in the trial`)
    }
  }
  const listener: Partial<RunListener> = {
    step(_, { number, action }) {
      ack = 'ack' in action && typeof action.ack === 'number' ? action.ack : 200
      void makeCalls(steps[number - 1]?.calls ?? [])
    },
  }
  const limit = createAbort()
  const timer = wallTimer(LIMIT_MS, () => limit.abort(new InterruptedError({ code: 'time_limit', limit_ms: LIMIT_MS })))
  try {
    const run = { driver: DRIVER, listener, seed: 1, strict: false, env: {} }
    const verdict = await runInProcess(sim, plan, { ...run, signal: limit.signal })
    return { verdict, deviations }
  } finally {
    timer.cancel()
    await sim.close()
  }
}

/** Lets every act of the agent succeed, because the recorded calls follow from the steps. */
const DRIVER: Driver = {
  name: 'recorded calls',
  verbs: ['accept', 'says', 'type', 'stop', 'leave', 'away', 'back'],
  call: async verb => ({ verb, outcome: 'ok', how: 'recorded', duration_ms: 0 }),
  target: null,
  close: async () => {},
}

/** The recorded call, for the chat of the same name in the trial. */
function requestOf(sim: PlatformSimulator, chats: Trial['chats'], call: RecordedCall): Request {
  const { method, path, endpoint, chat_id: recordedId, request } = call
  const name = chats.get(recordedId ?? '')?.name
  const opened = sim.journal
    .query({ kind: 'note' })
    .find(entry => entry.note === 'conversation' && entry.conversation === name)
  const ids: Record<string, unknown> = { bot_id: sim.botId, chat_id: opened?.chat_id ?? '' }
  // Only this endpoint has the chat in its path; an id such as "m" occurs in others by chance.
  const target = endpoint === 'chat' ? path.replace(/[^/?]+(?=\/?(\?|$))/, String(ids.chat_id)) : path
  // The body of a long message is in the journal only as its beginning.
  const body = isMap(request.body) ? { ...request.body } : { ...ids, message: String(request.body) }
  for (const field of Object.keys(ids)) if (field in body) Object.assign(body, { [field]: ids[field] })
  return new Request(new URL(target, sim.baseUrl), {
    method,
    headers: {
      authorization: `Bearer ${endpoint === 'chat' ? sim.botApiKey : sim.apiKey}`,
      'content-type': 'application/json',
    },
    body: method === 'GET' ? null : JSON.stringify(body),
  })
}
