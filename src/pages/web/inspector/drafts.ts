/** Keeps what is written but not sent, by session and by chat or form, also while its fields are not shown. */
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

function createDrafts<Draft>(empty: Draft): (session: Session, name: string) => Signal<Draft> {
  const sessions = new WeakMap<Session, Map<string, Signal<Draft>>>()
  return (session, name) => {
    const drafts = sessions.get(session) ?? new Map<string, Signal<Draft>>()
    const draft = drafts.get(name) ?? signal(empty)
    sessions.set(session, drafts.set(name, draft))
    return draft
  }
}

type UseDraft<Draft> = (session: Session, name?: string) => readonly [draft: Draft, set: (draft: Draft) => void]

/** Makes a hook like `useState`, whose value stays while the form is not shown. Forms of one kind have different names. */
export function createDraftHook<Draft>(empty: Draft): UseDraft<Draft> {
  const draftOf = createDrafts(empty)
  return (session, name = '') => {
    const draft = draftOf(session, name)
    const set = (value: Draft) => {
      draft.value = value
    }
    return [draft.value, set]
  }
}

/** A text that could not be sent, before the one that was written since. */
export const joinTexts = (failed: string, text: string): string => [failed, text].filter(one => one !== '').join('\n')
