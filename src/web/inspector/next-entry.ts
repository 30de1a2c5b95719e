/** Selects the entry that an action of the page leads to, as soon as it arrives. */
import { effect } from '@preact/signals'
import type { Entry } from '../../journal/entry.ts'
import { countUntil } from '../model/journal-log.ts'
import { showEntry } from './agent-side.ts'
import type { Session } from './session.ts'

const waiting = new WeakMap<Session, () => void>()

/** Call it before the action. Only the last action waits. */
export function selectNextEntry(session: Session, matches: (entry: Entry) => boolean): void {
  const { log, version } = session
  let seen = log.peek().entries.at(-1)?.seq ?? 0
  waiting.get(session)?.()
  const stop = effect(() => {
    if (version.value < 0) return
    const { entries } = log.value
    const found = entries.slice(countUntil(entries, seen)).find(matches)
    seen = entries.at(-1)?.seq ?? 0
    if (found === undefined) return
    showEntry(session, found.seq)
    queueMicrotask(() => waiting.get(session)?.())
  })
  waiting.set(session, stop)
}
