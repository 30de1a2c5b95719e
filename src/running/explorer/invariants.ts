/** Lists what must hold in every conversation, and says which of it a failure of the evaluator breaks. */
import { isMap } from '../../base/objects.ts'
import type { Difference, Failure } from '../../evaluation/finding.ts'
import type { CallName } from '../../evaluation/scenario/plan.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'

/** docs/reference/explore.md lists them. `broken` says what happens when it does not hold, for the name of a scenario. */
export const INVARIANTS = {
  'INV-TEXT-TO-AGENT': {
    about:
      'every text and file that a user writes while an agent has the chat reaches the agent: once, whole, in order',
    broken: 'a text of the user does not reach the agent',
  },
  'INV-TEXT-TO-USER': {
    about: 'every text of the agent reaches the user: once, whole, in order',
    broken: 'a text of the agent does not reach the user',
  },
  'INV-REQUEST': {
    about: 'every request reaches the help desk',
    broken: 'a request does not reach the agent',
  },
  'INV-START': {
    about: 'one start follows each accept, and nothing else causes one',
    broken: 'the handover does not start as it should',
  },
  'INV-END': {
    about: 'one end follows each leave, and nothing else causes one',
    broken: 'the handover does not end as it should',
  },
  'INV-NOTHING-ELSE': {
    about: 'the intermediary tells the user nothing that no agent said, unless it also does so in a plain conversation',
    broken: 'the user gets a text that no agent wrote',
  },
  'INV-OWN-CHAT': {
    about: 'no text reaches another chat, or goes back to its writer',
    broken: 'a text reaches the wrong reader',
  },
  'INV-TYPING-ENDS': {
    about: 'the typing indicator ends when the agent stops typing or leaves',
    broken: 'the typing indicator does not end',
  },
  'INV-AVAILABILITY': {
    about: 'the availability follows the agents who go away and come back',
    broken: 'the availability is wrong',
  },
  'INV-ACK': {
    about: 'every event is acknowledged with 200',
    broken: 'an event is not acknowledged',
  },
  'INV-AGENT-CAN-ACT': {
    about: 'the help desk does what its agent may do in this state',
    broken: 'the help desk refuses an act of the agent',
  },
  'INV-VALID-CALLS': {
    about: 'the platform refuses no call, unless a fault caused it',
    broken: 'the platform refuses a call',
  },
  'INV-ALIVE': {
    about: 'the intermediary keeps running, and plays a plain conversation afterwards',
    broken: 'the intermediary stops working',
  },
} as const satisfies Readonly<Record<string, { readonly about: string; readonly broken: string }>>

export type InvariantId = keyof typeof INVARIANTS

const OF_CALLS: Readonly<Partial<Record<CallName, InvariantId>>> = {
  start: 'INV-START',
  end: 'INV-END',
  message: 'INV-TEXT-TO-USER',
  typing_start: 'INV-TYPING-ENDS',
  typing_stop: 'INV-TYPING-ENDS',
  availability: 'INV-AVAILABILITY',
}

/** The invariant that a failure breaks; null for a failure that says nothing about the intermediary. */
export function brokenBy(failure: Failure): InvariantId | null {
  const { kind, code, details, hintCode } = failure
  if (hintCode === 'target_ended') return 'INV-ALIVE'
  switch (kind) {
    case 'sees':
      return String(details.item).startsWith('{ request') ? 'INV-REQUEST' : 'INV-TEXT-TO-AGENT'
    case 'expect':
    case 'times': {
      const { requirement } = details
      return (isMap(requirement) && OF_CALLS[requirement.call as CallName]) || 'INV-NOTHING-ELSE'
    }
    case 'unexpected':
    case 'late': {
      const endpoint = endpointOf(failure)
      const invariant = endpoint === null ? undefined : OF_CALLS[endpoint]
      return invariant === undefined || invariant === 'INV-TEXT-TO-USER' ? 'INV-NOTHING-ELSE' : invariant
    }
    case 'check': {
      const fields =
        code === 'chat_differs' ? (details.differences as readonly Difference[]).map(({ path }) => path) : []
      if (fields.includes('typing')) return 'INV-TYPING-ENDS'
      if (fields.includes('availability')) return 'INV-AVAILABILITY'
      return /agent/.test(String(details.check)) ? 'INV-START' : 'INV-END'
    }
    case 'stimulus':
    case 'stopped':
      return 'INV-ACK'
    case 'driver':
      return 'INV-AGENT-CAN-ACT'
    case 'contract':
      return 'INV-VALID-CALLS'
    case 'echo':
    case 'leak':
      return 'INV-OWN-CHAT'
    default:
      return null
  }
}

/** The endpoint of the call that a failure is about; null for another failure, and for a path that is not the platform's. */
export function endpointOf({ details: { call } }: Failure): EndpointId | null {
  return isMap(call) && typeof call.endpoint === 'string' ? (call.endpoint as EndpointId) : null
}
