import { isMap } from '../../../base/objects.ts'
import { isRunEvent } from '../../scenario/run-events.ts'
import { type Call, callText, type LinterRule, succeeded } from './rule.ts'

/** A longer timeout does not help when the agent stops typing. */
const MAX_TIMEOUT_MS = 60_000

export const typingNeverStopped: LinterRule = {
  id: 'typing-never-stopped',
  *findInChat(chat, { plan, entries }) {
    // The effective knob `typing.clearOn`, which the scenario or the run sets.
    const { config } = entries.find(entry => isRunEvent(entry, 'scenario_started')) ?? plan
    const clearOn = config['typing.clearOn']
    const clearing = Array.isArray(clearOn) ? clearOn : typeof clearOn === 'string' ? clearOn.split(',') : ['end']
    let shown: { readonly call: Call; readonly timeoutMs: number | null } | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      const { endpoint, request } = entry
      if (endpoint === 'typing_stop' || clearing.includes(endpoint)) shown = null
      if (endpoint !== 'typing_start') continue
      const timeoutMs = isMap(request.body) && typeof request.body.timeout === 'number' ? request.body.timeout : null
      shown = timeoutMs === null || timeoutMs > MAX_TIMEOUT_MS ? { call: entry, timeoutMs } : null
    }
    if (shown === null) return
    const timeout = shown.timeoutMs === null ? 'no `timeout`' : `a \`timeout\` of ${shown.timeoutMs} ms`
    const happened = `${callText(shown.call)} had ${timeout}, and no \`typing_stop\` followed. The user still sees the typing indicator. Send a \`timeout\` of some seconds with \`typing_start\` and repeat the call while the agent types, or send \`typing_stop\`.`
    yield { happened, entrySeqs: [shown.call.seq] }
  },
}
