/** Gives the components of the inspector their session, and the drafts of their forms. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session } from './session.ts'

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('Failed to find the session: the component is outside of the inspector.')
  return session
}

/** Like `useState`, but the value stays while the form is not shown. Forms of one kind have different names. */
export function useDraft<Draft>(kind: string, empty: Draft, name = ''): readonly [Draft, (draft: Draft) => void] {
  const draft = useSession().findDraft(kind, name, empty)
  const set = (value: Draft) => {
    draft.value = value
  }
  return [draft.value, set]
}
