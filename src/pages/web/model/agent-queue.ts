/** Finds the chats that ask for a person or have one, and how far a first handover is, as the journal grows. */
import { isSuccess } from '../../../base/http-status.ts'
import { type ChatStatus, isAcceptance, statusAfter } from '../../../evaluation/history.ts'
import type { Entry } from '../../../platform/journal/entry.ts'

/** A chat that asks for a person, or that an agent has. */
export interface QueuedChat {
  readonly chatId: string
  readonly status: ChatStatus
  /** Null when the journal does not have the beginning of the chat. */
  readonly userName: string | null
  readonly botId: number | null
  /** What the user wrote last. */
  readonly lastText: string
}

/** The steps of a first handover, in their order. */
export const GUIDE_STEPS = ['chat', 'write', 'request', 'accept', 'answer', 'end'] as const
export type GuideStep = (typeof GUIDE_STEPS)[number]

export interface AgentQueue {
  /** Longest waiting first, then those that an agent has. */
  readonly chats: readonly QueuedChat[]
  readonly done: ReadonlySet<GuideStep>
  /** The seq of the last entry that may have changed who plays the agent; 0 without one. */
  readonly settingsSeq: number
  /** Null when the journal does not have the beginning of the chat. */
  botIdOf(chatId: string): number | null
}

const STEP_OF: Readonly<Record<string, GuideStep>> = { start: 'accept', message: 'answer', end: 'end' }

export function createAgentQueue() {
  const chats = new Map<string, QueuedChat>()
  const done = new Set<GuideStep>()
  let settingsSeq = 0

  function add(entry: Entry): void {
    const { kind, chat_id: chatId } = entry
    if (kind === 'note' && entry.note === 'config') settingsSeq = entry.seq
    if (chatId === undefined) return
    const chat = chats.get(chatId) ?? { chatId, status: 'unknown', userName: null, botId: null, lastText: '' }
    const status = statusAfter(chat.status, entry)
    const change = (changes: Partial<QueuedChat>) => chats.set(chatId, { ...chat, status, ...changes })
    if (isAcceptance(entry)) {
      // The chat moves to the end of the list.
      chats.delete(chatId)
      change({})
    } else if (status !== chat.status) change({})
    if (kind === 'user' && entry.action === 'message') {
      change({ lastText: entry.text ?? '' })
      done.add('write')
    } else if (kind === 'api' && isSuccess(entry.status)) {
      const step = STEP_OF[entry.endpoint ?? '']
      if (step !== undefined) done.add(step)
    } else if (kind === 'event' && entry.event === 'REQUESTING TAKEOVER') {
      done.add('request')
    } else if (kind === 'note') {
      const { note, user_name, bot_id } = entry
      if (note === 'chat_created') {
        done.add('chat')
        const userName = typeof user_name === 'string' ? user_name : null
        change({ userName, botId: typeof bot_id === 'number' ? bot_id : null })
      }
    }
  }

  /** The queue after the entries so far. */
  function view(): AgentQueue {
    const all = [...chats.values()]
    const ofStatus = (status: QueuedChat['status']) => all.filter(chat => chat.status === status)
    const queued = [...ofStatus('pending'), ...ofStatus('agent')]
    return { chats: queued, done: new Set(done), settingsSeq, botIdOf: chatId => chats.get(chatId)?.botId ?? null }
  }

  return { add, view }
}
