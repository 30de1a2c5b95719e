/** Reads from a simulator what a recording is made of: its settings and faults, its chats as they began, and the entries of the range. */

import { groupBy, isMap } from '../../base/objects.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ChatInput, ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import { defaultKnobs, formatKnobs } from '../../platform/contract/knobs.ts'
import type { AvailabilityValue } from '../../platform/contract/schemas.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { DEFAULT_QUEUE } from '../../platform/rules/availability.ts'
import type { BotReply, Chat, Message } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { DEFAULTS } from '../../platform/simulator/platform-options.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { RecordingNote, RecordingRequest } from '../../server/control/recorder.ts'
import { type ChatHead, headOf } from './chat-head.ts'
import { type Range, rangeOf } from './range.ts'
import { NOTE_TEXTS } from './texts.ts'

export interface RecordedChat {
  readonly id: string
  readonly userId: string
  readonly botId: number
  /** The name of its conversation; `main` when it is the only one. */
  readonly name: string
  readonly head: ChatInput
}

export interface Recording {
  readonly name: string | undefined
  readonly clock: 'real' | 'virtual'
  readonly head: Pick<ScenarioFile, 'config' | 'bot' | 'availability'>
  readonly chats: ReadonlyMap<string, RecordedChat>
  readonly entries: readonly Entry[]
  /** Notes of faults that were set before the first entry and not cleared. */
  readonly faultsBefore: readonly EntryOf<'note'>[]
  /** How often faults applied before the first entry, by name. */
  readonly hitsBefore: ReadonlyMap<string, number>
  readonly notes: readonly RecordingNote[]
}

/** Throws `ControlProblem`. */
export async function readRecording(core: Core, request: RecordingRequest): Promise<Recording> {
  const range = rangeOf(core, request)
  const after = groupBy(core.journal.query({ after: range.after }), ({ chat_id }) => chat_id)
  // Chats are numbered as they are created.
  const numbers = new Map([...core.platform.state.chats.keys()].map((id, index) => [id, index + 1]))
  const heads = await Promise.all(
    range.chats.map(chat => {
      const before = messagesBefore(chat, after.get(chat.id) ?? [])
      return headOf(core, chat, { before, number: numbers.get(chat.id) ?? 0 })
    }),
  )
  const notes: RecordingNote[] = []
  const say = (code: 'began_earlier' | 'business_hours' | 'attachments_of_history') =>
    notes.push({ code, message: NOTE_TEXTS[code], seq: null })
  if (range.isExtended) say('began_earlier')
  if (core.settings.businessHours !== null) say('business_hours')
  if (heads.some(({ lostFiles }) => lostFiles)) say('attachments_of_history')
  const entries = range.entries.map(entry =>
    core.secrets.redactDeep(presentEntry(entry, core.platform.knobs['webhook.signatureHeader'])),
  )
  return {
    name: request.name,
    clock: core.clock.mode,
    head: settingsOf(core, range, notes),
    chats: new Map(namedChats(range.chats, heads).map(chat => [chat.id, chat])),
    entries,
    faultsBefore: core.secrets.redactDeep(faultsBefore(core, range.after)),
    hitsBefore: hitsBefore(core, range.after),
    notes,
  }
}

/** The messages of a chat that none of `entries` made. */
function messagesBefore({ messages }: Chat, entries: readonly Entry[]): readonly Message[] {
  const made = new Set(entries.flatMap(messageIdOf))
  const first = messages.findIndex(message => made.has(message.id))
  return first < 0 ? messages : messages.slice(0, first)
}

function messageIdOf(entry: Entry): unknown[] {
  if (entry.kind === 'user') return [entry.message_id]
  if (entry.kind === 'note') return [entry.message_id]
  return entry.kind === 'api' && isMap(entry.response) ? [entry.response.chatmessage_id] : []
}

/** Names several chats by the first names that were chosen for their users, otherwise by numbers. */
function namedChats(chats: readonly Chat[], heads: readonly ChatHead[]): RecordedChat[] {
  const taken = new Set<string>()
  return chats.map(({ id, userId, botId }, index) => {
    const head = heads[index]
    const first = head?.firstName?.toLowerCase() ?? ''
    const isFree = /^[a-z]\w{0,30}$/.test(first) && !taken.has(first)
    const name = chats.length === 1 ? 'main' : isFree ? first : `user${index + 1}`
    taken.add(name)
    return { id, userId, botId, name, head: head?.chat ?? {} }
  })
}

function settingsOf(core: Core, range: Range, notes: RecordingNote[]): Recording['head'] {
  const config = configOf(core, range, notes)
  const bot = botOf(core, range)
  const availability = availabilityOf(core, range)
  return {
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(Object.keys(bot).length === 0 ? {} : { bot }),
    ...(availability === null ? {} : { availability }),
  }
}

/** Knobs that a run sets for its own environment. */
const OF_ENVIRONMENT: readonly string[] = ['keys.handover', 'keys.bot', 'keys.more', 'api.cors']
const ENGINES: readonly unknown[] = ['marker', 'identity']

/** The knobs that differ from their defaults, as they were when the range began. */
function configOf({ platform }: Core, { entries }: Range, notes: RecordingNote[]): Record<string, unknown> {
  const usual = formatKnobs(defaultKnobs())
  const values = { ...formatKnobs(platform.knobs), ...valuesBefore(entries, usual) }
  const isUsual = (name: string, value: unknown) => JSON.stringify(value) === JSON.stringify(usual[name])
  const differing = Object.entries(values).filter(
    ([name, value]) => !OF_ENVIRONMENT.includes(name) && !isUsual(name, value),
  )
  const isModule = ([name, value]: [string, unknown]) => name === 'translation.engine' && !ENGINES.includes(value)
  for (const [name] of differing.filter(isModule))
    notes.push({ code: 'setting_left_out', message: NOTE_TEXTS.setting_left_out(name), seq: null })
  const kept = differing.filter(one => !isModule(one))
  return Object.fromEntries(kept.map(([name, value]) => [name, escapePlaceholders(value)]))
}

/** The values before the knobs changed in the range; the default where the journal does not say. */
function valuesBefore(entries: readonly Entry[], usual: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const begun = entries.findIndex(({ kind }) => kind === 'user' || kind === 'api')
  for (const entry of begun < 0 ? [] : entries.slice(begun)) {
    if (entry.kind !== 'note' || entry.note !== 'config' || !isMap(entry.changed)) continue
    const { previous } = entry
    for (const name of Object.keys(entry.changed).filter(name => name in usual && !(name in values)))
      values[name] = isMap(previous) && name in previous ? previous[name] : usual[name]
  }
  return values
}

/** The replies are part of it only when the bot used one. */
function botOf({ identity, settings }: Core, { entries }: Range): NonNullable<ScenarioFile['bot']> {
  const botTexts = new Set(
    entries.flatMap(entry => (entry.kind === 'note' && entry.note === 'bot_message' ? [entry.text] : [])),
  )
  const used = settings.replies.some(({ text }) => botTexts.has(text))
  const { name } = identity.bot
  return {
    ...(name === DEFAULTS.botName ? {} : { name: escapePlaceholders(name) }),
    ...(used ? { replies: settings.replies.map(writableReply) } : {}),
  }
}

const writableReply = ({ match, text, buttons }: BotReply) =>
  escapePlaceholders({ match, text, ...(buttons && { buttons: [...buttons] }) })

/** Null when it was never set. With business hours, whether the first press was accepted. */
function availabilityOf(core: Core, { entries, after }: Range): AvailabilityValue | null {
  if (core.settings.businessHours !== null) return pressWasAccepted(entries) ? 'OPEN' : 'CLOSED'
  const notes = core.journal
    .query({ kind: 'note' })
    .filter(({ note, queue }) => note === 'availability' && queue === DEFAULT_QUEUE)
  // Without a note, it was set before the journal begins, if at all.
  const now = core.platform.state.bots.get(core.identity.bot.id)?.queues.get(DEFAULT_QUEUE)
  const value = notes.length === 0 ? now?.availability : notes.findLast(({ seq }) => seq <= after)?.availability
  return value === 'OPEN' || value === 'CLOSED' ? value : null
}

function pressWasAccepted(entries: readonly Entry[]): boolean {
  const isLink = (seq: number) =>
    entries.some(entry => entry.kind === 'note' && entry.note === 'link_opened' && entry.cause === seq)
  const press = entries.find(entry => entry.kind === 'user' && entry.action === 'press' && !isLink(entry.seq))
  return press === undefined || entries.some(entry => entry.kind === 'event' && entry.cause === press.seq)
}

function faultsBefore({ journal }: Core, after: number): EntryOf<'note'>[] {
  const set = new Map<unknown, EntryOf<'note'>>()
  for (const entry of journal.query({ kind: 'note' })) {
    if (entry.seq > after) break
    if (entry.note === 'fault_set') set.set(entry.fault, entry)
    if (entry.note === 'fault_cleared') set.delete(entry.fault)
  }
  return [...set.values()]
}

const hitsBefore = ({ journal }: Core, after: number): Map<string, number> =>
  new Map(journal.query({ kind: 'fault' }).flatMap(({ seq, fault, hit }) => (seq > after ? [] : [[fault, hit]])))
