/** Reads from a simulator what a recording is made of: its range, its settings, and its chats as they began. */
import { groupBy, isMap, withoutUndefined } from '../../base/objects.ts'
import { drawPersona } from '../../base/runtime/random.ts'
import { type ChatStatus, statusAfter } from '../../evaluation/history.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ChatInput, ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import { TRANSCRIPT_NAMES, type TranscriptName } from '../../platform/contract/bot-texts.ts'
import { defaultKnobs, formatKnobs } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { DEFAULT_QUEUE } from '../../platform/rules/availability.ts'
import type { Chat, Message } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { loadTranscript, personalize } from '../../platform/simulator/new-chat.ts'
import { DEFAULTS } from '../../platform/simulator/options.ts'
import type { ShippedTranscript } from '../../platform/simulator/shipped-transcripts.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import { ControlProblem, getChat } from '../../server/control/problems.ts'
import type { RecordingNote, RecordingRequest } from '../../server/control/recorder.ts'

export interface RecordedChat {
  readonly id: string
  readonly userId: string
  readonly botId: number
  /** The name of its conversation; `main` when it is the only one. */
  readonly name: string
  /** The chat as a scenario describes it. */
  readonly input: ChatInput
}

export interface Recording {
  readonly name: string | undefined
  readonly clock: 'real' | 'virtual'
  readonly settings: Pick<ScenarioFile, 'config' | 'bot' | 'availability'>
  readonly chats: ReadonlyMap<string, RecordedChat>
  /** Entries of these chats, and entries of no chat. */
  readonly entries: readonly Entry[]
  readonly notes: readonly RecordingNote[]
}

export const MAX_STEPS = 200
/** The text of a recording is read, written and compared many times. */
export const MAX_TEXT_CHARS = 400_000

/** Throws `ControlProblem` when there is more than a recording has. */
export function refuseMoreThan(max: number, count: number, sentence: string): void {
  if (count <= max) return
  const message = `${sentence}, and a recording has at most ${max}: choose fewer chats, or a shorter range.`
  throw new ControlProblem(422, 'too_long', message)
}

function countChars(entries: readonly Entry[]): number {
  let chars = 0
  for (const entry of entries)
    if (entry.kind === 'user') chars += entry.text?.length ?? 0
    else if (entry.kind === 'api') {
      // Of a long message, the journal has the beginning of the body as text.
      const { body } = entry.request
      chars += String(isMap(body) ? (body.message ?? '') : (body ?? '')).length
    }
  return chars
}

/** Throws `ControlProblem`. */
export async function captureRecording(core: Core, request: RecordingRequest): Promise<Recording> {
  const { chats, entries: chosen, after, isExtended } = chooseRange(core, request)
  const notes: RecordingNote[] = []
  const addNote = (code: string, message: string) => notes.push({ code, message, seq: null })
  // Where an intermediary only reads, its calls are all that a scenario can expect.
  const onlyReads = !chosen.some(entry => entry.kind === 'api' && !isRead(entry))
  const entries = request.reads || onlyReads ? chosen : chosen.filter(entry => !isRead(entry))
  if (entries.length < chosen.length)
    addNote(
      'reads_left_out',
      'Calls that only read the chat are left out: a scenario lets them pass, and another intermediary may need none.',
    )
  if (isExtended)
    addNote(
      'began_earlier',
      'A handover was in progress where the range begins, so the scenario begins with its request.',
    )
  if (core.platform.settings.businessHours !== null)
    addNote(
      'business_hours',
      'Business hours are left out, because the result would depend on the time of the run: handover is open.',
    )
  const byChat = groupBy(core.journal.query({ after }), ({ chat_id }) => chat_id)
  // Chats are numbered as they are created.
  const numbers = [...core.platform.state.chats.keys()]
  const recorded = new Map<string, RecordedChat>()
  for (const [index, chat] of chats.entries()) {
    const before = messagesBefore(chat, byChat.get(chat.id) ?? [])
    const chars = before.reduce((sum, { text }) => sum + text.length, 0)
    refuseMoreThan(MAX_TEXT_CHARS, chars, `The messages before the range have ${chars} characters`)
    const input = await describeChat(core, chat, before, numbers.indexOf(chat.id) + 1)
    // Several chats have the first names that were chosen for their users, otherwise numbers.
    const first = input.user ? (chat.persona.firstName?.toLowerCase() ?? '') : ''
    const isFree = /^[a-z]\w{0,30}$/.test(first) && ![...recorded.values()].some(({ name }) => name === first)
    const name = chats.length === 1 ? 'main' : isFree ? first : `user${index + 1}`
    recorded.set(chat.id, { id: chat.id, userId: chat.userId, botId: chat.botId, name, input })
  }
  const signatureHeader = core.platform.knobs['webhook.signatureHeader']
  return {
    name: request.name,
    clock: core.clock.mode,
    settings: describeSettings(core, entries, after),
    chats: recorded,
    entries: entries.map(entry => core.secrets.redactDeep(presentEntry(entry, signatureHeader))),
    notes,
  }
}

const isRead = (entry: Entry): boolean =>
  entry.kind === 'api' && ['transcript', 'summarize', 'chat'].includes(entry.endpoint ?? '')

/** Chooses chats and entries. A scenario begins without a handover, so the range does as well. */
function chooseRange(core: Core, { chatIds, after = 0, before }: RecordingRequest) {
  const all = core.journal.query().filter(({ seq }) => before === undefined || seq < before)
  if (core.platform.state.chats.size === 0 && chatIds === undefined)
    throw new ControlProblem(409, 'nothing_to_record', 'There is nothing to record: no chat was created yet.')
  const acting = all.filter(entry => {
    const isTriggered = entry.kind === 'note' && entry.note === 'event_triggered' && entry.probe === undefined
    return entry.seq > after && (entry.kind === 'user' || entry.kind === 'api' || isTriggered)
  })
  const ids = new Set(chatIds ?? acting.map(({ chat_id }) => chat_id))
  const chats: Chat[] = []
  if (chatIds !== undefined) for (const id of new Set(chatIds)) chats.push(getChat(core, id))
  else for (const chat of core.platform.state.chats.values()) if (ids.has(chat.id)) chats.push(chat)
  const ofChats = all.filter(({ chat_id }) => chat_id !== undefined && ids.has(chat_id))
  const acts = acting.filter(({ chat_id }) => chat_id !== undefined && ids.has(chat_id))
  if (acts.length === 0) {
    const range = `${after > 0 ? ` after entry ${after}` : ''}${before === undefined ? '' : ` before entry ${before}`}`
    const message = `There is nothing to record: no user and no intermediary did anything in these chats${range}.`
    throw new ControlProblem(409, 'nothing_to_record', message)
  }
  // Each of these makes a step, and the rest of the work takes long in a long range.
  const steps = acts.filter(({ kind }) => kind !== 'api').length
  refuseMoreThan(MAX_STEPS, steps, `The range makes at least ${steps} steps`)
  const chars = countChars(acts)
  refuseMoreThan(MAX_TEXT_CHARS, chars, `The texts of the range have ${chars} characters`)

  const byChat = groupBy(ofChats, ({ chat_id }) => chat_id)
  let begin = after
  let earlier = after
  do {
    begin = earlier
    for (const entries of byChat.values()) earlier = Math.min(earlier, handoverBefore(entries, begin))
  } while (earlier < begin)

  const { firstSeq } = core.journal
  const isWhole = (id: string) => byChat.get(id)?.some(entry => entry.kind === 'note' && entry.note === 'chat_created')
  if (begin + 1 < firstSeq && !chats.every(({ id }) => isWhole(id)))
    throw new ControlProblem(
      409,
      'journal_evicted',
      `The journal has dropped entries of these chats: it begins with entry ${firstSeq}. Record newer chats, or pass after: ${firstSeq - 1} or later.`,
    )
  const entries = all.filter(({ seq, chat_id }) => seq > begin && (chat_id === undefined || ids.has(chat_id)))
  return { chats, entries, after: begin, isExtended: begin < after }
}

/** The seq before the handover, or the request, that is in progress at `after`; `after` when there is none. */
function handoverBefore(entries: readonly Entry[], after: number): number {
  let begin: number | null = null
  let status: ChatStatus = 'unknown'
  for (const entry of entries) {
    if (entry.seq > after) break
    status = statusAfter(status, entry)
    if (status === 'pending' || status === 'agent') begin ??= (entry.cause ?? entry.seq) - 1
    else begin = null
  }
  return begin ?? after
}

/** The messages of a chat that none of `entries` made. */
function messagesBefore({ messages }: Chat, entries: readonly Entry[]): readonly Message[] {
  const made = new Set<unknown>()
  for (const entry of entries) {
    if (entry.kind === 'user' || entry.kind === 'note') made.add(entry.message_id)
    if (entry.kind === 'api' && isMap(entry.response)) made.add(entry.response.chatmessage_id)
  }
  const first = messages.findIndex(({ id }) => made.has(id))
  return first < 0 ? messages : messages.slice(0, first)
}

/** Describes in what a chat differs from a new one. `number`: 1 for the first chat of the simulator. */
async function describeChat(core: Core, chat: Chat, before: readonly Message[], number: number): Promise<ChatInput> {
  const history = before.map(({ from, name, text, buttons }) => {
    if (from === 'user') return { user: text }
    if (from === 'agent') return { agent: name, text }
    return buttons.length > 0 ? { bot: text, buttons: [...buttons] } : { bot: text }
  })
  const shipped = await findShippedTranscript(core, chat, history)
  const drawn = await drawPersona(core.identity.seed, `persona ${number}`, chat.language)
  const { firstName, lastName, gender } = chat.persona
  const isDrawn = firstName === drawn.firstName && lastName === drawn.lastName && gender === drawn.gender
  let user: ChatInput['user']
  if (firstName === null && lastName === null) user = null
  else if (!isDrawn)
    user = withoutUndefined({
      first_name: firstName ?? undefined,
      last_name: lastName ?? undefined,
      gender: gender ?? undefined,
    })
  const usualContext = shipped?.transcript.context ?? drawn.context
  return escapePlaceholders(
    withoutUndefined({
      language: shipped?.transcript.language === chat.language ? undefined : chat.language,
      source: chat.source === (shipped?.transcript.source ?? 'web') ? undefined : chat.source,
      user,
      transcript: shipped?.name,
      history: shipped !== null || history.length === 0 ? undefined : history,
      context: isSameJson(chat.context, usualContext) ? undefined : chat.context,
      labels: isSameJson(chat.labels, shipped?.transcript.labels ?? []) ? undefined : [...chat.labels],
    }),
  )
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The shipped conversation that is exactly this history; null when there is none. */
async function findShippedTranscript(
  core: Core,
  { botId, language }: Chat,
  history: readonly unknown[],
): Promise<{ name: TranscriptName; transcript: ShippedTranscript } | null> {
  if (history.length === 0) return null
  for (const name of TRANSCRIPT_NAMES) {
    if (!name.startsWith(`${language.slice(0, 2)}-`)) continue
    const transcript = await loadTranscript(name)
    if (isSameJson(personalize(transcript, core, botId).history, history)) return { name, transcript }
  }
  return null
}

/** Knobs that a run sets for its own environment; an engine may be a file of this machine. */
const KNOBS_OF_ENVIRONMENT: readonly string[] = ['keys.handover', 'keys.bot', 'keys.more', 'api.cors']
const ENGINES: readonly unknown[] = ['marker', 'identity']

/** The settings that differ from the defaults. */
function describeSettings(core: Core, entries: readonly Entry[], after: number): Recording['settings'] {
  const { identity, platform } = core
  const { settings } = platform
  const usual = formatKnobs(defaultKnobs())
  const config: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(formatKnobs(platform.knobs))) {
    const isOfMachine = name === 'translation.engine' && !ENGINES.includes(value)
    if (isOfMachine || KNOBS_OF_ENVIRONMENT.includes(name) || isSameJson(value, usual[name])) continue
    config[name] = escapePlaceholders(value)
  }
  // The replies are part of it only when the bot used one.
  const texts = new Set(entries.map(entry => entry.kind === 'note' && entry.note === 'bot_message' && entry.text))
  const replies = settings.replies.map(({ match, text, buttons }) =>
    escapePlaceholders({ match, text, ...(buttons && { buttons: [...buttons] }) }),
  )
  const bot = withoutUndefined({
    name: identity.bot.name === DEFAULTS.botName ? undefined : escapePlaceholders(identity.bot.name),
    replies: settings.replies.some(({ text }) => texts.has(text)) ? replies : undefined,
  })
  // Without a note, availability was set before the journal begins, if at all.
  const notes = core.journal
    .query({ kind: 'note' })
    .filter(({ note, queue }) => note === 'availability' && queue === DEFAULT_QUEUE)
  const now = platform.state.bots.get(identity.bot.id)?.queues.get(DEFAULT_QUEUE)?.availability
  const before = notes.length === 0 ? now : notes.findLast(({ seq }) => seq <= after)?.availability
  const availability = settings.businessHours === null ? before : 'OPEN'
  return {
    ...(Object.keys(config).length > 0 && { config }),
    ...(Object.keys(bot).length > 0 && { bot }),
    ...((availability === 'OPEN' || availability === 'CLOSED') && { availability }),
  }
}
