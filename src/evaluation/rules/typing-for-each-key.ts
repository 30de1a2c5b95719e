import { isAccepted } from '../history.ts'
import { callText, densest, type Rule } from './rule.ts'

/** More calls than this within this time come from single keys: one call shows the indicator for seconds. */
const MAX_CALLS = 3
const WINDOW_MS = 1000

export const typingForEachKey: Rule = {
  id: 'typing-for-each-key',
  level: 'SHOULD',
  *judgeChat({ calls }) {
    const typing = calls.map(({ call }) => call).filter(call => call.endpoint === 'typing_start' && isAccepted(call))
    const most = densest(typing, WINDOW_MS)
    const [first] = most
    const last = most.at(-1)
    if (first === undefined || last === undefined || most.length <= MAX_CALLS) return
    const within = Math.round(last.at_ms - first.at_ms)
    yield {
      happened: `${callText(first)} and ${most.length - 1} more of the same chat came within ${within} ms, as when each key that the agent presses makes one. One call shows the indicator for seconds; desks and platforms limit such calls, and then also the messages are refused.`,
      hint: 'Send one when the agent begins to type, and repeat it after some seconds.',
      entries: most,
    }
  },
}
