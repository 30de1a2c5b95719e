/** Plays intermediaries with mistakes in their verification, and asks what the journal shows about them. */

import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { explain } from '../../src/platform/signature/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { explainEntry } from '../../src/platform/wording/hints.ts'
import { signatureAdvice } from '../../src/platform/wording/signature-advice.ts'

type Encoding = 'base64' | 'hex'
const hmac = (body: string, key: string, encoding: Encoding = 'base64') =>
  createHmac('sha256', key).update(body).digest(encoding)

/** An intermediary that computes its signature in a wrong way. */
function simulatorFor(
  compute: (body: string, key: string) => string,
  knobs = {},
  answer = (_computed: string): string => 'bad signature',
): PlatformSimulator {
  const fetch = async (input: Request | string | URL, init?: RequestInit) => {
    const request = new Request(input, init)
    const body = await request.text()
    const computed = compute(body, 'sim-handover-key')
    const isRight = request.headers.get('kindly-hmac') === computed
    return new Response(isRight ? null : answer(computed), { status: isRight ? 200 : 401 })
  }
  return createSimulator({ webhook: { fetch }, knobs: { 'request.forwardPending': 'on', ...knobs } })
}

async function deliver(sim: PlatformSimulator, texts: readonly string[], botId = sim.botId): Promise<void> {
  const chat = await sim.chat({ botId })
  await chat.press('handover')
  for (const text of texts) await chat.says(text)
  await sim.settled()
}

/** What the journal shows about the last refused event. */
function adviceOf({ journal }: PlatformSimulator) {
  const entries = journal.query()
  const refused = entries.findLast(entry => entry.kind === 'delivery' && entry.status === 401)
  return refused && signatureAdvice(refused, entries)
}

const escaped = (body: string) =>
  body.replace(/[\u0080-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

describe('what the refused and the accepted events show', () => {
  test.each([
    ['another key', (body: string) => hmac(body, 'sim-bot-key'), ['Hi'], { code: 'all_refused', same_json: true }],
    ['hexadecimal', (body: string, key: string) => hmac(body, key, 'hex'), ['Hi'], { code: 'all_refused' }],
    [
      'JSON written again with escapes',
      (body: string, key: string) => hmac(escaped(body), key),
      ['Hi', 'Blåbær'],
      { code: 'characters', characters: 'letters', refused: 1, accepted: 2 },
    ],
    [
      'JSON written again as Go does',
      (body: string, key: string) => hmac(body.replaceAll('&', '\\u0026'), key),
      ['Hi', 'A & B'],
      { code: 'characters', characters: 'html' },
    ],
    [
      'a body limit',
      (body: string, key: string) => hmac(body.slice(0, 700), key),
      ['Hi', 'x'.repeat(800)],
      { code: 'longer' },
    ],
  ] as const)('%s', async (_what, compute, texts, evidence) => {
    const sim = simulatorFor(compute)
    await deliver(sim, texts)
    expect(adviceOf(sim)?.evidence).toMatchObject(evidence)
  })

  test('in JavaScript, JSON that is written again is named as no cause when it gives the same bytes', async () => {
    const sim = simulatorFor(body => hmac(body, 'other'))
    await deliver(sim, ['Hi'])
    expect(adviceOf(sim)?.known).toContain('JSON.stringify of the parsed body would give the same bytes')
    const spaced = simulatorFor(body => hmac(JSON.stringify(JSON.parse(body)), 'other'), { 'webhook.json': 'spaced' })
    await deliver(spaced, ['Hi'])
    expect(adviceOf(spaced)).toMatchObject({
      evidence: { same_json: false },
      known: expect.not.stringContaining('same bytes'),
    })
  })

  test('a changed key, which the webhook does not have yet', async () => {
    const sim = simulatorFor((body, key) => hmac(body, key))
    await deliver(sim, ['Hi'])
    await sim.configure({ 'keys.handover': 'rotated', 'bot.delay': '1s' })
    await deliver(sim, ['Hi'])
    expect(adviceOf(sim)?.evidence).toMatchObject({ code: 'settings_changed', names: ['keys.handover'] })
  })

  test('a second bot, whose key the webhook does not have', async () => {
    const sim = simulatorFor((body, key) => hmac(body, key), { 'keys.more': ['another-key:2002'] })
    await deliver(sim, ['Hi'])
    await deliver(sim, ['Hi'], 2002)
    expect(adviceOf(sim)?.evidence).toEqual({ code: 'bot', bot_id: 2002 })
  })

  test('events that are refused without a pattern', async () => {
    let count = 0
    const sim = simulatorFor((body, key) => (++count === 2 ? '' : hmac(body, key)))
    await deliver(sim, ['Hello there', 'Hi'])
    expect(adviceOf(sim)).toMatchObject({ evidence: { code: 'some_refused', refused: 1, accepted: 2 } })
  })
})

test('an accepted hexadecimal signature decides', async () => {
  const sim = simulatorFor((body, key) => hmac(body, key, 'hex'))
  await deliver(sim, ['Hi'])
  const before = adviceOf(sim)
  expect(before?.tries.map(({ code }) => code)).toContain('send_hex')
  const hex = sim.faults.add({ on: 'webhook', sign: 'hex', times: 1 })
  await deliver(sim, [])
  expect(hex.name).toBe('fault-1')
  expect(adviceOf(sim)).toMatchObject({
    evidence: { code: 'accepts_hex' },
    likely: [expect.stringContaining('encode the digest as base64')],
  })
})

test('a digest in the answer is found, and the mistake with which it was computed has a name', async () => {
  const inJson = (computed: string) => JSON.stringify({ error: `expected ${computed}, received another one` })
  const hex = simulatorFor((body, key) => hmac(body, key, 'hex'), {}, inJson)
  await deliver(hex, [])
  expect(adviceOf(hex)).toMatchObject({
    evidence: { code: 'answers_hex' },
    digests: [expect.stringMatching(/^\w{64}$/)],
  })

  const otherKey = simulatorFor(body => hmac(body, 'sim-bot-key'), {}, inJson)
  await deliver(otherKey, [])
  const { evidence, digests, tries } = adviceOf(otherKey)!
  expect([evidence.code, tries[0]?.code]).toEqual(['all_refused', 'verify_digest'])
  const otherKeys = { 'the bot API key': otherKey.botApiKey }
  const { body } = otherKey.deliveries[0]!.request
  expect(await explain(body, digests[0]!, otherKey.apiKey, { otherKeys })).toMatchObject({ mistake: 'other-key' })
})

test('says nothing about accepted events, other failures, and signatures that are wrong on purpose', async () => {
  const sim = simulatorFor((body, key) => hmac(body, key))
  sim.faults.add({ on: 'webhook', sign: 'wrong-key', times: 1 })
  await deliver(sim, ['Hi'])
  const entries = sim.journal.query()
  expect(entries.filter(({ kind }) => kind === 'delivery')).toMatchObject([{ status: 401 }, { status: 200 }])
  expect(entries.map(entry => signatureAdvice(entry, entries)).filter(advice => advice !== null)).toEqual([])
})

test('an entry that failed says why and what to try; others say nothing', async () => {
  const sim = simulatorFor(body => hmac(body, 'other'))
  await deliver(sim, [])
  const call = (path: string, key = sim.apiKey) =>
    sim.fetch(`${sim.baseUrl}${path}`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{}' })
  await call('/handover/start')
  await call('/api/v2/handover/start')
  await call('/api/v2/handover/start', 'wrong')
  const explained = sim.journal.query().map(entry => [entry.kind, explainEntry(entry)])
  expect(explained).toEqual([
    ['note', null],
    ['user', null],
    ['note', null],
    ['event', null],
    ['delivery', { why: expect.stringMatching(/^answered 401/), hint: expect.stringMatching(/^Signature refused\?/) }],
    [
      'api',
      {
        why: expect.stringMatching(/^No endpoint at \/handover\/start; did you mean \/api\/v2\/handover\/start\?/),
        hint: null,
      },
    ],
    ['api', { why: expect.stringContaining('bot_id'), hint: null }],
    ['api', { why: expect.stringContaining('key'), hint: null }],
  ])
})
