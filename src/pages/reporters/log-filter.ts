/** Decides from the codes of an entry whether the log shows it, before any text is rendered. */
import { isRepeated } from '../../evaluation/timeline/entry-line.ts'
import { problemIn } from '../../evaluation/timeline/problems.ts'
import type { Entry } from '../../platform/journal/entry.ts'

export type LogStyle = 'pretty' | 'compact' | 'quiet'

export function isShown(entry: Entry, style: LogStyle): boolean {
  if (style === 'quiet') return looksWrong(entry)
  // Of the trials of a diagnosis, the one that was accepted shows the mistake.
  if (entry.kind === 'delivery' && entry.probe !== undefined) return (entry.status ?? 500) < 300
  // In the compact style, the delivery says which event it has.
  if (style === 'compact' && entry.kind === 'event') return false
  return !isRepeated(entry)
}

/**
 * Whether an entry shows a mistake of the intermediary, a failed delivery or a problem of the simulator. A fault may refuse
 * a call, which is no mistake.
 */
export function looksWrong(entry: Entry): boolean {
  const problem = problemIn(entry)
  return problem === 'ordered' ? entry.kind === 'delivery' : problem !== null
}
