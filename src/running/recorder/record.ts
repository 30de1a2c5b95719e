/** Records a scenario: reads what happened in a simulator, draws the steps, writes the file and tries it. */

import { formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { annotatedYaml } from '../../evaluation/scenario/build/yaml.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ChatInput, ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import type { RecordedScenario, RecordScenario } from '../../server/control/recorder.ts'
import { drawSteps } from './draw-steps.ts'
import type { DrawnStep } from './drawn-steps.ts'
import { refuseTooLong } from './range.ts'
import { type Recording, readRecording } from './recording.ts'
import { COMMENTS } from './texts.ts'
import { tryScenario } from './try-scenario.ts'

const NAME = 'Recorded conversation'

/** Throws `ControlProblem`. */
export const recordScenario: RecordScenario = async (core, wanted, signal): Promise<RecordedScenario> => {
  const recording = await readRecording(core, wanted)
  const { steps, comments, notes } = drawSteps(recording)
  refuseTooLong(steps.length)
  const all = [...recording.notes, ...notes]
  const head = [COMMENTS.head, ...all.filter(({ seq }) => seq === null).map(({ message }) => message)]
  const scenario = scenarioOf(recording, steps)
  const yaml = annotatedYaml(scenario, { head, steps: steps.map(laidOut), end: comments })
  return {
    name: recording.name ?? NAME,
    yaml,
    notes: all,
    tried: await tryScenario({ recording, steps, yaml, signal }),
  }
}

/** A part begins where the user asks for a person, and where an agent comes or leaves. */
const laidOut = ({ step, comments }: DrawnStep, index: number) => ({
  comments,
  opensPart: index > 0 && (step.press !== undefined || step.agent === 'accept' || step.agent === 'leave'),
})

function scenarioOf({ name = NAME, clock, head, chats }: Recording, steps: readonly DrawnStep[]): ScenarioFile {
  const scenarioMs = scenarioTime(steps)
  return {
    version: 1,
    name: escapePlaceholders(name),
    ...(clock === 'virtual' ? { clock } : {}),
    ...(scenarioMs > USUAL_MS ? { timeouts: { scenario: formatDuration(scenarioMs) } } : {}),
    ...head,
    ...chatsOf([...chats.values()]),
    steps: steps.map(({ step }) => step),
  }
}

function chatsOf(chats: readonly { readonly name: string; readonly head: ChatInput }[]): Partial<ScenarioFile> {
  const [only] = chats
  if (chats.length > 1) return { chats: Object.fromEntries(chats.map(({ name, head }) => [name, head])) }
  return only === undefined || Object.keys(only.head).length === 0 ? {} : { chat: only.head }
}

/** A scenario may take this long unless it says otherwise. */
const USUAL_MS = 60_000
const STEP_MS = 500

/** The time for all steps, when calls come as late as they may. */
const scenarioTime = (steps: readonly DrawnStep[]): number =>
  steps.reduce(
    (sum, { step }) =>
      sum +
      STEP_MS +
      (typeof step.expect === 'object' && step.expect !== null && 'within' in step.expect
        ? (parseDuration(step.expect.within) ?? 0)
        : 0) +
      (parseDuration(step.wait) ?? 0),
    0,
  )
