import { formatDuration } from '../../base/text/quantities.ts'
import type { Rule } from './rule.ts'

/** A webhook that times out has received the event, and may still be working on it when the event comes again. */
export const ackSlowerThanRetry: Rule = {
  id: 'ack-slower-than-retry',
  level: 'SHOULD',
  *judgeChat({ events }) {
    for (const { name, attempts } of events) {
      const own = attempts.filter(({ duplicate }) => duplicate !== true)
      for (const [at, attempt] of own.entries()) {
        const { failure, retry_in_ms: retryMs, seq } = attempt
        const next = own[at + 1]
        if (failure?.code !== 'timeout' || retryMs === undefined || next === undefined) continue
        yield {
          happened: `The webhook did not answer ${name} (#${seq}) within ${formatDuration(failure.timeout_ms)}, so it was sent again ${formatDuration(retryMs)} later (#${next.seq}). The intermediary received it twice, and may do the work twice: events have no id that shows a copy.`,
          hint: 'Store the event, answer 200, then do the work.',
          entries: [attempt, next],
        }
      }
    }
  },
}
