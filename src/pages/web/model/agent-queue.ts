/** Finds the chats that ask for a person or have one, and how far a first handover is, as the journal grows. */
import { isMap } from '../../../base/objects.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { countUntil } from './journal-log.ts'

/** A chat that asks for a person, or that an agent has. */
export interface QueuedChat {
  readonly chatId: string
  readonly status: 'pending' | 'agent'
  /** Null when the journal does not have the beginning of the chat. */
  readonly userName: string | null
  /** What the user wrote last. */
  readonly lastText: string
}

/** The steps of a first handover, in their order. */
export const GUIDE_STEPS = ['write', 'request', 'accept', 'answer', 'end'] as const
export type GuideStep = (typeof GUIDE_STEPS)[number]

export interface AgentQueue {
  /** Longest waiting first. */
  readonly chats: readonly QueuedChat[]
  readonly done: ReadonlySet<GuideStep>
  /** The seq of the last entry that may have changed who plays the agent; 0 without one. */
  readonly settingsSeq: number
  /** Null when the journal does not have the beginning of the chat. */
  botIdOf(chatId: string): number | null
}

interface ChatFacts {
  status: 'bot' | QueuedChat['status']
  userName: string | null
  botId: number | null
  lastText: string
}

/** Returns a function that takes all entries, and reads those that were added to the list. Another list is read anew. */
export function createAgentQueue(): (entries: readonly Entry[]) => AgentQueue {
  let list: readonly Entry[] | null = null
  let facts = new Map<string, ChatFacts>()
  let state = { lastSeq: 0, settingsSeq: 0, done: new Set<GuideStep>() }
  return entries => {
    if (entries !== list) {
      list = entries
      facts = new Map()
      state = { lastSeq: 0, settingsSeq: 0, done: new Set() }
    }
    for (let index = countUntil(entries, state.lastSeq); index < entries.length; index++) {
      const entry = entries[index]
      if (entry !== undefined) read(entry, facts, state)
    }
    state.lastSeq = entries.at(-1)?.seq ?? 0
    const known = facts
    return { ...state, chats: queued(known), botIdOf: chatId => known.get(chatId)?.botId ?? null }
  }
}

type Progress = { settingsSeq: number; readonly done: Set<GuideStep> }

function read(entry: Entry, facts: Map<string, ChatFacts>, state: Progress): void {
  const { kind, seq } = entry
  if (kind === 'note' && entry.note === 'config') state.settingsSeq = seq
  if (entry.chat_id === undefined) return
  const chat = facts.get(entry.chat_id) ?? { status: 'bot', userName: null, botId: null, lastText: '' }
  facts.set(entry.chat_id, chat)
  if (kind === 'user') readUser(entry, chat, state.done)
  else if (kind === 'api' && entry.status >= 200 && entry.status < 300) {
    const { endpoint } = entry
    const step = STEP_OF[endpoint ?? '']
    if (step !== undefined) state.done.add(step)
  } else if (kind === 'note') {
    // Notes say what calls changed, whatever the calls were answered. A chat that is accepted moves to the
    // end of the list.
    const { note, chat_id = '', user_name, bot_id } = entry
    if (note === 'handed_back') chat.status = 'bot'
    else if (note === 'taken_over' || note === 'takeover_replaced') {
      chat.status = 'agent'
      facts.delete(chat_id)
      facts.set(chat_id, chat)
    } else if (note === 'chat_created') {
      chat.userName = typeof user_name === 'string' ? user_name : null
      chat.botId = typeof bot_id === 'number' ? bot_id : null
    }
  } else if (kind === 'event' && entry.event === 'REQUESTING TAKEOVER') {
    if (chat.status === 'bot') chat.status = 'pending'
    state.done.add('request')
  }
}

function readUser({ action, text }: EntryOf<'user'>, chat: ChatFacts, done: Set<GuideStep>): void {
  if (action !== 'message') return
  chat.lastText = text ?? ''
  done.add('write')
}

const STEP_OF: Readonly<Record<string, GuideStep>> = { start: 'accept', message: 'answer', end: 'end' }

/** Those that wait come before those that an agent has. */
function queued(facts: ReadonlyMap<string, ChatFacts>): QueuedChat[] {
  const of = (wanted: QueuedChat['status']) =>
    [...facts].flatMap(([chatId, { status, userName, lastText }]) =>
      status === wanted ? [{ chatId, status, userName, lastText }] : [],
    )
  return [...of('pending'), ...of('agent')]
}

/** A refusal of the platform in words: its code, its reason, and the field that caused it. */
export function platformRefusal(body: unknown): { readonly text: string; readonly field: string | null } | null {
  const error = isMap(body) && isMap(body.error) ? body.error : null
  if (error === null || typeof error.message !== 'string') return null
  return { text: error.message, field: typeof error.field === 'string' ? error.field : null }
}
