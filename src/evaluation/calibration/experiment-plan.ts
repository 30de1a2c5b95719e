/** Plans what a person does in the real chat to see what a recording does not show, in as few chats as possible. */
import { ASSUMPTIONS, type AssumptionName } from '../../platform/contract/assumptions.ts'
import type { CalibrationResult } from './calibration.ts'
import type { Status } from './chat-knowledge.ts'
import { EVIDENCE_READERS } from './evidence-readers.ts'

/** One step of a person; the assumptions it shows, none for a step that only prepares. */
export interface PlanStep {
  readonly text: string
  readonly shows: readonly AssumptionName[]
}

/** The steps in one chat of the real platform. */
export interface PlannedChat {
  readonly title: string
  readonly steps: readonly PlanStep[]
}

/** How a person brings a chat into a state. */
const PREPARATIONS: Readonly<Record<Status, string>> = {
  bot: 'End the handover.',
  pending: 'Ask for an agent with the button.',
  agent: 'Take the chat over.',
}

/** The recording has to show the beginning of a chat, so that later steps are certain. */
const OPENING: readonly PlanStep[] = [
  { text: 'Open a new chat, ask for an agent with the button, take the chat over, and end the handover.', shows: [] },
]

/** What a chat is while experiments are done that need it: those of one state are done together. */
const ORDER: readonly Status[] = ['bot', 'pending', 'agent']

/** Plans experiments for assumptions that only provoked traffic shows and these recordings do not. */
export function planExperiments({ assumptions }: CalibrationResult): PlannedChat[] {
  const open = ASSUMPTIONS.filter(
    ({ name, class: shown }) =>
      shown === 'provoked' && assumptions.some(one => one.name === name && one.status === 'not seen'),
  ).map(({ name }) => name)
  return [
    planChat('A chat', open, undefined),
    planChat('A chat in a language that is not French', open, 'other language'),
  ].filter(({ steps }) => steps.length > OPENING.length)
}

function planChat(title: string, open: readonly AssumptionName[], kind: 'other language' | undefined): PlannedChat {
  const steps: { text: string; shows: AssumptionName[] }[] = OPENING.map(step => ({ ...step, shows: [] }))
  const waiting = open.flatMap(name => {
    const experiment = EVIDENCE_READERS[name]?.experiment
    return experiment === undefined || experiment.chat !== kind ? [] : [{ name, ...experiment }]
  })
  let status: Status = 'bot'
  const take = (wanted: (typeof waiting)[number]) => {
    const { name, begins, ends, text } = wanted
    if (begins !== null && begins !== status) {
      // Only a chat that is taken over is ended, and only one of the bot has no request.
      const path: Status[] = begins === 'agent' && status === 'bot' ? ['pending', 'agent'] : [begins]
      for (const one of path) steps.push({ text: PREPARATIONS[one], shows: [] })
    }
    const alike = steps.find(step => step.text === text)
    if (alike === undefined) steps.push({ text, shows: [name] })
    else alike.shows.push(name)
    status = ends ?? begins ?? status
  }
  for (const one of waiting.filter(({ begins }) => begins === null)) take(one)
  for (const begins of ORDER) {
    const group = waiting.filter(one => one.begins === begins)
    // Those that leave the chat as it is come first.
    for (const one of group.filter(({ ends }) => ends === undefined)) take(one)
    for (const one of group.filter(({ ends }) => ends !== undefined)) take(one)
  }
  return { title, steps }
}
