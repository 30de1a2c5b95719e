/** Records a scenario: reads what happened in a simulator, draws the steps, writes the file and tries it. */
import { formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { annotatedYaml } from '../../evaluation/scenario/build/yaml.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import type { DrawnScenario, RecordScenario } from '../../server/control/recorder.ts'
import { type DrawnStep, drawSteps } from './draw-steps.ts'
import { type Recording, readRecording, refuseTooLong } from './recording.ts'
import { tryScenario } from './try-scenario.ts'

const DEFAULT_NAME = 'Recorded conversation'
/** A scenario may take this long unless it says otherwise. */
const DEFAULT_SCENARIO_MS = 60_000
const STEP_MS = 500

/** Throws `ControlProblem`. */
export const recordScenario: RecordScenario = async (core, request, signal): Promise<DrawnScenario> => {
  const recording = await readRecording(core, request)
  const { steps, comments, notes: stepNotes } = drawSteps(recording)
  refuseTooLong(steps.length)
  const notes = [...recording.notes, ...stepNotes]
  const head = ['Recorded with handover-sim. Read it, give it a better name, and delete what does not matter.']
  for (const { seq, message } of notes) if (seq === null) head.push(message)
  const layout = steps.map((drawn, index) => ({
    comments: drawn.comments,
    // A part begins where the user asks for a person, and where an agent comes or leaves.
    opensPart: index > 0 && (drawn.step.press !== undefined || ['accept', 'leave'].includes(String(drawn.step.agent))),
  }))
  const yaml = annotatedYaml(scenarioOf(recording, steps), { head, steps: layout, end: comments })
  return {
    name: recording.name ?? DEFAULT_NAME,
    yaml,
    notes,
    tried: await tryScenario({ recording, steps, yaml, signal }),
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
