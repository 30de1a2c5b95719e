/** Keeps what is written but not sent, by form and by chat, also while its fields are not shown. */
import { type Signal, signal } from '@preact/signals'

export interface UserDraft {
  readonly text: string
  readonly files: readonly File[]
}

export const NO_USER_DRAFT: UserDraft = { text: '', files: [] }

/** Returns the draft of this kind and name, which begins as `empty`. A kind has one type. */
export type FindDraft = <Draft>(kind: string, name: string, empty: Draft) => Signal<Draft>

export function createDrafts(): FindDraft {
  const drafts = new Map<string, Signal>()
  return (kind, name, empty) => {
    const key = `${kind} ${name}`
    const draft: Signal = drafts.get(key) ?? signal(empty)
    drafts.set(key, draft)
    return draft
  }
}

/** What is written in a chat as the agent. The page calls the platform or the help desk with the same draft. */
export const agentDraft = (findDraft: FindDraft, chatId: string): Signal<string> =>
  findDraft('agent message', chatId, '')

/** A text that could not be sent, before the one that was written since. */
export const joinTexts = (failed: string, text: string): string => [failed, text].filter(part => part !== '').join('\n')
