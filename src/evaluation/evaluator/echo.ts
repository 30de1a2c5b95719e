/**
 * Finds texts of users in the wrong place: sent back to the user as an agent's message, or in another chat. Makes the tokens
 * by which the texts of users are recognized.
 */
import { hashWords } from '../../base/runtime/random.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { type Cause, causedBy, createFailure, type Failure, type StepRef } from '../finding.ts'
import type { History } from '../history.ts'
import { filledOver, interpolate, namesIn, stringsIn } from '../scenario/interpolation.ts'
import { type Plan, stepsOf } from '../scenario/plan.ts'
import { stepRef } from './step-evaluator.ts'
import type { ScenarioResult } from './verdict.ts'
import { quotedText } from './words.ts'

/** A text of a user, and by what it is recognized. */
interface Written {
  readonly chatId: string
  readonly seq: number
  readonly text: string
  /** A token, or the text itself. */
  readonly sign: string
}

/** A text that a call brought to the user, or an inbox to the agent. */
interface Reached {
  readonly chatId: string
  readonly seq: number
  readonly text: string
  /** `POST /api/v2/handover/message/`, `inbox item 3`. */
  readonly place: string
  /** Null for an inbox. */
  readonly endpoint: EndpointId | null
}

/** Echoes and leaks within one scenario. */
export function echoes(plan: Plan, history: History): Failure[] {
  const { entries } = history
  const maySay = createAgentTextMatcher(plan)
  const chatOf = (chatId: string) => chatText(history.conversationOf(chatId) ?? chatId)
  const find = createFinder(reachedIn(entries))
  const failures: Failure[] = []
  for (const written of recognizable(writtenIn(entries))) {
    const { chatId, sign } = written
    const places = find(sign).filter(({ text }) => !maySay(text, sign))
    const back = places.find(where => where.chatId === chatId && where.endpoint === 'message')
    const elsewhere = inOtherChats(places, chatId)
    if (back === undefined && elsewhere.length === 0) continue
    const step = findWriter(plan, entries, written)
    const place = { step, conversation: history.conversationOf(chatId), soft: false }
    const from = chatOf(chatId)
    if (back !== undefined) failures.push({ ...echoFailure(written, back, from), ...place })
    for (const where of elsewhere) {
      const failure = leakFailure(written, where, from, chatOf(where.chatId))
      failures.push({ ...failure, ...place, entrySeqs: [written.seq, where.seq] })
    }
  }
  return failures
}

/** `chat "ada" of "Happy path"` */
const chatText = (chat: string, scenario: string | null = null): string =>
  `chat ${JSON.stringify(chat)}${scenario === null ? '' : ` of ${JSON.stringify(scenario)}`}`

const ECHOED: Cause = causedBy('echoed', "what the user writes comes back as the agent's message")
const LEAKED: Cause = causedBy('leaked', 'what a user writes appears in another chat')

const echoFailure = (written: Written, back: Reached, from: string) =>
  createFailure('echo', {
    code: 'echoed',
    expected: `the user of ${from} never reads ${quotedText(written.text)} (written in #${written.seq}) as an agent's message`,
    happened: `#${back.seq} ${back.place} sent what the user of ${from} wrote in #${written.seq} back to the user: ${quotedText(back.text)}`,
    details: { from, place: back.place },
    rules: ['E6.5', 'W2'],
    entrySeqs: [written.seq, back.seq],
    hint: {
      code: 'forwards_copies',
      text: 'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.',
    },
    cause: ECHOED,
  })

/** Leaks from one scenario into another. Texts that two scenarios share (of a scenario that ran twice) prove nothing. */
export function leaksBetween(runs: readonly { readonly plan: Plan; readonly result: ScenarioResult }[]): Failure[] {
  const sources = runs.map(({ plan, result }) => ({ result, maySay: createAgentTextMatcher(plan) }))
  const written = sources.flatMap(run => writtenIn(run.result.journal).map(text => ({ ...text, run })))
  const find = createFinder(sources.flatMap(run => reachedIn(run.result.journal).map(text => ({ ...text, run }))))
  const failures: Failure[] = []
  for (const source of recognizable(written)) {
    const { chatId, sign } = source
    const isQuotable = sign === source.text.trim()
    const places = find(sign).filter(({ run, text }) => {
      return run !== source.run && !(isQuotable && run.maySay(text, sign))
    })
    for (const where of inOtherChats(places, chatId)) {
      const from = chatIn(source.run.result, chatId)
      const to = chatIn(where.run.result, where.chatId)
      const failure = leakFailure(source, where, from.text, to.text)
      // The two numbers are of two journals: there is no timeline to mark them in.
      failures.push({ ...failure, step: null, conversation: from.conversation, entrySeqs: [], soft: false })
    }
  }
  return failures
}

function chatIn({ conversations, name }: ScenarioResult, chatId: string) {
  const [conversation = null] = Object.entries(conversations).find(([, id]) => id === chatId) ?? []
  return { conversation, text: chatText(conversation ?? chatId, name) }
}

/** An inbox is read many times: each place counts once. */
function inOtherChats<Where extends Reached>(reached: readonly Where[], chatId: string): Where[] {
  const places = new Map<string, Where>()
  for (const where of reached) {
    const place = JSON.stringify([where.chatId, where.place, where.endpoint === null ? null : where.seq])
    if (where.chatId !== chatId && !places.has(place)) places.set(place, where)
  }
  return [...places.values()]
}

function leakFailure(written: Written, { seq, place, text, endpoint }: Reached, from: string, to: string) {
  return createFailure('leak', {
    code: 'leaked',
    expected: `what the user of ${from} wrote (#${written.seq} ${quotedText(written.text)}) stays in ${from}`,
    happened: `#${seq} ${place} has in ${to} what the user of ${from} wrote: ${quotedText(text)}`,
    details: { from, to, place },
    rules: endpoint === null ? ['WH4', 'EV4'] : ['E6.2'],
    hint: {
      code: 'current_chat',
      text: 'Is "the current chat" kept in one variable for all conversations? Take the chat id from the event, and from the conversation the agent writes in.',
    },
    cause: LEAKED,
  })
}

/** The last step of that chat that makes a user write and started before the text. */
function findWriter(plan: Plan, entries: readonly Entry[], { seq, chatId }: Written): StepRef | null {
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
  return step === undefined ? null : stepRef(step, plan.count)
}

/** Whether `text`, recognized by `sign`, may be written by the agent. */
type AgentTextMatcher = (text: string, sign: string) => boolean

/** Reads the plan at the first question, because most runs ask none. */
function createAgentTextMatcher(plan: Plan): AgentTextMatcher {
  let templates: Template[] | null = null
  return (text, sign) => {
    templates ??= agentTemplates(plan)
    for (const { words, pieces } of templates)
      if (pieces === null ? words.includes(sign) : matchesPieces(pieces, text)) return true
    return false
  }
}

/** A text of an agent, with `$(...)` where the plan does not say the value. */
interface Template {
  readonly words: string
  /** What stands between the placeholders; null without any. */
  readonly pieces: readonly string[] | null
}

function agentTemplates(plan: Plan): Template[] {
  const templates: Template[] = []
  for (const { action, conversation, scope } of stepsOf([...plan.steps, ...plan.finally])) {
    if (action.verb !== 'agent') continue
    const ofChat = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
    const values = [plan.vars, ofChat, scope].reduce(filledOver, plan.matrix)
    for (const template of stringsIn([action.text, action.with])) {
      let words = template
      try {
        words = String(interpolate(template, values))
      } catch {
        // A value is only known when the scenario runs.
      }
      templates.push({ words, pieces: namesIn(words).length > 0 ? words.split(/\$\([^()]*\)/) : null })
    }
  }
  return templates
}

/** Linear in the text: a regular expression would backtrack. */
function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)]
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? ''
    const start = text.indexOf(piece, at)
    if (start < 0) return false
    at = start + piece.length
  }
  return at <= text.length - last.length
}

/** A text this long (in code points) that only one user wrote is as good as a token. */
const MIN_SIGN_CHARS = 12

function writtenIn(entries: readonly Entry[]): Written[] {
  const texts: Written[] = []
  for (const entry of entries) {
    if (entry.kind !== 'user' || entry.action !== 'message' || entry.text === undefined) continue
    const { chat_id: chatId, seq, text } = entry
    const whole = text.trim()
    // A shorter text is too common to say anything.
    const sign = tokensIn(text)[0] ?? ([...whole].length >= MIN_SIGN_CHARS ? whole : '')
    texts.push({ chatId, seq, text, sign })
  }
  return texts
}

/** Only texts with a sign of their own: a text that a user of another chat wrote too says nothing. */
function recognizable<Source extends Written>(written: readonly Source[]): Source[] {
  const writers = new Map<string, Set<string>>()
  for (const { text, chatId } of written) writers.set(text, (writers.get(text) ?? new Set()).add(chatId))
  return written.filter(({ text, sign, chatId }) => {
    if (sign === '' || writers.get(text)?.size !== 1) return false
    if (isToken(sign)) return true
    for (const [otherText, chats] of writers)
      if (otherText.includes(sign) && !(chats.size === 1 && chats.has(chatId))) return false
    return true
  })
}

/** Finds the texts with a sign. Tokens are looked up in a map: a long run has many. */
function createFinder<Where extends Reached>(reached: readonly Where[]): (sign: string) => readonly Where[] {
  const byToken = new Map<string, Where[]>()
  for (const where of reached) {
    for (const token of new Set(tokensIn(where.text))) {
      const places = byToken.get(token) ?? []
      places.push(where)
      byToken.set(token, places)
    }
  }
  return sign => (isToken(sign) ? (byToken.get(sign) ?? []) : reached.filter(({ text }) => text.includes(sign)))
}

function reachedIn(entries: readonly Entry[]): Reached[] {
  const reached: Reached[] = []
  for (const entry of entries) {
    const { chat_id: chatId, seq } = entry
    if (chatId === undefined) continue
    if (entry.kind === 'api') {
      const { endpoint, method, path, request } = entry
      const place = `${method} ${path}`
      for (const text of stringsIn(request.body)) reached.push({ chatId, seq, text, place, endpoint })
    }
    if (entry.kind !== 'driver' || !Array.isArray(entry.items)) continue
    // An inbox is read repeatedly: `place` names the position of the item, which stays the same.
    for (const [index, item] of entry.items.entries()) {
      const place = `inbox item ${index + 1}`
      for (const text of stringsIn(item)) reached.push({ chatId, seq, text, place, endpoint: null })
    }
  }
  return reached
}

const TOKEN_CHARS = 6
const RADIX = 36
const TOKEN = /⟦[0-9a-z]{6}⟧/g
const APPENDED = / ?⟦[0-9a-z]{6}⟧/g

/** The same seed text makes the same token; it begins with the space that parts it from the text. */
export function makeToken(seedText: string): string {
  const [a, b] = hashWords(seedText, 0)
  const word = (((a & 0xfffff) * 2 ** 32 + b) % RADIX ** TOKEN_CHARS).toString(RADIX).padStart(TOKEN_CHARS, '0')
  return ` ⟦${word}⟧`
}

/** The text as it was before. An engine may translate around a token, so it is taken out wherever it stands. */
export const stripToken = (text: string): string => text.replace(APPENDED, '')

/** Without the space; in the order they stand. */
export const tokensIn = (text: string): string[] => text.match(TOKEN) ?? []

const isToken = (sign: string): boolean => tokensIn(sign)[0] === sign
