import type { CallEntry } from '../history.ts'
import { callText, densest, type Rule } from './rule.ts'

/** More reads than this within this time, with no event between them, are polling. */
const MAX_READS = 3
const POLLING_WINDOW_MS = 10_000

export const transcriptPolling: Rule = {
  id: 'transcript-polling',
  level: 'SHOULD',
  *judgeChat({ entries }) {
    // Another call, an event or an act of the user ends a series of reads.
    const series: CallEntry[][] = [[]]
    for (const entry of entries) {
      const isRead = entry.kind === 'api' && (entry.endpoint === 'transcript' || entry.endpoint === 'chat')
      if (isRead) series.at(-1)!.push(entry)
      else if (entry.kind === 'api' || entry.kind === 'event' || entry.kind === 'user') series.push([])
    }
    const [longest = []] = series.map(reads => densest(reads, POLLING_WINDOW_MS)).sort((a, b) => b.length - a.length)
    const [first] = longest
    const last = longest.at(-1)
    if (first === undefined || last === undefined || longest.length <= MAX_READS) return
    const within = ((last.at_ms - first.at_ms) / 1000).toFixed(1)
    yield {
      happened: `${callText(first)} and ${longest.length - 1} more reads of the same chat came within ${within} s, with no event between them. On the real platform this is needless load and may exceed a limit.`,
      hint: 'The webhook receives what the user writes; read the transcript once, when a handover begins.',
      entries: longest,
    }
  },
}
