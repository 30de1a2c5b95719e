/**
 * Users' texts in the wrong place: back at the user who wrote them, as if an agent had, or in a chat of somebody else.
 */
import type { Entry } from '../../journal/entry.ts'
import type { Plan } from '../../scenario/plan.ts'
import { conversationsIn } from '../../scenario/run-events.ts'
import type { Failure, ScenarioResult, StepRef } from '../verdict.ts'
import { saidIn, writerOf } from './authors.ts'
import { finderIn, type Known, known, type Reached, reachedIn, type Written, writtenIn } from './texts.ts'

/** Within one play. */
export function echoes(plan: Plan, entries: readonly Entry[]): Failure[] {
  const maySay = saidIn(plan)
  const conversationOf = conversationsIn(entries)
  const named = (chatId: string) => `chat ${JSON.stringify(conversationOf(chatId) ?? chatId)}`
  const find = finderIn(reachedIn(entries))

  function of(written: Known): Failure[] {
    const { chatId, sign } = written
    const step = writerOf(plan, entries, written)
    const seen = find(sign).filter(({ text }) => !maySay(text, sign))
    const tell = (where: Reached) => {
      const both = { from: named(chatId), to: named(where.chatId) }
      const astray = { written, where, step, conversation: conversationOf(chatId), ...both }
      return where.chatId === chatId ? echo(astray) : leak(astray)
    }
    return [...seen.filter(where => isEcho(where, chatId)).slice(0, 1), ...strayed(seen, chatId)].map(tell)
  }

  return known(writtenIn(entries)).flatMap(of)
}

const isEcho = ({ chatId, endpoint }: Reached, own: string) => chatId === own && endpoint === 'message'

/** An inbox is read many times: each place is told once. */
function strayed<Where extends Reached>(seen: readonly Where[], own: string): Where[] {
  const places = new Map<string, Where>()
  for (const one of seen) {
    const place = `${one.chatId} ${one.how} ${one.endpoint === null ? '' : one.seq}`
    if (one.chatId !== own && !places.has(place)) places.set(place, one)
  }
  return [...places.values()]
}

/** From one play into another. What is too alike in two plays (a scenario played twice) is no sign. */
export function leaksBetween(scenarios: readonly ScenarioResult[]): Failure[] {
  const find = finderIn(scenarios.flatMap(play => reachedIn(play.journal).map(where => ({ ...where, play }))))
  const labels = scenarios.flatMap(play => agentLabels(play.journal))
  const written = scenarios.flatMap(play => writtenIn(play.journal).map(one => ({ ...one, play })))
  const telling = known(written).filter(one => !isQuoted(one, labels))
  return telling.flatMap(one => {
    const elsewhere = find(one.sign).filter(({ play }) => play !== one.play)
    return strayed(elsewhere, one.chatId).map(where => leakBetween(one, where))
  })
}

type In<Text> = Text & { readonly play: ScenarioResult }

function leakBetween(written: In<Known>, where: In<Reached>): Failure {
  const conversation = conversationIn(written.play, written.chatId)
  const from = chatIn(written.play, written.chatId)
  // The two numbers are of two journals: there is no timeline to mark them in.
  return {
    ...leak({ written, where, step: null, conversation, from, to: chatIn(where.play, where.chatId) }),
    marks: [],
  }
}

const conversationIn = ({ conversations }: ScenarioResult, chatId: string): string | null =>
  Object.entries(conversations).find(([, id]) => id === chatId)?.[0] ?? null

const chatIn = (play: ScenarioResult, chatId: string): string =>
  `chat ${JSON.stringify(conversationIn(play, chatId) ?? chatId)} of ${JSON.stringify(play.name)}`

/** Without the plan only labels tell what agents say, and labels shorten long texts: the beginning has to do. */
function isQuoted({ text, sign }: Known, labels: readonly string[]): boolean {
  const beginning = [...text.trim()].slice(0, 12).join('')
  return sign === text.trim() && labels.some(label => label.includes(beginning))
}

const agentLabels = (journal: readonly Entry[]): string[] =>
  journal.flatMap(entry =>
    entry.kind === 'note' && entry.note === 'step_started' && entry.verb === 'agent' ? [String(entry.label)] : [],
  )

export interface Astray {
  readonly written: Written
  readonly where: Reached
  readonly step: StepRef | null
  readonly conversation: string | null
  /** How a reader knows the two chats. */
  readonly from: string
  readonly to: string
}

const echo = ({ written, where, step, conversation, from }: Astray): Failure => ({
  ...plain(written, where, step, conversation),
  kind: 'echo',
  wanted: `the user of ${from} never reads ${shown(written.text)} (written in #${written.seq}) as an agent's message`,
  happened: `#${where.seq} ${where.how} sent it back to the user: ${shown(where.text)}`,
  rules: ['E6.5', 'W2'],
  hint: 'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.',
})

const leak = ({ written, where, step, conversation, from, to }: Astray): Failure => ({
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
