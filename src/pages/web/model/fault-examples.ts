/** Lists faults to begin with. */
import type { FaultSpec } from '../../../platform/faults/schema.ts'

export const FAULT_EXAMPLES = [
  { title: 'Answer start with 503, twice', fault: { on: { api: 'start' }, respond: { status: 503 }, times: 2 } },
  { title: 'Lose the answer of start', fault: { on: { api: 'start' }, drop: 'after', times: 1 } },
  {
    title: 'Limit the rate of messages',
    fault: { on: { api: 'message' }, respond: { status: 429, headers: { 'Retry-After': '2' } }, times: 1 },
  },
  { title: 'Answer every call slowly', fault: { on: 'api', latency: '2s' } },
  { title: 'Deliver every event twice', fault: { on: 'webhook', duplicate: 2 } },
  { title: 'Swap two messages', fault: { on: { webhook: 'MESSAGE FROM USER' }, swap: true, times: 1 } },
  { title: 'Sign one event with a wrong key', fault: { on: 'webhook', sign: 'wrong-key', times: 1 } },
] as const satisfies readonly { readonly title: string; readonly fault: FaultSpec }[]
