/** Creates chats with a seeded persona and, on request, a shipped conversation. */

import { drawPersona } from '../../base/runtime/random.ts'
import { nearest } from '../../base/text/error-text.ts'
import { TRANSCRIPT_NAMES, type TranscriptName } from '../contract/bot-texts.ts'
import { botById, type ChatHistoryRow, createChat, type NewChat } from '../rules/chats.ts'
import type { Chat, Persona } from '../rules/state.ts'
import { createTransaction } from '../rules/state.ts'
import type { Core } from './core.ts'
import { DEFAULTS, invalidOption, withinMemory } from './options.ts'
import type { ShippedTranscript } from './shipped-transcripts.ts'

/** Options of a new chat. */
export interface ChatOptions {
  /** Language code. Default `en`. */
  readonly language?: string
  /** The origin of the chat. Default `web`. */
  readonly source?: string
  /** Overrides fields of the drawn persona; null stands for an unknown user. */
  readonly user?: {
    readonly id?: string
    readonly firstName?: string
    readonly lastName?: string
    readonly gender?: string
  } | null
  readonly history?: readonly ChatHistoryRow[]
  /** Name of a shipped conversation such as `nb-shop`: its language, history, context and labels are the defaults. */
  readonly transcript?: TranscriptName
  readonly context?: Readonly<Record<string, unknown>>
  readonly labels?: readonly string[]
  /** One of the bots of the knob `keys.more`, instead of the main bot. */
  readonly botId?: number
  readonly id?: string
}

/** Options that come from a file or the control API, with a name that may be unknown. */
export type ReadChatOptions = Omit<ChatOptions, 'transcript'> & { readonly transcript?: string | undefined }

const UNKNOWN_PERSON: Persona = { firstName: null, lastName: null, fullName: null, gender: null }

/** Creates chats one after the other, so that ids and personas do not depend on which data loads first. */
export function newChat(core: Core, options: ReadChatOptions): Promise<Chat> {
  const epoch = core.work.epoch.count
  return core.work.newChats.inOrder('', () => makeChat(core, options, epoch)) as Promise<Chat>
}

async function makeChat(core: Core, options: ReadChatOptions, epoch: number): Promise<Chat> {
  const shipped = options.transcript === undefined ? null : await loadTranscript(options.transcript)
  const language = options.language ?? shipped?.language ?? 'en'
  const drawn = await drawPersona(core.identity.seed, `persona ${core.platform.state.chatCounter + 1}`, language)
  if (epoch !== core.work.epoch.count)
    throw new Error('Failed to create the chat: the simulator was reset at the same time.')
  const transaction = createTransaction()
  const botId = knownBot(core, options.botId)
  // The caller may change what it gave; the chat keeps what it would send.
  const context = options.context ?? shipped?.context ?? drawn.context
  const spec: NewChat = {
    ...(options.id === undefined ? {} : { id: freeId(core, options.id) }),
    botId,
    language,
    source: options.source ?? shipped?.source ?? 'web',
    ...(options.user?.id === undefined ? {} : { userId: options.user.id }),
    persona: personaFrom(options.user, drawn),
    context: JSON.parse(JSON.stringify(context)),
    labels: [...(options.labels ?? shipped?.labels ?? [])],
    ...(options.history === undefined && shipped
      ? { ...personalize(shipped, core, botId), transcript: options.transcript ?? '' }
      : { history: options.history ?? [] }),
  }
  const chat = withinMemory(() => createChat(core.platform, spec, transaction))
  core.committer.commitEffects(transaction.effects, null)
  return chat
}

/** A bot with a name that the user chose has it in the texts too; any other has the name in the texts. */
export function personalize(
  { bot_name: shippedName, history }: ShippedTranscript,
  { platform }: Core,
  botId: number,
): Pick<NewChat, 'history' | 'botName'> {
  const { name } = botById(platform, botId)
  if (name === DEFAULTS.botName) return { history, botName: shippedName }
  const named = (text: string) => text.replaceAll(shippedName, () => name)
  return {
    history: history.map(row => {
      if ('user' in row) return { user: named(row.user) }
      return 'bot' in row ? { ...row, bot: named(row.bot) } : { ...row, text: named(row.text) }
    }),
  }
}

/** The user of a chat in the control API and in scenario files. */
export interface WireUser {
  readonly id?: string | undefined
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
  readonly gender?: string | undefined
}

/** Converts the `user` of the control API and of scenario files to the option of the library. */
export function userFromWire(user: WireUser | null | undefined): ChatOptions['user'] {
  if (user === null || user === undefined) return user
  const { first_name: firstName, last_name: lastName, ...rest } = user
  return { ...rest, firstName, lastName }
}

function knownBot(core: Core, botId = core.identity.bot.id): number {
  if (core.platform.state.bots.has(botId)) return botId
  const known = [...core.platform.state.bots.keys()].join(', ')
  throw invalidOption('bot_id', `bot_id ${botId} is not a bot of this simulator; known: ${known}.`)
}

function freeId(core: Core, id: string): string {
  if (id === '' || /\p{Surrogate}/u.test(id)) {
    throw invalidOption('id', 'id must be a text that is not empty and that a URL can carry.')
  }
  if (!core.platform.state.chats.has(id)) return id
  throw invalidOption('id', `There is already a chat ${JSON.stringify(id)}.`)
}

function personaFrom(user: ChatOptions['user'], drawn: Persona): Persona {
  if (user === null) return UNKNOWN_PERSON
  const firstName = user?.firstName ?? drawn.firstName
  const lastName = user?.lastName ?? drawn.lastName
  return { firstName, lastName, fullName: `${firstName} ${lastName}`, gender: user?.gender ?? drawn.gender }
}

/** Throws `InvalidOptionError` for an unknown name. */
export async function loadTranscript(name: string): Promise<ShippedTranscript> {
  const known = TRANSCRIPT_NAMES.find(shippedName => shippedName === name)
  if (known) return (await import('./shipped-transcripts.ts')).SHIPPED_TRANSCRIPTS[known]
  const message = `transcript ${JSON.stringify(name)} is not shipped${nearest(name, TRANSCRIPT_NAMES)}; there are ${TRANSCRIPT_NAMES.join(', ')}.`
  throw invalidOption('transcript', message)
}
