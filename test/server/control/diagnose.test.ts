/** Diagnoses refused deliveries of receivers with one mistake each, over HTTP. */

import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { EntryOf } from '../../../src/platform/journal/entry.ts'
import type { PlatformServerOptions } from '../../../src/server/start.ts'
import { createControlClient } from '../../support/control-client.ts'
import { type Got, type Handler, receiver } from '../../webhooks/receiver.ts'

const KEY = 'sim-handover-key'
type Content = string | Buffer
const sign = (content: Content, key: Content = KEY, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(content).digest('base64')

/** Answers 401 with a reason unless the signature is what its code computes. */
const comparing =
  (computed: (got: Got) => string, header = 'kindly-hmac'): Handler =>
  (got, response) => {
    const isRight = got.headers[header] === computed(got)
    response.writeHead(isRight ? 200 : 401).end(isRight ? '' : 'bad_signature')
  }

async function setUp(handler: Handler, options: PlatformServerOptions = {}) {
  const hook = await receiver(handler)
  const server = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  const ask = createControlClient(server)
  const diagnose = async (id = 'latest', body: object = {}) => {
    const answer = await ask('POST', `/deliveries/${id}/diagnose`, { body })
    expect(answer.status).toBe(200)
    return answer.body
  }
  return { hook, server, ask, diagnose }
}

async function refuse(server: Awaited<ReturnType<typeof startSimulator>>) {
  const chat = await server.chat()
  await chat.press('handover')
  return chat
}

const parsed = ({ json }: Got) => json
const MISTAKES: Record<string, [code: string, computed: (got: Got) => string, text?: RegExp]> = {
  'JSON written again as Python does': [
    'restringified-json',
    got =>
      sign(
        JSON.stringify(parsed(got)).replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (_, string, mark) => string ?? `${mark} `),
      ),
    /verifies JSON that it has parsed and written again \(as json\.dumps of Python writes it\): #\d+ shows it\./,
  ],
  'a hexadecimal digest': ['hex', ({ bytes }) => Buffer.from(sign(bytes), 'base64').toString('hex')],
  'the prefix sha256=': ['prefix', ({ bytes }) => `sha256=${Buffer.from(sign(bytes), 'base64').toString('hex')}`],
  'the bot API key': ['other-key', ({ bytes }) => sign(bytes, 'sim-bot-key'), /another key \(the bot API key\)/],
  'a key with a newline': ['key-whitespace', ({ bytes }) => sign(bytes, `${KEY}\n`)],
  'an empty key': ['key-unset', ({ bytes }) => sign(bytes, '')],
  'an empty body': ['empty-body', () => sign('')],
  'a body that is an object': ['stringified-object', () => sign('[object Object]')],
  'a newline at the end of the body': ['newline', ({ bytes }) => sign(`${bytes}\n`)],
  'SHA-1': ['other-algorithm', ({ bytes }) => sign(bytes, KEY, 'sha1')],
  'a plain hash': ['plain-hash', ({ bytes }) => createHash('sha256').update(bytes).digest('base64')],
}

test.each(Object.entries(MISTAKES))('%s is found by trying', async (_what, [code, computed, text]) => {
  const { server, hook, diagnose } = await setUp(comparing(computed))
  await using _ = server
  await refuse(server)
  const found = await diagnose()
  expect(found).toMatchObject({ code, event: 'REQUESTING TAKEOVER', answer: { status: 401, body: 'bad_signature' } })
  expect(found.text).toMatch(text ?? /^Your service .* #\d+ shows it\.$/)
  expect(found.fix).toMatch(/\w{3}/)
  // None has an effect on a help desk, and all are marked.
  expect(found.probes.length).toBeLessThanOrEqual(28)
  expect(new Set(hook.got.slice(1).map(({ json }) => json.event))).toEqual(new Set(['AGENT TYPING STOP']))
  const deliveries = server.journal.query({ kind: 'delivery' }).slice(1)
  expect(deliveries.map(({ probe }) => probe?.of)).toEqual(deliveries.map(() => found.delivery_id))
  const shows = deliveries.find(({ seq }) => seq === found.shown_by)
  expect(shows).toMatchObject({ status: 200, probe: { code } })
})

test('a signature that is read from another header is found by trying, with its name', async () => {
  const { server, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes), 'x-hub-signature-256'))
  await using _ = server
  await refuse(server)
  const found = await diagnose()
  expect(found).toMatchObject({ code: 'other-header' })
  expect(found.text).toMatch(
    /reads the signature from another header than Kindly-HMAC \(X-Hub-Signature-256\): #\d+ shows it/,
  )
  expect(found.fix).toContain('kindly-hmac')
})

test('letters beyond ASCII that are read as Latin-1 are found, because the refused event is in the probes', async () => {
  const { server, diagnose } = await setUp(
    comparing(({ bytes }) => sign(Buffer.from(bytes.toString('latin1'), 'utf8'))),
    {
      knobs: { 'request.forwardPending': 'on' },
    },
  )
  await using _ = server
  const chat = await refuse(server)
  await chat.says('Blåbær')
  expect(await diagnose()).toMatchObject({ event: 'MESSAGE FROM USER', code: 'latin1' })
})

test('JSON that gives the same bytes when it is written again is not tried', async () => {
  const { server, diagnose } = await setUp(comparing(() => 'nothing matches'))
  await using _ = server
  await refuse(server)
  const { code, probes } = await diagnose()
  expect(code).toBe('unknown')
  expect(probes.map(({ text }: { text: string }) => text).join()).not.toContain('JSON.stringify(JSON.parse(body))')
})

describe('what is known before', () => {
  test('events were accepted, and are refused since a change of the key: the earlier key is tried', async () => {
    const { server, ask, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes)))
    await using _ = server
    await refuse(server)
    await ask('PATCH', '/config', { body: { 'keys.handover': 'another-key-of-today' } })
    await refuse(server)
    const found = await diagnose()
    expect(found).toMatchObject({
      code: 'other-key',
      facts: [expect.stringMatching(/until #\d+ changed keys\.handover/)],
    })
    expect(found.text).toContain('the key from before the last change')
  })

  test('the service got another key: what no trial explains is said to have changed', async () => {
    let key = KEY
    const { server, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes, key)))
    await using _ = server
    await refuse(server)
    key = 'an unknown key'
    await refuse(server)
    const found = await diagnose()
    expect(found).toMatchObject({ code: 'key_or_code_changed' })
    expect(found.text).toMatch(
      /^It accepted events until #\d+, and refuses them since #\d+\. None of \d+ trials is accepted/,
    )
  })

  test('a digest in the answer is explained when no probe is accepted', async () => {
    // It refuses all, and says what it computed.
    const { server, diagnose } = await setUp(({ bytes }, response) => {
      response.writeHead(401).end(`computed ${sign(`${bytes}`, 'sim-bot-key')}`)
    })
    await using _ = server
    await refuse(server)
    expect(await diagnose()).toMatchObject({ code: 'other-key', text: expect.stringContaining('the bot API key') })
  })
})

describe('what is not the signature', () => {
  test('a valid signature of the same content is accepted now', async () => {
    const { server, diagnose } = await setUp(({ bytes, headers, json }, response) => {
      const status = headers['kindly-hmac'] !== sign(bytes) ? 401 : json.event === 'REQUESTING TAKEOVER' ? 403 : 200
      response.writeHead(status).end()
    })
    await using _ = server
    await refuse(server)
    const found = await diagnose()
    expect(found).toMatchObject({ code: 'not_signature', answer: { status: 403 } })
    expect(found.probes.map(({ code }: { code: string }) => code)).toEqual(['valid', 'none'])
  })

  test('a valid signature has another answer than a missing one', async () => {
    const { server, diagnose } = await setUp(({ bytes, headers }, response) =>
      response.writeHead(headers['kindly-hmac'] === sign(bytes) ? 500 : 401).end(),
    )
    await using _ = server
    await refuse(server)
    expect(await diagnose()).toMatchObject({ code: 'not_signature', text: expect.stringContaining('answers 500') })
  })

  test('events without effect are not verified at all', async () => {
    const { server, diagnose } = await setUp(({ json }, response) =>
      response.writeHead(json.event === 'AGENT TYPING STOP' ? 200 : 401).end(),
    )
    await using _ = server
    await refuse(server)
    expect(await diagnose()).toMatchObject({ code: 'unsigned_accepted' })
  })

  test.each([
    [404, 'address'],
    [405, 'address'],
    [302, 'address'],
  ])('%i: nothing is sent', async (status, code) => {
    const { server, hook, diagnose } = await setUp((_got, response) => response.writeHead(status).end())
    await using _ = server
    await refuse(server)
    expect(await diagnose()).toMatchObject({ code, probes: [] })
    expect(hook.got).toHaveLength(1)
  })

  test('no program listens', async () => {
    const { server, ask, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes)))
    await using _ = server
    await ask('PATCH', '/config', { body: { 'webhook.url': 'http://127.0.0.1:1/webhook' } })
    await refuse(server)
    expect(await diagnose()).toMatchObject({
      code: 'no_answer',
      answer: null,
      text: expect.stringContaining('127.0.0.1:1'),
    })
  })

  test('an accepted event, and one that is wrong on purpose', async () => {
    const { server, ask, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes)))
    await using _ = server
    await refuse(server)
    const [accepted] = server.journal.query({ kind: 'delivery' })
    expect(await diagnose(accepted!.delivery_id)).toMatchObject({ code: 'accepted', fix: null })
    const { body } = await ask('POST', '/trigger', { body: { event: 'AGENT TYPING STOP', sign: 'wrong-key' } })
    expect(await diagnose(body.delivery_id)).toMatchObject({ code: 'wrong_on_purpose' })
    expect((await ask('POST', '/deliveries/latest/diagnose', { body: {} })).status).toBe(404)
  })
})

test('a pasted signature is explained, and nothing is sent', async () => {
  const { server, hook, diagnose } = await setUp(comparing(() => 'no'))
  await using _ = server
  await refuse(server)
  const [{ bytes }] = hook.got as [Got]
  const found = await diagnose('latest', { signature: sign(bytes, 'sim-bot-key') })
  expect(found.pasted).toMatchObject({ code: 'other-key', text: expect.stringContaining('the bot API key') })
  expect(await diagnose('latest', { signature: sign(bytes) })).toMatchObject({ pasted: { code: 'right' } })
  expect(found.signature).toEqual({ header: 'Kindly-HMAC', value: sign(bytes) })
  expect(hook.got).toHaveLength(1)
})

test('probes are in no recording and are no evidence', async () => {
  const { server, ask, diagnose } = await setUp(comparing(({ bytes }) => sign(bytes, 'sim-bot-key')))
  await using _ = server
  const chat = await refuse(server)
  await diagnose()
  expect((await diagnose()).facts).toEqual(['It accepted no event so far (1 refused).'])
  const { body } = await ask('POST', '/record', { body: { chat_ids: [chat.id] } })
  expect(body.yaml ?? '').not.toContain('AGENT TYPING STOP')
  const probes = server.journal.query({ kind: 'delivery' }).filter((entry: EntryOf<'delivery'>) => entry.probe)
  expect(probes.length).toBeGreaterThan(20)
})
