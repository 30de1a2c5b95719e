/** Selects the entry that an action of the page leads to, as soon as it arrives. */
import { effect, type ReadonlySignal } from '@preact/signals'
import type { Entry } from '../../../platform/journal/entry.ts'
import { countUntil, type JournalLog } from '../model/journal-log.ts'
import { showEntry, type View } from './address.ts'

/** Runs the action and waits for its entry. Only the last action waits, and one that fails does not. */
export type SelectNextEntry = <Result>(
  matches: (entry: Entry) => boolean,
  action: () => Promise<Result>,
) => Promise<Result>

export function createNextEntry(view: View, log: ReadonlySignal<JournalLog>): SelectNextEntry {
  let stopLast = () => {}
  return async (matches, action) => {
    stopLast()
    let seen = log.peek().entries.at(-1)?.seq ?? 0
    const stop = effect(() => {
      const { entries } = log.value
      const found = entries.slice(countUntil(entries, seen)).find(matches)
      seen = entries.at(-1)?.seq ?? 0
      if (found === undefined) return
      showEntry(view, found.seq)
      queueMicrotask(() => stop())
    })
    stopLast = stop
    try {
      return await action()
    } catch (error) {
      stop()
      throw error
    }
  }
}
