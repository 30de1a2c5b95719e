/** Finds the chats that ask for a person or have one, and how far a first handover is, as the journal grows. */
import { isMap } from '../../../base/objects.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
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
export const GUIDE_STEPS = ['chat', 'write', 'request', 'accept', 'answer', 'end'] as const
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
  let lastSeq = 0
  let settingsSeq = 0
  let done = new Set<GuideStep>()
  let chats = new Map<string, ChatFacts>()

  function read(entry: Entry): void {
    const { kind, chat_id: chatId } = entry
    if (kind === 'note' && entry.note === 'config') settingsSeq = entry.seq
    if (chatId === undefined) return
    const chat = chats.get(chatId) ?? { status: 'bot', userName: null, botId: null, lastText: '' }
    chats.set(chatId, chat)
    if (kind === 'user' && entry.action === 'message') {
      chat.lastText = entry.text ?? ''
      done.add('write')
    } else if (kind === 'api' && entry.status >= 200 && entry.status < 300) {
      const step = STEP_OF[entry.endpoint ?? '']
      if (step !== undefined) done.add(step)
    } else if (kind === 'note') {
      // Notes say what calls changed, whatever the calls were answered.
      const { note, user_name, bot_id } = entry
      if (note === 'handed_back') chat.status = 'bot'
      else if (note === 'taken_over' || note === 'takeover_replaced') {
        chat.status = 'agent'
        // A chat that is accepted moves to the end of the list.
        chats.delete(chatId)
        chats.set(chatId, chat)
      } else if (note === 'chat_created') {
        done.add('chat')
        chat.userName = typeof user_name === 'string' ? user_name : null
        chat.botId = typeof bot_id === 'number' ? bot_id : null
      }
    } else if (kind === 'event' && entry.event === 'REQUESTING TAKEOVER') {
      if (chat.status === 'bot') chat.status = 'pending'
      done.add('request')
    }
  }

  return entries => {
    if (entries !== list) {
      list = entries
      lastSeq = 0
      settingsSeq = 0
      done = new Set()
      chats = new Map()
    }
    for (const entry of entries.slice(countUntil(entries, lastSeq))) read(entry)
    lastSeq = entries.at(-1)?.seq ?? 0
    const byId = chats
    // Those that wait come before those that an agent has.
    const pending: QueuedChat[] = []
    const withAgent: QueuedChat[] = []
    for (const [chatId, { status, userName, lastText }] of byId)
      if (status !== 'bot') (status === 'agent' ? withAgent : pending).push({ chatId, status, userName, lastText })
    return {
      chats: [...pending, ...withAgent],
      done,
      settingsSeq,
      botIdOf: chatId => byId.get(chatId)?.botId ?? null,
    }
  }
}

const STEP_OF: Readonly<Record<string, GuideStep>> = { start: 'accept', message: 'answer', end: 'end' }

/** A refusal of the platform in words: its code, its reason, and the field that caused it. */
export function platformRefusal(body: unknown): { readonly text: string; readonly field: string | null } | null {
  const error = isMap(body) && isMap(body.error) ? body.error : null
  if (error === null || typeof error.message !== 'string') return null
  return { text: error.message, field: typeof error.field === 'string' ? error.field : null }
}
