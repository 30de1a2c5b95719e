/** A small intermediary for tests: it takes a chat over when it is asked to, and does with messages what a test says. */
import { expect, onTestFinished } from 'vitest'
import { ExpectationError } from '../../src/testing/expectation-error.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'

export const ANNA = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export interface Event {
  readonly event: string
  readonly chat: { readonly id: string }
  readonly message?: string
}

export type Call = (path: string, body: object, headers?: Record<string, string>) => Promise<Response>

/** One call of the platform's API, as an intermediary makes it. */
const callOf =
  (sim: Pick<Simulator, 'fetch' | 'baseUrl' | 'apiKey' | 'botId'>): Call =>
  (path, body, headers = {}) =>
    sim.fetch(
      new Request(`${sim.baseUrl}/api/v2/handover/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(path === 'availability' ? body : { bot_id: sim.botId, ...body }),
      }),
    )

/** `on` is called with every event, after which the webhook answers 200 unless it answered something else. */
export function simulatorWith(
  on: (event: Event, call: Call) => unknown = () => {},
  options: SimulatorOptions = {},
): { readonly sim: Simulator; readonly call: Call } {
  const sim: Simulator = createSimulator({
    ...options,
    webhook: {
      fetch: async request => {
        const answer = await on((await request.json()) as Event, call)
        return answer instanceof Response ? answer : new Response('ok')
      },
    },
  })
  const call = callOf(sim)
  onTestFinished(() => sim.close())
  return { sim, call }
}

/** Like `simulatorWith`, with a chat whose user has pressed the handover button. */
export async function requestHandover(...made: Parameters<typeof simulatorWith>) {
  const { sim, call } = simulatorWith(...made)
  const ada = await sim.chat()
  await ada.press('handover')
  return { sim, call, ada }
}

/** Accepts every request at once and answers every message with the same words in capitals. */
export const shouting = async ({ event, chat, message }: Event, call: Call): Promise<void> => {
  if (event === 'REQUESTING TAKEOVER')
    await call('start', { chat_id: chat.id, sender: ANNA, supports_attachment: true })
  if (event === 'MESSAGE FROM USER') {
    await call('message/', { chat_id: chat.id, message: message!.toUpperCase(), sender: ANNA })
  }
}

/** Returns the error with which an expectation fails. */
export async function failureOf(expectation: Promise<unknown>): Promise<ExpectationError> {
  const error = await expectation.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ExpectationError)
  return error as ExpectationError
}

/** The text of an error on one line. */
export const flat = ({ message }: Error): string => message.replace(/\s+/g, ' ')
