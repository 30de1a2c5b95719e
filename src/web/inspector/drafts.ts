/** Keeps what is written but not sent, by session and chat, also while its fields are not shown. */
import { type Signal, signal } from '@preact/signals'
import type { Session } from './session.ts'

export interface ButtonDraft {
  readonly label: string
  readonly url: string
}

export interface AgentDraft {
  readonly text: string
  readonly buttons: readonly ButtonDraft[]
}

export interface UserDraft {
  readonly text: string
  readonly files: readonly File[]
}

export const NO_AGENT_DRAFT: AgentDraft = { text: '', buttons: [] }
export const NO_USER_DRAFT: UserDraft = { text: '', files: [] }

/** The page calls the platform or the help desk with the same draft. */
export const agentDraftOf = createDrafts(NO_AGENT_DRAFT)
export const userDraftOf = createDrafts(NO_USER_DRAFT)

function createDrafts<Draft>(empty: Draft): (session: Session, chatId: string) => Signal<Draft> {
  const sessions = new WeakMap<Session, Map<string, Signal<Draft>>>()
  return (session, chatId) => {
    const chats = sessions.get(session) ?? new Map<string, Signal<Draft>>()
    const draft = chats.get(chatId) ?? signal(empty)
    sessions.set(session, chats.set(chatId, draft))
    return draft
  }
}

/** A text that could not be sent, before the one that was written since. */
export const joinTexts = (failed: string, text: string): string => [failed, text].filter(one => one !== '').join('\n')
