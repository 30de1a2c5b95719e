/** Noise in recordings contradicts nothing: gateways, refused calls, retries, a second bot, other clocks. And 100 MB. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Calibration } from '../../src/evaluation/calibration/calibration.ts'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import { defaultKnobs, type KnobSettings } from '../../src/platform/contract/knobs.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, surprises } from './calibrated.ts'
import { AGENT } from './exercise.ts'
import { createRecorder, type RecordedExchange, recordedExercise, WEBHOOK } from './recorder.ts'

const ACTIONS = [
  ...['press', 'press', 'says', 'says', 'start', 'start', 'end', 'message', 'message', 'typing_start', 'typing_stop'],
  ...['transcript', 'chat', 'summarize', 'OPEN', 'CLOSED', 'wait', 'long wait', 'bad body', 'bad key', 'no chat'],
  'webhook down',
] as const

const history = fc.array(fc.record({ action: fc.constantFrom(...ACTIONS), chat: fc.nat(3), again: fc.boolean() }), {
  minLength: 5,
  maxLength: 60,
})

/** What the platform does, and the simulator too. */
const knobs = fc.record(
  Object.fromEntries(
    Object.entries({
      ...{ 'start.again': ['409'], 'start.unrequested': ['409'], 'end.idle': ['409'], 'errors.validation': ['422'] },
      ...{ 'message.requiresTakeover': ['on'], 'request.repeat': ['ignore'], 'request.forwardPending': ['on'] },
      ...{ 'availability.closedBlocksStart': ['on'], 'typing.webhook': ['off'], 'chat.idleTimeout': ['1h'] },
      ...{ 'typing.clearOn': ['off', ['message'], ['end', 'message']], 'webhook.order': ['none', 'shuffle'] },
      ...{ 'webhook.retry': [['1s'], ['1s', '30s']], 'errors.body': ['empty', 'html'] },
      ...{ 'summarize.errorStatus': ['409', '422'], 'transcript.takenOver': ['null', 'true'] },
      ...{ 'transcript.state': [['agent=taken_over', 'pending=waiting']], 'transcript.agentFromBot': ['off'] },
      'attachments.whenEmpty': ['absent'],
    }).map(([name, values]) => [name, fc.constantFrom<unknown>(...values)]),
  ),
  { requiredKeys: [] },
) as fc.Arbitrary<KnobSettings>

/** Where the recording differs from what happened. */
const noise = fc.record({
  from: fc.nat(40),
  gateway: fc.boolean(),
  skewMs: fc.integer({ min: -300_000, max: 300_000 }),
  isByEnd: fc.boolean(),
  lost: fc.array(fc.nat(80), { maxLength: 3 }),
  slow: fc.array(fc.record({ index: fc.nat(80), until: fc.nat(4) }), { maxLength: 8 }),
})

type Noise = typeof noise extends fc.Arbitrary<infer Value> ? Value : never
type Step = typeof history extends fc.Arbitrary<(infer Value)[]> ? Value : never

async function act(steps: readonly Step[], platform: KnobSettings): Promise<RecordedExchange[]> {
  await using recorder = await createRecorder({ knobs: { 'keys.more': ['second-key:2002'], ...platform } })
  const { call, get, advance, sim } = recorder
  const sender = { ...AGENT, language_codes: ['en', 'nb', 'de'] }
  const chats: ChatHandle[] = []
  for (const options of [{ language: 'en' }, { language: 'nb' }, { language: 'de' }, { botId: 2002 }])
    chats.push(await recorder.chat(options))
  for (const { action, chat: index, again } of steps) {
    const chat = chats[index]!
    const headers: Record<string, string> = chat.botId === 2002 ? { authorization: 'Bearer second-key' } : {}
    const on = { bot_id: chat.botId, chat_id: chat.id }
    // A client that has lost the answer sends the call again.
    const post = async (name: string, body: object, path?: string) => {
      for (let count = again ? 2 : 1; count > 0; count--)
        await call(name, { ...body }, path === undefined ? { headers } : { headers, path })
    }
    const acts: Partial<Record<typeof action, () => unknown>> = {
      press: () => chat.press('handover', { async: true }),
      says: () => chat.says(again ? 'ok' : `text ${recorder.exchanges.length}`, { async: true }),
      wait: () => advance(2000),
      'long wait': () => advance(7_200_000),
      'bad key': () => call('start', on, { headers: { authorization: 'Bearer wrong' } }),
      'webhook down': () => recorder.answerNext({ status: 503 }),
      // The key of the second bot may read chats, and so shows something else than that of the first.
      chat: () => chat.botId !== 2002 && get(`/api/v1/chats/${chat.id}`, sim.botApiKey),
      start: () => post('start', { ...on, sender, supports_attachment: again }),
      message: () => post('message', { ...on, message: 'Hello', sender: AGENT }),
      typing_start: () => post('typing_start', { ...on, ...(again ? { timeout: 3000 } : {}) }),
      OPEN: () => post('availability', { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' }),
      CLOSED: () => post('availability', { availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' }),
      'bad body': () => post('message', { ...on, message: 1 }),
      'no chat': () => post('end', { ...on, chat_id: 'none' }, '/api/v2/handover/end/'),
    }
    await (acts[action] ?? (() => post(action, on)))()
    await sim.settled()
  }
  return recorder.exchanges
}

/** Between the exchanges of one moment. */
const STEP_MS = 20
/** Shorter than the time limit of the webhook. */
const MAX_SLOW_MS = 5000
const isEvent = ({ request }: RecordedExchange) => request.url === WEBHOOK
const chatOf = ({ request }: RecordedExchange) => /"(?:chat_id|id)":"([^"]+)"/.exec(request.body)?.[1]

const GATEWAY = { via: '1.1 gateway', 'x-request-id': '0123456789abcdef', 'x-amzn-trace-id': 'Root=1-2' }

function recorded(
  exchanges: readonly RecordedExchange[],
  { from, gateway, skewMs, isByEnd, lost, slow }: Noise,
): string[] {
  let all = structuredClone(exchanges) as RecordedExchange[]
  for (const [index, exchange] of all.entries()) {
    exchange.time = new Date(Date.parse(exchange.time) + skewMs + index * STEP_MS).toISOString()
    if (gateway) exchange.request.headers = { ...exchange.request.headers, ...GATEWAY }
    if (exchange.request.method === 'GET' || !exchange.request.url.includes('/api/')) continue
    // The gateway gives up, or the recording has no answer.
    if (lost.includes(index))
      exchange.response = { status: index % 2 === 0 ? 504 : 0, headers: {}, body: '<h1>504</h1>' }
  }
  // Answers that come after other exchanges have begun. An event waits for the answer to the one before in its chat.
  for (const { index, until } of slow) {
    const [exchange, later] = [all[index], all[index + until]]
    if (exchange === undefined || later === undefined) continue
    const next = all.slice(index + 1, index + until + 1).find(one => chatOf(one) === chatOf(exchange) && isEvent(one))
    const end = isEvent(exchange) && next !== undefined ? Date.parse(next.time) - 10 : Date.parse(later.time) + 5
    exchange.duration_ms = Math.max(exchange.duration_ms, Math.min(MAX_SLOW_MS, end - Date.parse(exchange.time)))
  }
  all = all.slice(Math.min(from, all.length - 1))
  if (isByEnd) all.sort((a, b) => Date.parse(a.time) + a.duration_ms - Date.parse(b.time) - b.duration_ms)
  return all.map(exchange => JSON.stringify(exchange))
}

test('noise contradicts nothing', { timeout: 600_000 }, async () => {
  const noises = fc.array(noise, { minLength: 5, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(history, knobs, noises, async (steps, platform, some) => {
      const exchanges = await act(steps, platform)
      if (exchanges.length === 0) return
      for (const one of some) {
        const result = await calibrated(recorded(exchanges, one), knobsFrom(platform))
        expect(surprises(result)).toEqual([])
        expect(result.findings.filter(({ kind }) => kind === 'difference')).toEqual([])
      }
    }),
    { numRuns: 30, includeErrorInReport: true },
  )
})

test('reads a recording of many chats in bounded memory', { timeout: 300_000 }, async () => {
  const lines = await recordedExercise({})
  const calibration = new Calibration(defaultKnobs())
  // Without garbage, of which there is more on a busy machine.
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const used = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  let largest = 0
  async function* many() {
    for (let bytes = 0, round = 10_000_000; bytes < 100_000_000; round++) {
      // Other chats in every round.
      const text = lines.map(line => `${line.replaceAll(/[0-9a-f]{8}(?=-[0-9a-f]{4}-)/g, String(round))}\n`)
      for (const line of text) bytes += line.length
      yield* text
      if (round % 50 === 0) largest = Math.max(largest, used())
    }
  }
  await readRecording('large.jsonl', many(), calibration)
  expect(calibration.result().calls).toBeGreaterThan(40_000)
  expect(largest - before).toBeLessThan(100_000_000)
})
