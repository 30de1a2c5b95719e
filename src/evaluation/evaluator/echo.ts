/** Finds texts of users in the wrong place: sent back to the user as an agent's message, or in another chat. */
import type { Entry } from '../../platform/journal/entry.ts'
import { filledOver, interpolate, namesIn, stringsIn } from '../scenario/interpolation.ts'
import { type Plan, type PlannedStep, stepsOf } from '../scenario/plan.ts'
import { conversationsIn } from '../scenario/run-events.ts'
import type { ChatRef, Failure, StepRef } from './failure.ts'
import { finderIn, type Known, known, type Reached, reachedIn, type Written, writtenIn } from './tokens.ts'
import type { ScenarioResult } from './verdict.ts'

/** Echoes and leaks within one play. */
export function echoes(plan: Plan, entries: readonly Entry[]): Failure[] {
  const maySay = agentTextsIn(plan)
  const conversationOf = conversationsIn(entries)
  const chatOf = (chatId: string): ChatRef => ({ chat: conversationOf(chatId) ?? chatId, scenario: null })
  const find = finderIn(reachedIn(entries))

  function of(written: Known): Failure[] {
    const { chatId, sign } = written
    const step = writerOf(plan, entries, written)
    const misled = find(sign).filter(where => isEcho(where, chatId) || where.chatId !== chatId)
    const suspicious = misled.filter(({ text }) => !maySay(text, sign))
    const failureFor = (where: Reached) => {
      const chats = { from: chatOf(chatId), to: chatOf(where.chatId) }
      const misplaced = { written, where, step, conversation: conversationOf(chatId), ...chats }
      return where.chatId === chatId ? echo(misplaced) : leak(misplaced)
    }
    const back = suspicious.filter(where => isEcho(where, chatId)).slice(0, 1)
    return [...back, ...inOtherChats(suspicious, chatId)].map(failureFor)
  }

  return known(writtenIn(entries)).flatMap(of)
}

const isEcho = ({ chatId, endpoint }: Reached, own: string) => chatId === own && endpoint === 'message'

/** An inbox is read many times: each place counts once. */
function inOtherChats<Where extends Reached>(seen: readonly Where[], own: string): Where[] {
  const places = new Map<string, Where>()
  for (const one of seen) {
    const place = JSON.stringify([one.chatId, one.place, one.endpoint === null ? null : one.seq])
    if (one.chatId !== own && !places.has(place)) places.set(place, one)
  }
  return [...places.values()]
}

/** A scenario that was played. */
interface Play {
  readonly plan: Plan
  readonly result: ScenarioResult
}

/** Leaks from one play into another. Texts that two plays share (of a scenario played twice) prove nothing. */
export function leaksBetween(plays: readonly Play[]): Failure[] {
  const sources = plays.map(({ plan, result }) => ({ ...result, maySay: agentTextsIn(plan) }))
  const find = finderIn(sources.flatMap(play => reachedIn(play.journal).map(where => ({ ...where, play }))))
  const written = sources.flatMap(play => writtenIn(play.journal).map(one => ({ ...one, play })))
  return known(written).flatMap(one => {
    const quotable = one.sign === one.text.trim()
    const elsewhere = find(one.sign).filter(
      ({ play, text }) => play !== one.play && !(quotable && play.maySay(text, one.sign)),
    )
    return inOtherChats(elsewhere, one.chatId).map(where => leakBetween(one, where))
  })
}

type In<Text> = Text & { readonly play: ScenarioResult }

function leakBetween(written: In<Known>, where: In<Reached>): Failure {
  const conversation = conversationIn(written.play, written.chatId)
  const chats = { from: chatIn(written.play, written.chatId), to: chatIn(where.play, where.chatId) }
  // The two numbers are of two journals: there is no timeline to mark them in.
  return { ...leak({ written, where, step: null, conversation, ...chats }), entrySeqs: [] }
}

const conversationIn = ({ conversations }: ScenarioResult, chatId: string): string | null =>
  Object.entries(conversations).find(([, id]) => id === chatId)?.[0] ?? null

const chatIn = (play: ScenarioResult, chatId: string): ChatRef => ({
  chat: conversationIn(play, chatId) ?? chatId,
  scenario: play.name,
})

interface Misplaced {
  readonly written: Written
  readonly where: Reached
  readonly step: StepRef | null
  readonly conversation: string | null
  readonly from: ChatRef
  readonly to: ChatRef
}

function echo(misplaced: Misplaced): Failure {
  const { written, where, from } = misplaced
  const { seq, place } = where
  return {
    ...common(misplaced),
    kind: 'echo',
    expected: { code: 'no_echo', from, seq: written.seq, text: written.text },
    happened: { code: 'echoed', seq, place, text: where.text, from, written: written.seq },
    rules: ['E6.5', 'W2'],
    hint: { code: 'forwards_copies' },
  }
}

function leak(misplaced: Misplaced): Failure {
  const { written, where, from, to } = misplaced
  const { seq, place, text, endpoint } = where
  return {
    ...common(misplaced),
    kind: 'leak',
    expected: { code: 'no_leak', from, seq: written.seq, text: written.text },
    happened: { code: 'leaked', seq, place, text, from, to },
    rules: endpoint === null ? ['WH4', 'EV4'] : ['E6.2'],
    hint: { code: 'current_chat' },
  }
}

const common = ({ written, where, step, conversation }: Misplaced) => ({
  step,
  conversation,
  nearest: [],
  entrySeqs: [written.seq, where.seq],
  soft: false,
})

/** Whether `text`, known by `sign`, may be written by the agent. */
export type AgentTextMatcher = (text: string, sign: string) => boolean

/** Reads the plan at the first question, because most plays ask none. */
function agentTextsIn(plan: Plan): AgentTextMatcher {
  let matchers: AgentTextMatcher[] | null = null
  return (text, sign) => {
    matchers ??= [...stepsOf([...plan.steps, ...plan.finally])].flatMap(step => textsOfStep(plan, step))
    return matchers.some(matches => matches(text, sign))
  }
}

function textsOfStep(plan: Plan, { action, conversation, scope }: PlannedStep): AgentTextMatcher[] {
  if (action.verb !== 'agent') return []
  const own = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
  const known = [plan.vars, own, scope].reduce(filledOver, plan.matrix)
  return stringsIn([action.text, action.with]).map(template => textMatcher(template, known))
}

function textMatcher(template: string, known: Readonly<Record<string, unknown>>): AgentTextMatcher {
  if (namesIn(template).some(path => !isKnown(path, known))) return like(template)
  const words = String(interpolate(template, known))
  return namesIn(words).length > 0 ? like(words) : (_, sign) => words.includes(sign)
}

function isKnown(path: string, known: Readonly<Record<string, unknown>>): boolean {
  try {
    interpolate(`$(${path})`, known)
    return true
  } catch {
    return false
  }
}

/** Compares with the pieces between placeholders, in linear time: a regular expression would backtrack. */
function like(template: string): AgentTextMatcher {
  const [first = '', ...pieces] = template.split(/\$\([^()]*\)/)
  const last = pieces.pop()
  return text => {
    if (last === undefined) return text === first
    const end = text.length - last.length
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    const at = pieces.reduce((from, piece) => endOfPiece(text, piece, from), first.length)
    return at <= end
  }
}

function endOfPiece(text: string, piece: string, from: number): number {
  const at = text.indexOf(piece, from)
  return at < 0 ? Number.POSITIVE_INFINITY : at + piece.length
}

/** The last step of that chat that makes a user write and started before the text. */
function writerOf(plan: Plan, entries: readonly Entry[], { seq, chatId }: Written): StepRef | null {
  const start = entries.findLast(
    entry =>
      entry.seq < seq &&
      entry.kind === 'note' &&
      entry.note === 'step_started' &&
      (entry.verb === 'user' || entry.verb === 'press') &&
      (entry.chat_id ?? chatId) === chatId,
  )
  if (start?.kind !== 'note') return null
  const step = [...stepsOf([...plan.steps, ...plan.finally])].find(({ number }) => number === start.step)
  if (step === undefined) return null
  const { number, id, name, label, conversation, place } = step
  return { number, of: plan.count, id, name, label, conversation, place }
}
