/** Keeps what is written but not sent, by form and by chat, also while its fields are not shown. */
import { type Signal, signal } from '@preact/signals'

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

export interface Drafts {
  /** Returns the draft of this kind and name, which begins as `empty`. A kind has one type. */
  find<Draft>(kind: string, name: string, empty: Draft): Signal<Draft>
  /** What is written in a chat as the agent. The page calls the platform or the help desk with the same draft. */
  ofAgent(chatId: string): Signal<AgentDraft>
  /** What is written in a chat as its end user. */
  ofUser(chatId: string): Signal<UserDraft>
}

export function createDrafts(): Drafts {
  const drafts = new Map<string, Signal>()
  function find<Draft>(kind: string, name: string, empty: Draft): Signal<Draft> {
    const key = `${kind} ${name}`
    const draft: Signal = drafts.get(key) ?? signal(empty)
    drafts.set(key, draft)
    return draft
  }
  return {
    find,
    ofAgent: chatId => find('agent message', chatId, NO_AGENT_DRAFT),
    ofUser: chatId => find('user message', chatId, NO_USER_DRAFT),
  }
}

/** A text that could not be sent, before the one that was written since. */
export const joinTexts = (failed: string, text: string): string => [failed, text].filter(one => one !== '').join('\n')
