/** Keeps what passed before the simulator was started again, to read, until it is closed. */
import { signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { PastLog, Session } from './session.ts'
import { SessionContext, useSession } from './session-context.ts'
import { Wire } from './wire.tsx'

export function WireWithPast() {
  const session = useSession()
  const isShown = useSignal(false)
  const past = session.past.value
  const pastSession = useMemo(() => (past === null ? null : createPastSession(session, past)), [session, past])
  if (past === null || pastSession === null) return <Wire />
  const close = () => {
    isShown.value = false
    session.past.value = null
  }
  return (
    <>
      <div class="moment-banner" role="status">
        <p>
          {isShown.value
            ? 'You see what passed before the simulator was started again.'
            : `The simulator was started again. What passed before can still be read: ${past.log.entries.length} journal entries.`}
        </p>
        <div class="buttons">
          <button type="button" onClick={() => (isShown.value = !isShown.value)}>
            {isShown.value ? 'Show now' : 'Show it'}
          </button>
          <button type="button" class="quiet" onClick={close}>
            Close
          </button>
        </div>
      </div>
      {isShown.value ? (
        <SessionContext.Provider value={pastSession}>
          <Wire />
        </SessionContext.Provider>
      ) : (
        <Wire />
      )}
    </>
  )
}

/** With a view of its own: the entries of before have other numbers. */
const createPastSession = (session: Session, { log, chatTag }: PastLog): Session => ({
  ...session,
  isPast: true,
  log: signal(log),
  chatTag,
  chatName: id => chatTag(id).name,
  clearedUntil: signal(0),
  view: {
    ...session.view,
    entry: signal(null),
    compare: signal(null),
    at: signal(null),
    all: signal(true),
    filter: signal(''),
    kind: signal(null),
    onlyProblems: signal(false),
  },
})
