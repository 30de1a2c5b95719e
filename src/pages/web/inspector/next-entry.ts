/** Selects the entry that an action of the page leads to, as soon as it arrives. */
import { effect } from '@preact/signals'
import type { Entry } from '../../../platform/journal/entry.ts'
import { countUntil } from '../model/journal-log.ts'
import { showEntry } from './agent-side.ts'
import type { Session } from './session.ts'

const waiting = new WeakMap<Session, () => void>()

/** Runs the action and waits for its entry. Only the last action waits, and one that fails does not. */
export async function selectNextEntry<Result>(
  session: Session,
  matches: (entry: Entry) => boolean,
  action: () => Promise<Result>,
): Promise<Result> {
  const stop = waitForEntry(session, matches)
  try {
    return await action()
  } catch (error) {
    stop()
    throw error
  }
}

function waitForEntry(session: Session, matches: (entry: Entry) => boolean): () => void {
  const { log } = session
  let seen = log.peek().entries.at(-1)?.seq ?? 0
  waiting.get(session)?.()
  const stop = effect(() => {
    const { entries } = log.value
    const found = entries.slice(countUntil(entries, seen)).find(matches)
    seen = entries.at(-1)?.seq ?? 0
    if (found === undefined) return
    showEntry(session, found.seq)
    queueMicrotask(() => stop())
  })
  waiting.set(session, stop)
  return stop
}
