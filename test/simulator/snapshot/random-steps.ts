/** Generates random steps of users, agents, faults and time, plays them, and records everything observable. */

import fc from 'fast-check'
import type { Duration } from '../../../src/base/text/quantities.ts'
import { createSimulator } from '../../../src/index.ts'
import type { FaultSpec } from '../../../src/platform/faults/schema.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { PlatformSimulatorOptions } from '../../../src/platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import { AGENT, call } from '../../support/test-simulator.ts'

/** `chat` is an index into the existing chats, modulo their number, so that every step has an effect. */
export type Step =
  | { readonly do: 'chat'; readonly language: string }
  | { readonly do: 'says'; readonly chat: number; readonly text: string; readonly file?: 'made' | 'own' | undefined }
  | { readonly do: 'press'; readonly chat: number }
  | { readonly do: 'call'; readonly chat: number; readonly name: string; readonly body: object }
  | { readonly do: 'read'; readonly chat: number }
  | { readonly do: 'advance'; readonly by: Duration }
  | { readonly do: 'fault'; readonly spec: FaultSpec }
  | { readonly do: 'clear' }
  | { readonly do: 'trigger'; readonly chat: number }
  | { readonly do: 'configure'; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly do: 'availability'; readonly to: 'OPEN' | 'CLOSED' }
  | { readonly do: 'reset' }

const chat = fc.nat(2)
const count = fc.integer({ min: 1, max: 3 })

/** A step that is taken this often, relative to the others. */
const weighted = (weight: number, kind: Step['do'], fields: Record<string, fc.Arbitrary<unknown>> = {}) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<Step>,
})
const callStep = (weight: number, name: string, ...bodies: object[]) =>
  weighted(weight, 'call', { chat, name: fc.constant(name), body: fc.constantFrom({}, ...bodies) })

const event = fc.constantFrom('any', 'MESSAGE FROM USER', 'REQUESTING TAKEOVER')
const order = [{ delay: '2s' }, { slow: '1s' }, { swap: true }, { hold: 2 }]
const others = [{ duplicate: 3, gap: '1s' }, { duplicate: 2 }, { sign: 'tampered' }, { truncate: true }]
const webhookFault = fc
  .tuple(event, fc.constantFrom<object>(...order, ...others), fc.option(count, { nil: undefined }), fc.nat(1))
  .map(([name, effect, times, skip]) => ({ on: { webhook: name }, ...effect, ...(times && { times }), skip }))
const apiFault = fc
  .tuple(fc.constantFrom('start', 'message', 'any'), count, fc.integer({ min: 1, max: 2 }))
  .map(([name, times, every]) => ({ on: { api: name }, respond: { status: 503 }, times, every }))

const settings = fc.constantFrom(
  { 'webhook.retry': ['1s', '2s'] },
  { 'webhook.retry': 'off' },
  { 'webhook.order': 'shuffle' },
  { 'webhook.order': 'none' },
  { 'webhook.order': 'chat' },
  { 'bot.delay': '1s' },
  { 'chat.idleTimeout': '5s' },
  { 'limits.rate': '4/5s' },
  { 'summarize.vary': 'on' },
  { 'messages.open': 'Wait' },
  { 'bot.replies': [{ match: 'parcel', text: 'Looking', buttons: [{ label: 'Person', handover: true }] }] },
)

const text = fc.constantFrom('Hi', 'my parcel 📦', 'zażółć')
const withFile = { supports_attachment: true, sender: { language_codes: ['fr'] } }
const step: fc.Arbitrary<Step> = fc.oneof(
  weighted(2, 'chat', { language: fc.constantFrom('en', 'nb') }),
  weighted(6, 'says', { chat, text, file: fc.constantFrom(undefined, 'made', 'own') }),
  weighted(3, 'press', { chat }),
  callStep(4, 'start', withFile),
  callStep(2, 'message', { message: 'Hello', sender: AGENT }),
  callStep(2, 'typing_start', { timeout: 1000 }, { timeout: 5000 }),
  ...['typing_stop', 'end', 'summarize'].map(name => callStep(1, name)),
  weighted(2, 'read', { chat }),
  weighted(4, 'advance', { by: fc.constantFrom('100ms', '1s', '2s', '5s', '1m') }),
  weighted(2, 'fault', { spec: fc.oneof(webhookFault, apiFault) }),
  weighted(1, 'clear'),
  weighted(1, 'trigger', { chat }),
  weighted(2, 'configure', { patch: settings }),
  weighted(1, 'availability', { to: fc.constantFrom('OPEN', 'CLOSED') }),
)

const rare = fc.constant({ do: 'reset' } as const)
const steps = fc.array(fc.oneof({ weight: 60, arbitrary: step }, { weight: 1, arbitrary: rare }), {
  minLength: 8,
  maxLength: 30,
  size: 'max',
})

/** Creates two chats with an agent and enables retries, because most steps need them. */
const OPENING: readonly Step[] = [
  { do: 'configure', patch: { 'webhook.retry': ['1s', '2s', '5s'] } },
  { do: 'chat', language: 'en' },
  { do: 'chat', language: 'nb' },
  { do: 'call', chat: 0, name: 'start', body: { supports_attachment: true } },
  { do: 'call', chat: 1, name: 'start', body: {} },
]

export const firstSteps: fc.Arbitrary<readonly Step[]> = steps.map(rest => [...OPENING, ...rest])
/** Steps that end with an advance, so that everything due happens. */
export const laterSteps: fc.Arbitrary<readonly Step[]> = steps.map(rest => [...rest, { do: 'advance', by: '10m' }])

export interface Player {
  readonly sim: PlatformSimulator
  /** Webhook requests and API answers, in order. */
  readonly observed: string[]
  play(steps: readonly Step[]): Promise<void>
}

/** Derives the status from the bytes, so that every receiver answers an event the same way. */
const statusFor = (text: string) => ([...text].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 2 === 0 ? 500 : 200)

export function player(options: PlatformSimulatorOptions): Player {
  const observed: string[] = []
  const fetch = async (request: Request) => {
    const text = await request.text()
    observed.push(`webhook ${JSON.stringify([...request.headers])} ${text}`)
    return new Response('', { status: statusFor(text) })
  }
  const sim = createSimulator({ ...options, webhook: { fetch } })
  const play = async (steps: readonly Step[]) => {
    for (const one of steps) {
      await take(sim, one, observed).catch(error => observed.push(`refused: ${error.message}`))
      await sim.settled()
    }
  }
  return { sim, observed, play }
}

async function take(sim: PlatformSimulator, step: Step, observed: string[]): Promise<void> {
  if (step.do === 'chat') await sim.chat({ language: step.language })
  else if (step.do === 'advance') await sim.clock.advance(step.by)
  else if (step.do === 'fault') sim.faults.add(step.spec)
  else if (step.do === 'clear') sim.faults.clear()
  else if (step.do === 'configure') await sim.configure(step.patch)
  else if (step.do === 'availability') sim.setAvailability({ availability: step.to })
  else if (step.do === 'reset') sim.reset()
  else await takeInChat(sim, step, observed)
}

const OWN = Uint8Array.from([0, 255, 128, 10])

async function takeInChat(
  sim: PlatformSimulator,
  step: Extract<Step, { chat: number }>,
  observed: string[],
): Promise<void> {
  const chats = sim.chats()
  const chat = chats.length === 0 ? undefined : sim.findChat(chats[step.chat % chats.length]!.chatId)
  if (chat === undefined) return
  if (step.do === 'trigger') await trigger(sim, chat.id)
  else if (step.do === 'press') chat.press('handover').catch(() => {})
  else if (step.do === 'says') {
    const file = step.file === 'own' ? { bytes: OWN } : { size_kb: 1 }
    const attach = step.file === undefined ? [] : [{ name: 'ø.png', type: 'image/png', ...file }]
    chat.says(step.text, { attach }).catch(() => {})
  } else {
    const reply =
      step.do === 'read'
        ? await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })
        : await call(sim, `/api/v2/handover/${step.name}`, {
            body: { bot_id: sim.botId, chat_id: chat.id, ...step.body },
          })
    observed.push(`${step.do} ${reply.status} ${JSON.stringify([...reply.headers])} ${reply.text}`)
  }
}

const trigger = (sim: PlatformSimulator, chatId: string) =>
  coreOf(sim).dispatcher.trigger({
    chatId,
    event: 'AGENT TYPING STOP',
    payload: { event: 'AGENT TYPING STOP' },
    sign: 'valid',
  })

/** Removes wall-clock times from entries. */
export const withoutWall = (entries: readonly Entry[]): unknown[] =>
  entries.map(entry => ({ ...entry, at_ms: 0, ...('duration_ms' in entry ? { duration_ms: 0 } : {}) }))
