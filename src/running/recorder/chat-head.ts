/** Reads how a chat began: in what it differs from a new chat, and what was said before the recording. */
import { withoutUndefined } from '../../base/objects.ts'
import { drawPersona } from '../../base/runtime/random.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ChatInput } from '../../evaluation/scenario/format/scenario.ts'
import { TRANSCRIPT_NAMES, type TranscriptName } from '../../platform/contract/transcripts.ts'
import type { Chat, Message } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { conversationOf, loadTranscript, type ShippedTranscript } from '../../platform/simulator/new-chat.ts'

export interface ChatHead {
  /** The chat as a scenario describes it. */
  readonly chat: ChatInput
  /** The first name that the creator of the chat chose; null for a drawn one. */
  readonly firstName: string | null
  /** Whether messages before the recording had files, which a history cannot have. */
  readonly lostFiles: boolean
}

export interface ChatOrigin {
  /** The messages that were there before the recording. */
  readonly before: readonly Message[]
  /** 1 for the first chat of the simulator. */
  readonly number: number
}

export async function headOf(core: Core, chat: Chat, { before, number }: ChatOrigin): Promise<ChatHead> {
  const history = before.map(rowOf)
  const shipped = await shippedFor(core, chat, history)
  const drawn = await drawPersona(core.identity.seed, `persona ${number}`, chat.language)
  const user = userOf(chat, drawn)
  const language = shipped?.transcript.language === chat.language ? undefined : chat.language
  const source = chat.source === (shipped?.transcript.source ?? 'web') ? undefined : chat.source
  const usual = { context: shipped?.transcript.context ?? drawn.context, labels: shipped?.transcript.labels ?? [] }
  return {
    chat: escapePlaceholders(
      withoutUndefined({
        language,
        source,
        user,
        transcript: shipped?.name,
        history: shipped !== null || history.length === 0 ? undefined : history,
        context: sameJson(chat.context, usual.context) ? undefined : chat.context,
        labels: sameJson(chat.labels, usual.labels) ? undefined : [...chat.labels],
      }),
    ),
    firstName: user ? chat.persona.firstName : null,
    lostFiles: before.some(({ attachments }) => attachments.length > 0),
  }
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

type HistoryRow = NonNullable<ChatInput['history']>[number]

function rowOf({ from, name, text, buttons }: Message): HistoryRow {
  if (from === 'user') return { user: text }
  if (from === 'agent') return { agent: name, text }
  return buttons.length > 0 ? { bot: text, buttons: [...buttons] } : { bot: text }
}

/** Undefined for the user that the simulator draws, null for one without known data. */
function userOf({ persona }: Chat, drawn: Chat['persona']): ChatInput['user'] {
  const { firstName, lastName, gender } = persona
  if (firstName === null && lastName === null) return null
  const isDrawn = firstName === drawn.firstName && lastName === drawn.lastName && gender === drawn.gender
  if (isDrawn) return undefined
  return withoutUndefined({
    first_name: firstName ?? undefined,
    last_name: lastName ?? undefined,
    gender: gender ?? undefined,
  })
}

/** The shipped conversation that is exactly this history; null when there is none. */
async function shippedFor(
  core: Core,
  { botId, language }: Chat,
  history: readonly HistoryRow[],
): Promise<{ name: TranscriptName; transcript: ShippedTranscript } | null> {
  if (history.length === 0) return null
  for (const name of TRANSCRIPT_NAMES.filter(one => one.startsWith(`${language.slice(0, 2)}-`))) {
    const transcript = await loadTranscript(name)
    if (sameJson(conversationOf(transcript, core, botId).history, history)) return { name, transcript }
  }
  return null
}
