/** Records a scenario: reads what happened in a simulator, draws the steps, writes the file and tries it. */
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { wallTimer } from '../../base/runtime/clock.ts'
import { createAbort } from '../../base/runtime/node.ts'
import { formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { annotatedYaml } from '../../evaluation/scenario/build/yaml.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import { ControlProblem } from '../../server/control/problems.ts'
import type { DrawnScenario, RecordingTrial, RecordScenario } from '../../server/control/recorder.ts'
import { type DrawnStep, drawSteps } from './draw-steps.ts'
import { captureRecording, MAX_STEPS, MAX_TEXT_CHARS, type Recording, refuseMoreThan } from './recording.ts'
import type { Trial } from './try-scenario.ts'

const DEFAULT_NAME = 'Recorded conversation'
/** A scenario may take this long unless it says otherwise. */
const DEFAULT_SCENARIO_MS = 60_000
const STEP_MS = 500
/** A range may have this much text besides that of its messages, of which the scenario has those of agents twice. */
const MAX_SCENARIO_CHARS = 4 * MAX_TEXT_CHARS
/** The longest trial. */
const LIMIT_MS = 10_000

/** Runs a scenario that was drawn, to see whether it passes. */
export type TryDrawn = (trial: Trial, signal: AbortSignal) => Promise<RecordingTrial>

/** Throws `ControlProblem`. */
export const recordScenario: RecordScenario = (core, request, signal) => recordWith(tryInThread, core, request, signal)

export async function recordWith(
  tryDrawn: TryDrawn,
  ...[core, request, signal]: Parameters<RecordScenario>
): Promise<DrawnScenario> {
  if (signal.aborted) throw new ControlProblem(503, 'closing', 'The simulator is closing.')
  const recording = await captureRecording(core, request)
  const { steps, comments, notes: stepNotes } = drawSteps(recording)
  refuseMoreThan(MAX_STEPS, steps.length, `The range makes at least ${steps.length} steps`)
  const notes = [...recording.notes, ...stepNotes]
  const head = ['Recorded with handover-sim. Read it, give it a better name, and delete what does not matter.']
  for (const { seq, message } of notes) if (seq === null) head.push(message)
  const layout = steps.map((drawn, index) => ({
    comments: drawn.comments,
    // A part begins where the user asks for a person, and where an agent comes or leaves.
    opensPart: index > 0 && (drawn.step.press !== undefined || ['accept', 'leave'].includes(String(drawn.step.agent))),
  }))
  const scenario = scenarioOf(recording, steps)
  const chars = JSON.stringify(scenario).length
  refuseMoreThan(MAX_SCENARIO_CHARS, chars, `The scenario has ${chars} characters`)
  const yaml = annotatedYaml(scenario, { head, steps: layout, end: comments })
  return {
    name: recording.name ?? DEFAULT_NAME,
    yaml,
    notes,
    tried: await tryDrawn({ chats: recording.chats, steps: steps.map(({ calls }) => ({ calls })), yaml }, signal),
  }
}

const THREAD = new URL(import.meta.url.endsWith('.ts') ? './trial-thread.ts' : '../trial-thread.cjs', import.meta.url)

/**
 * Tries the scenario in a thread of its own, because the evaluation of long texts takes seconds in which a server would
 * answer nothing else, and no timer could end it.
 */
async function tryInThread(trial: Trial, signal: AbortSignal): Promise<RecordingTrial> {
  const thread = new Worker(THREAD, { workerData: trial, execArgv: [] })
  const limit = createAbort()
  let timer = { cancel() {} }
  try {
    const messages = on(thread, 'message', { signal: AbortSignal.any([signal, limit.signal]) })
    // The thread begins. Loading its modules takes long on a busy machine, and is no part of the trial.
    await messages.next()
    timer = wallTimer(LIMIT_MS, () => limit.abort())
    const { value: [result] = [] } = await messages.next()
    return result
  } catch (error) {
    if (signal.aborted) throw new ControlProblem(503, 'closing', 'The simulator is closing.')
    if (!limit.signal.aborted) throw error
    const calls = trial.steps.flatMap(step => step.calls).length
    const failures = [`the trial was not over after ${formatDuration(LIMIT_MS)}`]
    return { outcome: 'inconclusive', duration_ms: LIMIT_MS, calls, left_out: 0, noticed: 0, failures }
  } finally {
    timer.cancel()
    await thread.terminate()
  }
}

function scenarioOf(recording: Recording, steps: readonly DrawnStep[]): ScenarioFile {
  const { name = DEFAULT_NAME, clock, settings, chats } = recording
  // The time for all steps, when calls come as late as they may.
  let scenarioMs = 0
  for (const { step } of steps) {
    const within = typeof step.expect === 'object' && 'within' in step.expect ? step.expect.within : undefined
    scenarioMs += STEP_MS + (parseDuration(within) ?? 0) + (parseDuration(step.wait) ?? 0)
  }
  const inputs = [...chats.values()].map(chat => [chat.name, chat.input] as const)
  const input = inputs[0]?.[1] ?? {}
  return {
    version: 1,
    name: escapePlaceholders(name),
    ...(clock === 'virtual' && { clock }),
    ...(scenarioMs > DEFAULT_SCENARIO_MS && { timeouts: { scenario: formatDuration(scenarioMs) } }),
    ...settings,
    ...(inputs.length > 1 && { chats: Object.fromEntries(inputs) }),
    ...(inputs.length === 1 && Object.keys(input).length > 0 && { chat: input }),
    steps: steps.map(({ step }) => step),
  }
}
