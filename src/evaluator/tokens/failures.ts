/** How an echo and a leak read in a report. */
import type { Failure, StepRef } from '../verdict.ts'
import type { Reached, Written } from './texts.ts'

export interface Astray {
  readonly written: Written
  readonly where: Reached
  readonly step: StepRef | null
  readonly conversation: string | null
  /** How a reader knows the two chats. */
  readonly from: string
  readonly to: string
}

export const echo = ({ written, where, step, conversation, from }: Astray): Failure => ({
  ...plain(written, where, step, conversation),
  kind: 'echo',
  wanted: `the user of ${from} never reads ${shown(written.text)} (written in #${written.seq}) as an agent's message`,
  happened: `#${where.seq} ${where.how} sent it back to the user: ${shown(where.text)}`,
  rules: ['E6.5', 'W2'],
  hint: 'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.',
})

export const leak = ({ written, where, step, conversation, from, to }: Astray): Failure => ({
  ...plain(written, where, step, conversation),
  kind: 'leak',
  wanted: `what the user of ${from} wrote (#${written.seq} ${shown(written.text)}) stays in ${from}`,
  happened: `#${where.seq} ${where.how} has it in ${to}: ${shown(where.text)}`,
  rules: where.endpoint === null ? ['WH4', 'EV4'] : ['E6.2'],
  hint: 'Is "the current chat" kept in one variable for all conversations? Take the chat id from the event, and from the conversation the agent writes in.',
})

const plain = (written: Written, where: Reached, step: StepRef | null, conversation: string | null) => ({
  step,
  conversation,
  nearest: [],
  marks: [written.seq, where.seq],
  soft: false,
})

const SHOWN = 60

function shown(text: string): string {
  const signs = [...text]
  return JSON.stringify(signs.length > SHOWN ? `${signs.slice(0, SHOWN - 1).join('')}…` : text)
}
