/** Diagnoses refused deliveries of receivers with one mistake each, over HTTP. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EntryOf } from '../../../src/platform/journal/entry.ts'
import { startTestServer } from '../../support/test-server.ts'
import { type Got, type Handler, receiver } from '../../webhooks/receiver.ts'

const KEY = 'sim-handover-key'
type Content = string | Buffer
const sign = (content: Content, key: Content = KEY, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(content).digest('base64')
const signBytes = ({ bytes }: Got) => sign(bytes)

/** Answers 401 with a reason unless the signature is what its code computes. */
const comparing =
  (computed: (got: Got) => string, header = 'kindly-hmac'): Handler =>
  (got, response) => {
    const isRight = got.headers[header] === computed(got)
    response.writeHead(isRight ? 200 : 401).end(isRight ? '' : 'bad_signature')
  }
/** Answers each event with this status. */
const answering =
  (statusFor: (got: Got) => number): Handler =>
  (got, response) =>
    response.writeHead(statusFor(got)).end()

/** Starts a simulator whose first event the receiver has answered. */
async function setUp(handler: Handler, knobs: object = {}) {
  const hook = await receiver(handler)
  const { server, control } = await startTestServer({ webhook: { url: hook.url }, knobs })
  const chat = await server.chat()
  await chat.press('handover')
  const diagnose = async (id = 'latest', body: object = {}) => {
    const answer = await control('POST', `/deliveries/${id}/diagnose`, { body })
    expect(answer.status).toBe(200)
    return answer.body
  }
  return { hook, server, control, chat, diagnose }
}

const asPythonWrites = (json: unknown) =>
  JSON.stringify(json).replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (_, string, mark) => string ?? `${mark} `)

test.each<[code: string, computed: (got: Got) => string, header?: string]>([
  ['restringified-json', ({ json }) => sign(asPythonWrites(json))],
  ['hex', got => Buffer.from(signBytes(got), 'base64').toString('hex')],
  ['prefix', got => `sha256=${Buffer.from(signBytes(got), 'base64').toString('hex')}`],
  ['other-key', ({ bytes }) => sign(bytes, 'sim-bot-key')],
  ['key-whitespace', ({ bytes }) => sign(bytes, `${KEY}\n`)],
  ['key-unset', ({ bytes }) => sign(bytes, '')],
  ['empty-body', () => sign('')],
  ['stringified-object', () => sign('[object Object]')],
  ['newline', ({ bytes }) => sign(`${bytes}\n`)],
  ['other-algorithm', ({ bytes }) => sign(bytes, KEY, 'sha1')],
  ['plain-hash', ({ bytes }) => createHash('sha256').update(bytes).digest('base64')],
  ['other-header', signBytes, 'x-hub-signature-256'],
])('%s is found by trying', async (code, computed, header) => {
  const { server, hook, diagnose } = await setUp(comparing(computed, header))
  const found = await diagnose()
  expect(found).toMatchObject({ code, event: 'REQUESTING TAKEOVER', answer: { status: 401, body: 'bad_signature' } })
  expect(found.text).toMatch(/^Your service .* #\d+ shows it\.$/)
  expect(found.fix).toMatch(/\w{3}/)
  // None has an effect on a help desk, and all are marked.
  expect(found.probes.length).toBeLessThanOrEqual(28)
  expect(new Set(hook.got.slice(1).map(({ json }) => json.event))).toEqual(new Set(['AGENT TYPING STOP']))
  const deliveries = server.journal.query({ kind: 'delivery' }).slice(1)
  expect(new Set(deliveries.map(({ probe }) => probe?.of))).toEqual(new Set([found.delivery_id]))
  expect(deliveries.find(({ seq }) => seq === found.shown_by)).toMatchObject({ status: 200, probe: { code } })
})

test('letters beyond ASCII that are read as Latin-1 are found, because the refused event is in the probes', async () => {
  const { chat, diagnose } = await setUp(
    comparing(({ bytes }) => sign(Buffer.from(bytes.toString('latin1'), 'utf8'))),
    { 'request.forwardPending': 'on' },
  )
  await chat.says('Blåbær')
  expect(await diagnose()).toMatchObject({ event: 'MESSAGE FROM USER', code: 'latin1' })
})

describe('what is known before', () => {
  test('events are refused since a change of the key: the earlier key is tried', async () => {
    const { server, chat, diagnose } = await setUp(comparing(signBytes))
    await server.configure({ 'keys.handover': 'another-key-of-today' })
    await chat.press('handover')
    const { code, facts, text } = await diagnose()
    expect([code, facts[0]]).toEqual(['other-key', expect.stringMatching(/until #\d+ changed keys\.handover/)])
    expect(text).toContain('the key from before the last change')
  })

  test('the service got another key: what no trial explains is said to have changed', async () => {
    let key = KEY
    const { chat, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes, key)))
    key = 'an unknown key'
    await chat.press('handover')
    const { code, text } = await diagnose()
    expect(code).toBe('key_or_code_changed')
    expect(text).toMatch(/until #\d+, and refuses them since #\d+\. None of \d+ trials is accepted/)
  })

  test('a digest in the answer is explained when no probe is accepted', async () => {
    const { diagnose } = await setUp(({ bytes }, response) =>
      response.writeHead(401).end(`computed ${sign(`${bytes}`, 'sim-bot-key')}`),
    )
    expect(await diagnose()).toMatchObject({ code: 'other-key', text: expect.stringContaining('the bot API key') })
  })
})

describe('what is not the signature', () => {
  const isSigned = (got: Got) => got.headers['kindly-hmac'] === signBytes(got)
  test.each<readonly [string, (got: Got) => number, object]>([
    [
      'a valid signature of the same content is accepted now',
      got => (!isSigned(got) ? 401 : got.json.event === 'REQUESTING TAKEOVER' ? 403 : 200),
      { code: 'not_signature', answer: { status: 403 }, probes: [{ code: 'valid' }, { code: 'none' }] },
    ],
    [
      'a valid signature has another answer than a missing one',
      got => (isSigned(got) ? 500 : 401),
      { code: 'not_signature', text: expect.stringContaining('answers 500') },
    ],
    [
      'events without effect are not verified at all',
      got => (got.json.event === 'AGENT TYPING STOP' ? 200 : 401),
      { code: 'unsigned_accepted' },
    ],
    ...[404, 405, 302].map(status => [`${status}`, () => status, { code: 'address', probes: [] }] as const),
  ])('%s', async (_, statusFor, expected) => {
    const { hook, diagnose } = await setUp(answering(statusFor))
    const found = await diagnose()
    expect(found).toMatchObject(expected)
    expect(hook.got).toHaveLength(1 + found.probes.length)
  })

  test('no program listens, an accepted event, and one that is wrong on purpose', async () => {
    const { server, control, chat, diagnose } = await setUp(comparing(signBytes))
    const [accepted] = server.journal.query({ kind: 'delivery' })
    expect(await diagnose(accepted!.delivery_id)).toMatchObject({ code: 'accepted', fix: null })
    const { body } = await control('POST', '/trigger', { body: { event: 'AGENT TYPING STOP', sign: 'wrong-key' } })
    expect(await diagnose(body.delivery_id)).toMatchObject({ code: 'wrong_on_purpose' })
    expect((await control('POST', '/deliveries/latest/diagnose', { body: {} })).status).toBe(404)
    await server.configure({ 'webhook.url': 'http://127.0.0.1:1/webhook' })
    await chat.press('handover')
    expect(await diagnose()).toMatchObject({ code: 'no_answer', answer: null })
  })
})

test('a pasted signature is explained, and nothing is sent', async () => {
  const { hook, diagnose } = await setUp(comparing(() => 'no'))
  const [{ bytes }] = hook.got as [Got]
  const found = await diagnose('latest', { signature: sign(bytes, 'sim-bot-key') })
  expect(found.pasted).toMatchObject({ code: 'other-key', text: expect.stringContaining('the bot API key') })
  expect(found.signature).toEqual({ header: 'Kindly-HMAC', value: sign(bytes) })
  expect(await diagnose('latest', { signature: sign(bytes) })).toMatchObject({ pasted: { code: 'right' } })
  expect(hook.got).toHaveLength(1)
})

test('probes are in no recording and are no evidence', async () => {
  const { server, control, chat, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes, 'sim-bot-key')))
  await diagnose()
  expect((await diagnose()).facts).toEqual(['It accepted no event so far (1 refused).'])
  const { body } = await control('POST', '/record', { body: { chat_ids: [chat.id] } })
  expect(body.yaml ?? '').not.toContain('AGENT TYPING STOP')
  const probes = server.journal.query({ kind: 'delivery' }).filter((entry: EntryOf<'delivery'>) => entry.probe)
  expect(probes.length).toBeGreaterThan(20)
})
