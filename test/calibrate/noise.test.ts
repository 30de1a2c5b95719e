/** Noise in recordings contradicts nothing: gateways, refused calls, retries, a second bot, other clocks, a late beginning. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, surprises } from './calibrated.ts'
import { AGENT, createRecorder, type RecordedExchange, WEBHOOK } from './recorder.ts'

/** `CALIBRATE_RECORDINGS=10000 npx vitest run test/calibrate/noise.test.ts` is the long run. */
const RECORDINGS = Number(process.env.CALIBRATE_RECORDINGS ?? 150)

const ACTIONS = [
  ...['press', 'press', 'says', 'says', 'start', 'start', 'end', 'message', 'message', 'typing_start', 'typing_stop'],
  ...[
    'transcript',
    'chat',
    'summarize',
    'OPEN',
    'CLOSED',
    'wait',
    'long wait',
    'bad body',
    'bad key',
    'no chat',
    'webhook down',
  ],
] as const

const history = fc.array(fc.record({ action: fc.constantFrom(...ACTIONS), chat: fc.nat(3), again: fc.boolean() }), {
  minLength: 5,
  maxLength: 60,
})

/** What the platform does, and the simulator too. */
const knobs = fc.record(
  {
    'start.again': fc.constant('409' as const),
    'start.unrequested': fc.constant('409' as const),
    'end.idle': fc.constant('409' as const),
    'message.requiresTakeover': fc.constant('on' as const),
    'request.repeat': fc.constant('ignore' as const),
    'request.forwardPending': fc.constant('on' as const),
    'availability.closedBlocksStart': fc.constant('on' as const),
    'typing.webhook': fc.constant('off' as const),
    'typing.clearOn': fc.constantFrom('off' as const, ['message'] as const, ['end', 'message'] as const),
    'webhook.order': fc.constantFrom('none' as const, 'shuffle' as const),
    'webhook.retry': fc.constantFrom(['1s'] as const, ['1s', '30s'] as const),
    'errors.body': fc.constantFrom('empty' as const, 'html' as const),
    'errors.validation': fc.constant('422' as const),
    'summarize.errorStatus': fc.constantFrom('409' as const, '422' as const),
    'transcript.takenOver': fc.constantFrom('null' as const, 'true' as const),
    'transcript.state': fc.constant(['agent=taken_over', 'pending=waiting'] as const),
    'transcript.agentFromBot': fc.constant('off' as const),
    'attachments.whenEmpty': fc.constant('absent' as const),
    'chat.idleTimeout': fc.constant('1h' as const),
  },
  { requiredKeys: [] },
)

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
  const chats: ChatHandle[] = []
  for (const language of ['en', 'nb', 'de']) chats.push(await recorder.chat({ language }))
  chats.push(await recorder.chat({ botId: 2002 }))
  for (const { action, chat: index, again } of steps) {
    const chat = chats[index]!
    const headers: Record<string, string> = chat.botId === 2002 ? { authorization: 'Bearer second-key' } : {}
    const on = { bot_id: chat.botId, chat_id: chat.id }
    const sent: (() => Promise<unknown>)[] = []
    const post = (name: string, body: object) => sent.push(() => call(name, { ...body }, { headers }))
    if (action === 'press') await chat.press('handover', { async: true })
    else if (action === 'says') await chat.says(again ? 'ok' : `text ${recorder.exchanges.length}`, { async: true })
    else if (action === 'start')
      post('start', { ...on, sender: { ...AGENT, language_codes: ['en', 'nb', 'de'] }, supports_attachment: again })
    else if (action === 'message') post('message', { ...on, message: 'Hello', sender: AGENT })
    else if (action === 'typing_start') post('typing_start', { ...on, ...(again ? { timeout: 3000 } : {}) })
    // The key of the second bot may read chats, and so shows something else than that of the first.
    else if (action === 'chat' && chat.botId !== 2002) await get(`/api/v1/chats/${chat.id}`, sim.botApiKey)
    else if (action === 'chat') continue
    else if (action === 'OPEN' || action === 'CLOSED')
      post('availability', { availability: action, queue: 'DEFAULT', reason: 'OTHER' })
    else if (action === 'wait') await advance(2000)
    else if (action === 'long wait') await advance(7_200_000)
    else if (action === 'bad body') post('message', { ...on, message: 1 })
    else if (action === 'bad key') await call('start', on, { headers: { authorization: 'Bearer wrong' } })
    else if (action === 'no chat')
      sent.push(() => call('end', { ...on, chat_id: 'none' }, { headers, path: '/api/v2/handover/end/' }))
    else if (action === 'webhook down') recorder.answerNext({ status: 503 })
    else post(action, on)
    // A client that has lost the answer sends the call again.
    for (const send of sent) for (let count = again ? 2 : 1; count > 0; count--) await send()
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

const GATEWAY = {
  via: '1.1 gateway',
  'x-request-id': '0123456789abcdef0123456789abcdef',
  'x-amzn-trace-id': 'Root=1-2',
}

function recorded(
  exchanges: readonly RecordedExchange[],
  { from, gateway, skewMs, isByEnd, lost, slow }: Noise,
): string[] {
  let all = exchanges.map(exchange => ({
    ...exchange,
    request: { ...exchange.request },
    response: { ...exchange.response },
  }))
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

describe('a recording with noise', () => {
  test('contradicts nothing', { timeout: 3_600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        knobs,
        fc.array(noise, { minLength: 5, maxLength: 5 }),
        async (steps, platform, noises) => {
          const exchanges = await act(steps, platform)
          if (exchanges.length === 0) return
          for (const one of noises) {
            const result = await calibrated(recorded(exchanges, one), knobsFrom(platform))
            expect(
              surprises(result)
                .map(one => JSON.stringify(one))
                .join(),
            ).toBe('')
            expect(result.findings.filter(({ kind }) => kind === 'difference')).toEqual([])
          }
        },
      ),
      { numRuns: Math.ceil(RECORDINGS / 5), includeErrorInReport: true },
    )
  })
})
