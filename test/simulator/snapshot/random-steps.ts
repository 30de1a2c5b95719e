/** Generates random steps of users, agents, faults and time, plays them, and records everything observable. */

import fc from 'fast-check'
import type { Duration } from '../../../src/base/text/quantities.ts'
import { createSimulator } from '../../../src/index.ts'
import type { FaultSpec } from '../../../src/platform/faults/schema.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { PlatformSimulatorOptions } from '../../../src/platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import { AGENT, call } from '../../knobs/support.ts'

/** `chat` is an index into the existing chats, modulo their number, so that every step has an effect. */
export type Step =
  | { readonly do: 'chat'; readonly language: string }
  | { readonly do: 'says'; readonly chat: number; readonly text: string; readonly file?: 'made' | 'own' }
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

const which = fc.nat(2)
const duration = fc.constantFrom('100ms', '1s', '2s', '5s', '1m')
const count = fc.integer({ min: 1, max: 3 })
const callStep = (name: string, body: fc.Arbitrary<object> = fc.constant({})) =>
  fc.record({ do: fc.constant('call' as const), chat: which, name: fc.constant(name), body })

const event = fc.constantFrom('any', 'MESSAGE FROM USER', 'REQUESTING TAKEOVER')
const webhookFault = fc
  .tuple(
    event,
    fc.constantFrom(
      { delay: '2s' },
      { slow: '1s' },
      { swap: true },
      { hold: 2 },
      { duplicate: 3, gap: '1s' },
      { duplicate: 2 },
      { sign: 'tampered' },
      { truncate: true },
    ),
    fc.option(count, { nil: undefined }),
    fc.nat(1),
  )
  .map(([name, effect, times, skip]) => ({ on: { webhook: name }, ...effect, ...(times && { times }), skip }) as never)
const apiFault = fc
  .tuple(fc.constantFrom('start', 'message', 'any'), count, fc.integer({ min: 1, max: 2 }))
  .map(([name, times, every]) => ({ on: { api: name }, respond: { status: 503 }, times, every }) as never)

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

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('chat' as const), language: fc.constantFrom('en', 'nb') }) },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        do: fc.constant('says' as const),
        chat: which,
        text: fc.constantFrom('Hi', 'my parcel 📦', 'zażółć'),
        file: fc.constantFrom('made' as const, 'own' as const),
      },
      { requiredKeys: ['do', 'chat', 'text'] },
    ),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('press' as const), chat: which }) },
  {
    weight: 4,
    arbitrary: callStep(
      'start',
      fc.constantFrom({}, { supports_attachment: true, sender: { language_codes: ['fr'] } }),
    ),
  },
  { weight: 2, arbitrary: callStep('message', fc.constant({ message: 'Hello', sender: AGENT })) },
  { weight: 2, arbitrary: callStep('typing_start', fc.constantFrom({}, { timeout: 1000 }, { timeout: 5000 })) },
  { weight: 1, arbitrary: callStep('typing_stop') },
  { weight: 1, arbitrary: callStep('end') },
  { weight: 1, arbitrary: callStep('summarize') },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), chat: which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), by: duration }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fault' as const), spec: fc.oneof(webhookFault, apiFault) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'clear' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trigger' as const), chat: which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('configure' as const), patch: settings }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('availability' as const),
      to: fc.constantFrom('OPEN' as const, 'CLOSED' as const),
    }),
  },
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
