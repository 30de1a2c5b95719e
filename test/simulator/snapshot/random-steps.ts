/** Generates random steps of users, agents, faults and time, plays them, and records everything observable. */

import fc from 'fast-check'
import { createSimulator } from '../../../src/index.ts'
import type { ChatHandle } from '../../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulatorOptions } from '../../../src/platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import { AGENT, call, post } from '../../support/test-simulator.ts'

// biome-ignore lint/suspicious/noExplicitAny: each kind of step has values of its own
type Run = (sim: PlatformSimulator, chat: ChatHandle, value: any) => unknown

const { constantFrom, nat } = fc
const says = (chat: ChatHandle, text: string, attach: Parameters<ChatHandle['says']>[1] = {}) =>
  void chat.says(text, attach).catch(() => {})
const file = { name: 'ø.png', type: 'image/png' }
const handover = (name: string): Run => {
  return (sim, chat, body) => post(sim, name, chat, body)
}

const order = [{ delay: '2s' }, { slow: '1s' }, { swap: true }, { hold: 2 }]
const others = [{ duplicate: 3, gap: '1s' }, { duplicate: 2 }, { sign: 'tampered' }, { truncate: true }]
const events = constantFrom('any', 'MESSAGE FROM USER', 'REQUESTING TAKEOVER')
const webhookFault = fc
  .tuple(events, constantFrom<object>(...order, ...others), constantFrom({}, { times: 1 }, { times: 3 }), nat(1))
  .map(([webhook, effect, times, skip]) => ({ on: { webhook }, ...effect, ...times, skip }))
const apiFault = fc
  .tuple(constantFrom('start', 'message', 'any'), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }))
  .map(([api, times, every]) => ({ on: { api }, respond: { status: 503 }, times, every }))

const settings = constantFrom<object>(
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

const languages = { sender: { language_codes: ['fr'] } }
const typingStop = { event: 'AGENT TYPING STOP', payload: { event: 'AGENT TYPING STOP' }, sign: 'valid' } as const

/** How often a step is taken, relative to the others, the values that it is taken with, and what it does. */
const KINDS: Readonly<Record<string, readonly [weight: number, values: fc.Arbitrary<unknown>, run: Run]>> = {
  chat: [2, constantFrom('en', 'nb'), (sim, _, language) => sim.chat({ language })],
  says: [5, constantFrom('Hi', 'my parcel 📦', 'zażółć'), (_, chat, text) => says(chat, text)],
  describes: [2, constantFrom('', 'Here'), (_, chat, text) => says(chat, text, { attach: [{ ...file, size_kb: 1 }] })],
  uploads: [2, nat(255), (_, chat, byte) => says(chat, '', { attach: [{ ...file, bytes: Uint8Array.of(byte, 0) }] })],
  press: [3, constantFrom(null), (_, chat) => void chat.press('handover').catch(() => {})],
  start: [4, constantFrom({}, { supports_attachment: true }, languages), handover('start')],
  message: [2, constantFrom({ message: 'Hello', sender: AGENT }), handover('message')],
  typing_start: [2, constantFrom({}, { timeout: 1000 }, { timeout: 5000 }), handover('typing_start')],
  typing_stop: [1, constantFrom({}), handover('typing_stop')],
  end: [1, constantFrom({}), handover('end')],
  summarize: [1, constantFrom({}), handover('summarize')],
  read: [2, constantFrom(null), (sim, { id }) => call(sim, `/api/v1/chats/${id}`, { key: sim.botApiKey })],
  advance: [4, constantFrom('100ms', '1s', '2s', '5s', '1m'), (sim, _, by) => sim.clock.advance(by)],
  fault: [2, fc.oneof(webhookFault, apiFault), (sim, _, spec) => sim.faults.add(spec)],
  clear: [1, constantFrom(null), sim => void sim.faults.clear()],
  trigger: [1, constantFrom(typingStop), (sim, { id }, one) => coreOf(sim).dispatcher.trigger({ chatId: id, ...one })],
  configure: [2, settings, (sim, _, patch) => sim.configure(patch)],
  availability: [1, constantFrom('OPEN', 'CLOSED'), (sim, _, availability) => sim.setAvailability({ availability })],
  reset: [0.5, constantFrom(null), sim => sim.reset()],
}

/** A kind of step, an index into the existing chats modulo their number, and a value. */
export type Step = readonly [kind: string, chat: number, value?: unknown]

const step = fc.oneof(
  ...Object.entries(KINDS).map(([kind, [weight, values]]) => ({
    weight: weight * 2,
    arbitrary: fc.tuple(fc.constant(kind), nat(2), values),
  })),
)
const steps: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 8, maxLength: 30, size: 'max' })

/** Creates two chats with an agent and enables retries, because most steps need them. */
const OPENING: readonly Step[] = [
  ['chat', 0, 'en'],
  ['chat', 0, 'nb'],
  ['configure', 0, { 'webhook.retry': ['1s', '2s', '5s'] }],
  ['start', 0, { supports_attachment: true }],
  ['start', 1, {}],
]

export const firstSteps = steps.map(rest => [...OPENING, ...rest])
/** Steps that end with an advance, so that everything due happens. */
export const laterSteps = steps.map((rest): Step[] => [...rest, ['advance', 0, '10m']])

/** Derives the status from the bytes, so that every receiver answers an event the same way. */
const statusFor = (text: string) => ([...text].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 2 === 0 ? 500 : 200)

export async function player(
  options: PlatformSimulatorOptions,
  create: (options: PlatformSimulatorOptions) => PlatformSimulator | Promise<PlatformSimulator> = createSimulator,
) {
  /** Webhook requests and API answers, in order. */
  const observed: string[] = []
  const fetch = async (request: Request) => {
    const text = await request.text()
    observed.push(`webhook ${JSON.stringify([...request.headers])} ${text}`)
    return new Response('', { status: statusFor(text) })
  }
  const sim = await create({ ...options, webhook: { fetch } })
  const take = async ([kind, index, value]: Step) => {
    const chats = sim.chats()
    const chat = chats.length === 0 ? undefined : sim.findChat(chats[index % chats.length]!.chatId)
    if (chat === undefined && kind !== 'chat') return
    const result = await KINDS[kind]![2](sim, chat!, value)
    if (!(result instanceof Object && 'text' in result && 'headers' in result)) return
    observed.push(`${kind} ${JSON.stringify([...(result.headers as Headers)])} ${result.text}`)
  }
  const play = async (steps: readonly Step[]) => {
    for (const one of steps) {
      await take(one).catch(error => observed.push(`refused: ${error.message}`))
      await sim.settled()
    }
  }
  return { sim, observed, play }
}

/** The whole state without wall-clock times. */
export function stateOf(sim: PlatformSimulator) {
  const { taken_at: _, journal, ...state } = sim.snapshot({ keys: true, journal: true })
  const entries = journal.entries!.map(entry => ({ ...entry, at_ms: 0, duration_ms: 0 }))
  return { ...state, journal: { nextSeq: journal.nextSeq, entries } }
}
