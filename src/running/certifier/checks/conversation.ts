/** FLW-08: what was written while no agent was in the chat. The platform sends no event for it, so it comes from a transcript. */

import { counted } from '../../../base/text/quantities.ts'
import { type ChatHistory, type ChatStatus, History, isAcceptance, statusAfter } from '../../../evaluation/history.ts'
import { type Facts, type Rule, right, unclear } from '../../../evaluation/rules/rule.ts'
import type { InboxItem } from '../../../evaluation/scenario/run-events.ts'
import { flow } from '../../../evaluation/scenario/value-text.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { type CheckChat, expectAcknowledged, openChat } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, checkFacts } from '../context.ts'
import { UNTRANSLATED } from '../exchange.ts'
import { inboxUntil } from '../observe.ts'

/** before: before the request for an agent. waiting: until `start`. joined: after it. */
type Phase = 'before' | 'waiting' | 'joined'

const PHASES: Readonly<Record<ChatStatus, Phase>> = {
  unknown: 'before',
  bot: 'before',
  ended: 'before',
  pending: 'waiting',
  agent: 'joined',
}

const PHASES_BEFORE_START: readonly Phase[] = ['before', 'waiting']

/** Follows "which". */
const WRITTEN: Readonly<Record<Phase, string>> = {
  before: 'user and bot wrote before the request for an agent',
  waiting: 'the user wrote while waiting for an agent',
  joined: 'the user wrote right after `start`, while the transcript was read',
}

interface Written {
  readonly text: string
  readonly phase: Phase
  readonly entry: Entry
}

/** A text with what the inbox shows of it. */
interface Seen extends Written {
  /** How often it was written in the chat. */
  readonly times: number
  /** Where the inbox shows it, as offsets in the texts of all items one after the other. */
  readonly places: readonly number[]
}

interface Conversation {
  readonly seen: readonly Seen[]
  /** The entry of the read. */
  readonly read: { readonly seq: number }
  /** Whether the inbox was read so late that it had to show everything. */
  readonly isDue: boolean
  /** Whether an item links to the conversation, whose texts are then a click away. */
  readonly isLinked: boolean
}

/**
 * What was written since the handover before the last one, and what the agent sees of it; null when no inbox was read since
 * `start`. A help desk may show each message as an item, or many in one: a text counts wherever it is.
 */
function conversationOf(chat: ChatHistory, facts: Facts): Conversation | null {
  const read = facts.inbox ?? chat.reads.at(-1)
  let [status, written, start]: [ChatStatus, Written[], Entry | null] = ['unknown', [], null]
  let begun: Written[] = []
  const all: string[] = []
  const sentTexts = new Set(chat.events.map(({ act }) => act))
  for (const entry of chat.entries) {
    const text = writtenIn(entry, chat)
    if (text !== null) all.push(text)
    // What an event brought is no part of a transcript only.
    const isSent = entry.kind === 'user' && sentTexts.has(entry)
    const phase = isSent ? 'joined' : PHASES[status]
    if (text !== null && (entry.kind === 'user' || phase === 'before')) begun.push({ text, phase, entry })
    if (isAcceptance(entry) && status !== 'agent') [written, start] = [begun, entry]
    status = statusAfter(status, entry)
    if (status === 'ended' && begun === written) begun = []
  }
  if (read === undefined || start === null || read.seq < start.seq) return null
  const shown = textsOf(read.items)
  const places = placesOf(all, shown)
  return {
    read,
    isDue: read.askedAt - start.at_ms > facts.effectMs,
    isLinked: isLinkedIn(shown, start.chat_id ?? ''),
    seen: written.map(one => ({
      ...one,
      times: all.filter(text => text === one.text).length,
      places: places.get(one.text) ?? [],
    })),
  }
}

/** The text of the user or of the bot's dialogue; the workspace's notices about the handover are not part of it. */
function writtenIn(entry: Entry, { userActs }: ChatHistory): string | null {
  if (entry.kind === 'user' && entry.action === 'message') return entry.text_for_agent ?? (entry.text || null)
  if (entry.kind !== 'note' || entry.note !== 'bot_message' || typeof entry.text !== 'string') return null
  return userActs.some(({ seq, action }) => seq === entry.cause && action === 'message') ? entry.text : null
}

const textsOf = (items: readonly InboxItem[]): string => items.map(({ text = '' }) => text).join('\n\0\n')

/** Where each text is in `shown`. A place belongs to the longest text that is there, and is not inside of a word. */
function placesOf(texts: readonly string[], shown: string): Map<string, number[]> {
  const places = new Map<string, number[]>()
  const isWord = (character: string | undefined) => /[\p{L}\p{N}]/u.test(character ?? '')
  let rest = shown
  for (const text of [...new Set(texts)].sort((a, b) => b.length - a.length)) {
    const found: number[] = []
    for (let at = rest.indexOf(text); at !== -1; at = rest.indexOf(text, at + text.length)) {
      if (isWord(rest[at - 1]) || isWord(rest[at + text.length])) continue
      found.push(at)
      rest = rest.slice(0, at) + '\0'.repeat(text.length) + rest.slice(at + text.length)
    }
    places.set(text, found)
  }
  return places
}

const isLinkedIn = (shown: string, chatId: string): boolean =>
  (shown.match(/https?:\/\/\S+/g) ?? []).some(link => link.includes(encodeURIComponent(chatId)))

/** Texts of this phase that the inbox shows less often than they were written. */
function unseenIn({ seen }: Conversation, phase: Phase): Seen[] {
  const ofPhase = seen.filter(one => one.phase === phase)
  return ofPhase.filter(({ text, places }) => places.length < ofPhase.filter(one => one.text === text).length)
}

const textUnseen = (id: string, phase: Phase, hint: string): Rule => ({
  id,
  level: 'SHOULD',
  *judgeChat(chat, facts) {
    const conversation = conversationOf(chat, facts)
    if (conversation === null || !conversation.seen.some(one => one.phase === phase)) return
    const [first, ...more] = unseenIn(conversation, phase)
    if (first === undefined) yield right(conversation.read)
    else if (conversation.isLinked) yield unclear(conversation.read)
    else if (conversation.isDue) {
      const others = more.length === 0 ? '' : ` and ${counted(more.length, 'more text')}`
      yield {
        happened: `The agent does not see ${flow(first.text)}${others}, which ${WRITTEN[phase]}.`,
        hint,
        details: { direction: 'to_agent', phase, texts: 1 + more.length },
        entries: [first.entry, conversation.read],
      }
    }
  },
})

const textRepeated: Rule = {
  id: 'conversation-repeated',
  level: 'SHOULD',
  *judgeChat(chat, facts) {
    const conversation = conversationOf(chat, facts)
    const repeated = conversation?.seen.find(({ places, times }) => places.length > times)
    if (conversation === null || repeated === undefined) return
    const { text, phase, times, places, entry } = repeated
    yield {
      happened: `The agent sees ${flow(text)} ${counted(places.length, 'time')}, which ${WRITTEN[phase]} ${times === 1 ? 'once' : counted(times, 'time')}.`,
      hint: 'A message that was written after `start` comes by webhook, and is in a transcript that is read after it too. Leave out what is behind the message whose id (`chatmessage_id`) is in the answer to `start`, and what was shown in an earlier handover.',
      details: { phase, times: places.length },
      entries: [entry, conversation.read],
    }
  },
}

const textOrder: Rule = {
  id: 'conversation-reordered',
  level: 'SHOULD',
  *judgeChat(chat, facts) {
    const conversation = conversationOf(chat, facts)
    // What was written twice may be in either place.
    const once = conversation?.seen.filter(({ places, times }) => times === 1 && places.length === 1) ?? []
    const at = once.findIndex(({ places }, index) => index > 0 && places[0]! < once[index - 1]!.places[0]!)
    if (conversation === null || at < 1) return
    const [earlier, later] = [once[at - 1]!, once[at]!]
    yield {
      happened: `The agent sees ${flow(later.text)} before ${flow(earlier.text)}, which was written earlier.`,
      hint: 'A transcript begins with the oldest message. Show it before the messages that come by webhook.',
      details: { earlier: earlier.phase, later: later.phase },
      entries: [earlier.entry, later.entry, conversation.read],
    }
  },
}

const BEFORE_HINT =
  'Read the transcript when a handover begins (GET /api/v1/chats/CHAT, or POST /api/v2/handover/transcript), and show it to the agent. The user has said there what it is about.'
const WAITING_HINT =
  'No event brings what is written between request and `start`, and the handover transcript ends at the request. Read GET /api/v1/chats/CHAT after the answer to `start`, with a key that has the scope "Read chats".'
const JOINED_HINT =
  'Add the transcript to what came by webhook meanwhile. Do not replace it, and store each event at once.'

/** What the agent sees of what no event brings. */
export const CONVERSATION_RULES: readonly Rule[] = [
  textUnseen('before-request-unseen', 'before', BEFORE_HINT),
  textUnseen('while-waiting-unseen', 'waiting', WAITING_HINT),
  textRepeated,
  textOrder,
]

/** While a transcript is read slowly. A help desk that can only append shows it behind what came meanwhile, in another order. */
const GAP_RULES: readonly Rule[] = [textRepeated, textUnseen('after-start-unseen', 'joined', JOINED_HINT)]

const BEFORE = 'The number of my parcel is 4711.'
const WAITING = 'It should be here by Friday.'
const JOINED = 'Can you see where it is?'
/** How long reads of a transcript take in the second chat. */
const SLOW_READ = '500ms'

export const CONVERSATION_CHECK: CheckDefinition = {
  id: 'FLW-08',
  level: 'SHOULD',
  profile: 'flow',
  rules: ['W4', 'E1.4', 'E9.3', 'ST5'],
  needs: ['accept', 'inbox'],
  knobs: UNTRANSLATED,
  title: 'The agent sees what was written before the handover',
  sends:
    'The user writes to the bot, asks for an agent, writes while waiting, and writes once more after start; then the same while each read of a transcript takes 500 ms.',
  observes: 'The texts in the inbox: in items of their own or together.',
  passes:
    'The agent sees what user and bot wrote before the request, and what the user wrote until start: once, in order.',
  async run(check) {
    const chat = await takeOverAfterMessages(check, 'conversation')
    await waitUntilSeen(check, chat, [BEFORE, WAITING])
    expectAcknowledged(check, await chat.says(JOINED))
    await judgeConversation(check, chat, CONVERSATION_RULES)

    check.sim.faults.add({ on: { api: ['transcript', 'chat'] }, latency: SLOW_READ })
    const slow = await takeOverAfterMessages(check, 'slow transcript')
    expectAcknowledged(check, await slow.says(JOINED))
    await judgeConversation(check, slow, GAP_RULES)
  },
}

async function takeOverAfterMessages(check: CheckContext, name: string): Promise<CheckChat> {
  const chat = await openChat(check, name)
  await chat.says(BEFORE)
  expectAcknowledged(check, await chat.press())
  await chat.says(WAITING)
  await chat.accept()
  return chat
}

const waitUntilSeen = (check: CheckContext, chat: CheckChat, texts: readonly string[]) =>
  inboxUntil(check, chat, items => texts.every(text => textsOf(items).includes(text)))

async function judgeConversation(check: CheckContext, chat: CheckChat, rules: readonly Rule[]): Promise<void> {
  await waitUntilSeen(check, chat, [BEFORE, WAITING, JOINED])
  // A further copy may come later.
  await check.pause(check.limits.quietMs)
  await chat.inbox()
  check.judge(rules, chat.entries())
  const history = new History(chat.entries()).chats.get(chat.id)
  const conversation = history && conversationOf(history, checkFacts(check.core, check.limits))
  if (!conversation?.isLinked || PHASES_BEFORE_START.every(phase => unseenIn(conversation, phase).length === 0)) return
  const text =
    'The inbox shows a link to the conversation and not its texts. What the agent sees behind the link is unknown: open it, and look for what the user wrote before the request and while waiting.'
  check.inconclusive({ code: 'conversation_linked', text })
}
