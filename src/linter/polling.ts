/** Reading a chat again and again instead of waiting for events. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { callAt, perChat } from './rule.ts'

const READS = new Set<string | null>(['transcript', 'chat'])
/** More reads than this with nothing new between them, within this time, are polling. */
const MOST_READS = 3
const WITHIN_MS = 10_000

export const transcriptPolling = perChat('transcript-polling', chat => {
  const run = longest(chat)
  const first = run[0]
  if (first === undefined || run.length <= MOST_READS) return []
  const seconds = ((run.at(-1)!.at_ms - first.at_ms) / 1000).toFixed(1)
  const message =
    `${callAt(first)} and ${run.length - 1} more reads of the same chat came within ${seconds} s, with nothing new ` +
    'between them. On the real platform that is load for nothing and may meet a limit. ' +
    'What the user writes comes to the webhook; read the transcript once, when a handover begins.'
  return [{ marks: run.map(({ seq }) => seq), message }]
})

/** The longest row of reads that no news interrupts, cut to the time that counts. */
function longest(chat: readonly Entry[]): readonly EntryOf<'api'>[] {
  let best: readonly EntryOf<'api'>[] = []
  let run: EntryOf<'api'>[] = []
  for (const entry of chat) {
    if (isNews(entry)) run = []
    if (entry.kind !== 'api' || !READS.has(entry.endpoint)) continue
    run = [...run, entry].filter(({ at_ms }) => entry.at_ms - at_ms <= WITHIN_MS)
    if (run.length > best.length) best = run
  }
  return best
}

const isNews = (entry: Entry) =>
  entry.kind === 'event' || entry.kind === 'user' || (entry.kind === 'api' && !READS.has(entry.endpoint))
