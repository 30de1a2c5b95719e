import { isMap } from '../../base/objects.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { type CallEntry, isAccepted } from '../history.ts'
import { ageOf, callText, type Rule, right } from './rule.ts'

/** Of a timeout that ends the indicator in time: a longer one does not help when the agent stops typing. */
const MIN_TIMEOUT_MS = 500
const MAX_TIMEOUT_MS = 60_000

/** The user must not see an indicator for ever (E7.5). */
export const typingNeverStopped: Rule = {
  id: 'typing-never-stopped',
  level: 'SHOULD',
  *judgeChat({ calls }, facts) {
    /** The first call since the indicator was hidden: repeated calls do not make it younger. */
    let shown: CallEntry | null = null
    for (const { call } of calls) {
      const { endpoint } = call
      if (!isAccepted(call) || endpoint === null) continue
      if (facts.typingEnds.includes(endpoint) && shown !== null) {
        yield right(call)
        shown = null
      }
      if (endpoint !== 'typing_start') continue
      if (endsByItself(call)) {
        yield right(call)
        shown = null
      } else shown ??= call
    }
    if (shown === null || ageOf(facts, shown) < facts.typingMs) return
    const timeoutMs = timeoutOf(shown)
    const timeout = timeoutMs === null ? 'no `timeout`' : `a \`timeout\` of ${timeoutMs} ms`
    const within = facts.nowMs === null ? '' : ` within ${formatDuration(facts.typingMs)}`
    yield {
      happened: `${callText(shown)} had ${timeout}, and no ${facts.typingEnds.join(' or ')} followed${within}. The user still sees the typing indicator.`,
      hint: 'Send a `timeout` of some seconds, such as 10000, with `typing_start` and repeat the call while the agent types, or send `typing_stop` (E7.5).',
      details: { timeoutMs },
      entries: [shown],
    }
  },
}

const timeoutOf = ({ request: { body } }: CallEntry): number | null =>
  isMap(body) && typeof body.timeout === 'number' ? body.timeout : null

/** Whether the platform hides the indicator of this typing_start in time. */
export function endsByItself(call: CallEntry): boolean {
  const timeoutMs = timeoutOf(call)
  return timeoutMs !== null && timeoutMs >= MIN_TIMEOUT_MS && timeoutMs <= MAX_TIMEOUT_MS
}
