/** Plays the intermediary of a trial: repeats the recorded calls when their step begins, and answers events as the step expects. */

import { isMap } from '../../base/objects.ts'
import type { PlannedStep } from '../../evaluation/scenario/plan.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Driver } from '../agent-driver/driver.ts'
import type { DrawnStep } from './drawn-steps.ts'
import type { RecordedCall } from './recorded-calls.ts'
import type { Recording } from './recording.ts'

export interface ScriptedIntermediary {
  /** The agent's side: every act succeeds, because the recorded calls follow from the steps. */
  readonly driver: Driver
  onStep(step: PlannedStep): void
  /** Receives events. */
  answer(): Response
  /** The calls that were answered otherwise than when they were recorded, each with its status in the trial. */
  readonly otherwise: readonly { readonly call: RecordedCall; readonly status: number }[]
}

/** `simulator` is called when the first step begins. */
export function createScriptedIntermediary(
  recording: Recording,
  steps: readonly DrawnStep[],
  simulator: () => PlatformSimulator,
): ScriptedIntermediary {
  let status = 200
  const otherwise: { call: RecordedCall; status: number }[] = []
  return {
    otherwise,
    driver: DRIVER,
    onStep({ number, action }) {
      status = 'ack' in action && typeof action.ack === 'number' ? action.ack : 200
      void makeCalls(simulator(), recording, steps[number - 1]?.calls ?? [], otherwise)
    },
    answer: () => new Response('', { status }),
  }
}

const act = async (verb: string) => ({ verb, outcome: 'ok', how: 'recorded', duration_ms: 0 }) as const

const DRIVER: Driver = {
  name: 'recorded calls',
  verbs: ['accept', 'says', 'type', 'stop', 'leave', 'away', 'back'],
  call: act,
  inbox: async () => ({ ...(await act('inbox')), items: [] }),
  target: null,
  close: async () => {},
}

async function makeCalls(
  sim: PlatformSimulator,
  recording: Recording,
  calls: readonly RecordedCall[],
  otherwise: { call: RecordedCall; status: number }[],
): Promise<void> {
  for (const call of calls) {
    // A fault may close the connection.
    const answer = await sim.fetch(requestOf(sim, recording, call)).catch(() => null)
    if (answer !== null && answer.status !== call.status) otherwise.push({ call, status: answer.status })
  }
}

function requestOf(sim: PlatformSimulator, { chats }: Recording, call: RecordedCall): Request {
  const { method, path, endpoint, chat_id: recordedId } = call
  const chatId = chatIdFor(sim, chats.get(recordedId ?? '')?.name)
  const key = endpoint === 'chat' ? sim.botApiKey : sim.apiKey
  const target =
    recordedId === undefined ? path : path.replace(encodeURIComponent(recordedId), encodeURIComponent(chatId))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = method === 'GET' ? null : JSON.stringify(bodyOf(call, { bot_id: sim.botId, chat_id: chatId }))
  return new Request(new URL(target, sim.baseUrl), { method, headers, body })
}

/** The body of a long message is in the journal only as its beginning. */
function bodyOf({ request: { body } }: RecordedCall, ids: { bot_id: number; chat_id: string }): object {
  if (!isMap(body)) return { ...ids, message: String(body) }
  return Object.fromEntries(Object.entries({ ...body, ...ids }).filter(([name]) => name in body))
}

/** The chat of this name in the trial. */
function chatIdFor({ journal }: PlatformSimulator, name: string | undefined): string {
  const opened = journal
    .query({ kind: 'note' })
    .find(entry => entry.note === 'conversation' && entry.conversation === name)
  return opened?.chat_id ?? ''
}
