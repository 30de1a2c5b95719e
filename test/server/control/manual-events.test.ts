/** Events that a person sends: `POST /_sim/trigger` and `/deliveries/ID/resend`, to a receiver that verifies signatures. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { WEBHOOK_EVENTS } from '../../../src/platform/contract/index.ts'
import type { EntryOf } from '../../../src/platform/journal/entry.ts'
import type { PlatformServerOptions } from '../../../src/server/start.ts'
import { schemaProblems } from '../../support/contract-checks.ts'
import { startTestServer } from '../../support/test-server.ts'
import { answering, type Handler, receiver } from '../../webhooks/receiver.ts'

/** Does what any receiver should: compares the HMAC of the raw bytes, or answers 401. */
const verifying =
  (key = 'sim-handover-key'): Handler =>
  ({ bytes, headers }, response) => {
    const right = createHmac('sha256', key).update(bytes).digest('base64')
    response.writeHead(headers['kindly-hmac'] === right ? 200 : 401).end()
  }

async function setUp(handler: Handler = verifying(), options: PlatformServerOptions = {}) {
  const hook = await receiver(handler)
  const { server, control } = await startTestServer({ webhook: { url: hook.url }, ...options })
  const trigger = (body: object) => control('POST', '/trigger', { body })
  const resend = (id: string, query = '') => control('POST', `/deliveries/${id}/resend${query}`)
  const lastDelivery = (): EntryOf<'delivery'> => server.deliveries.at(-1)!
  return { hook, server, control, trigger, resend, lastDelivery }
}

describe('trigger', () => {
  test('sends each event with its usual payload', async () => {
    const { hook, server, trigger } = await setUp()
    const chat = await server.chat()
    for (const [event, { schema }] of Object.entries(WEBHOOK_EVENTS)) {
      const { body } = await trigger({ event, chat_id: chat.id })
      expect(body).toEqual({ delivery_id: expect.any(String), ack: { status: 200, duration_ms: expect.any(Number) } })
      const { json } = hook.got.at(-1)!
      expect([json.event, json.chat_id ?? json.chat.id]).toEqual([event, chat.id])
      expect(schemaProblems(schema, json)).toEqual([])
    }
  })

  test('sends the same event as the platform, without an event entry', async () => {
    const { hook, server, control, trigger } = await setUp()
    const chat = await server.chat()
    await chat.press('handover')
    const after = server.journal.nextSeq - 1
    const { body } = await trigger({ event: 'REQUESTING TAKEOVER' })
    const [real, manual] = hook.got.map(({ bytes, rawHeaders }) => ({ bytes, rawHeaders }))
    expect(manual).toEqual(real)
    const [note, delivery, ...more] = (await control('GET', `/journal?after=${after}`)).body.entries
    const about = { chat_id: chat.id, event: 'REQUESTING TAKEOVER', delivery_id: body.delivery_id, sign: 'valid' }
    expect(note).toMatchObject({ kind: 'note', note: 'event_triggered', ...about })
    expect(delivery).toMatchObject({ kind: 'delivery', attempt: 1, triggered: true, cause: note.seq, ...about })
    expect(delivery.request.headers['Kindly-HMAC']).toBe('***')
    expect(more).toEqual([])
  })

  test('sends the latest message of the user; fields of body replace those of the payload', async () => {
    const { hook, server, trigger } = await setUp()
    const chat = await server.chat()
    await trigger({ event: 'MESSAGE FROM USER' })
    await chat.says('My parcel')
    await trigger({ event: 'MESSAGE FROM USER' })
    await trigger({ event: 'MESSAGE FROM USER', body: { message: 'Mine', bot: 7, more: null } })
    expect(hook.got.map(({ json }) => json.message)).toEqual(['Hello', 'My parcel', 'Mine'])
    expect(hook.got[2]!.json).toEqual({ ...hook.got[1]!.json, message: 'Mine', bot: 7, more: null })
  })

  test('uses the newest chat by default, and no chat for an event of another name', async () => {
    const { hook, server, trigger, lastDelivery } = await setUp()
    const { status, body } = await trigger({ event: 'REQUESTING TAKEOVER' })
    expect([status, body.error.code]).toEqual([409, 'no_chat'])
    await trigger({ event: 'SOMETHING NEW', body: { a: { b: [1] } } })
    expect(lastDelivery()).not.toHaveProperty('chat_id')
    await server.chat()
    const newest = await server.chat()
    await trigger({ event: 'AGENT TYPING STOP' })
    expect(hook.got.map(({ bytes }) => bytes.toString())).toEqual([
      '{"event":"SOMETHING NEW","a":{"b":[1]}}',
      `{"event":"AGENT TYPING STOP","chat_id":"${newest.id}"}`,
    ])
  })

  test('changes neither the chat nor later ids', async () => {
    const run = async (events: readonly string[]) => {
      const { hook, server, trigger, lastDelivery } = await setUp(verifying(), { baseUrl: 'https://bot.example.test' })
      const chat = await server.chat()
      const before = structuredClone(chat.view())
      await Promise.all(events.map(event => trigger({ event })))
      expect(chat.view()).toEqual(before)
      await chat.press('handover')
      return [lastDelivery().delivery_id, chat.transcript.map(({ id }) => id), hook.got.at(-1)!.bytes]
    }
    expect(await run([...Object.keys(WEBHOOK_EVENTS), 'OTHER'])).toEqual(await run([]))
  })

  test('does not wait for the events of the chat, and is not retried', async () => {
    const release = Promise.withResolvers<void>()
    const handler: Handler = async (_got, response, index) => {
      if (index === 0) await release.promise
      response.writeHead(503).end()
    }
    const { hook, server, control, trigger } = await setUp(handler, { knobs: { 'webhook.retry': ['1ms'] } })
    const pressed = (await server.chat()).press('handover')
    await hook.arrived(1)
    const { body } = await trigger({ event: 'REQUESTING TAKEOVER' })
    expect(body.ack).toMatchObject({ status: 503, error: expect.stringContaining('only 200 acknowledges') })
    release.resolve()
    await pressed
    await hook.arrived(3)
    await control('POST', '/settle')
    const attempts = server.deliveries.map(({ triggered = false, attempt }) => ({ triggered, attempt }))
    expect(attempts.map(({ triggered }) => triggered)).toEqual([true, false, false])
    expect(attempts.at(-1)).toMatchObject({ attempt: 2 })
  })
})

describe('sign', () => {
  test.each(['valid', 'none', 'wrong-key', 'tampered', 'truncated', 'hex'])(
    '%s: a receiver that verifies accepts only a valid signature, or any event that is signed anew',
    async sign => {
      const status = sign === 'valid' ? 200 : 401
      const { hook, server, trigger, resend, lastDelivery } = await setUp()
      await server.chat()
      const { body } = await trigger({ event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign })
      expect(body.ack.status).toBe(status)
      expect(lastDelivery()).toMatchObject({ sign, outcome: status === 200 ? 'delivered' : 'failed' })
      const { json, headers } = hook.got[0]!
      expect(json.message === 'Hello').toBe(sign !== 'tampered')
      expect('kindly-hmac' in headers).toBe(sign !== 'none')
      expect('kindly-hmac-algorithm' in headers).toBe(sign !== 'none')
      expect((await resend(body.delivery_id)).body.ack.status).toBe(status)
      expect(lastDelivery()).toMatchObject({ triggered: true, resent: true, sign, attempt: 2 })
      expect((await resend(body.delivery_id, '?resign=true')).body.ack.status).toBe(200)
      expect(lastDelivery()).toMatchObject({ triggered: true, resent: true, sign: 'valid', attempt: 3 })
    },
  )

  test('refuses invalid signatures while the platform does not sign', async () => {
    const { hook, trigger } = await setUp(answering(200), { knobs: { 'webhook.signature': 'off' } })
    const refused = await trigger({ event: 'X', sign: 'hex' })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'signature_off'])
    expect((await trigger({ event: 'X' })).body.ack.status).toBe(200)
    expect(hook.got).toHaveLength(1)
  })
})

describe('resend', () => {
  test('sends the same bytes and headers, and journals another attempt', async () => {
    const { hook, server, resend } = await setUp(verifying(), { knobs: { 'webhook.idHeader': 'X-Delivery' } })
    await (await server.chat()).press('handover')
    const [{ delivery_id, seq, event, chat_id }] = server.deliveries as [EntryOf<'delivery'>]
    for (let count = 0; count < 2; count++)
      expect((await resend(delivery_id)).body).toMatchObject({ delivery_id, ack: { status: 200 } })
    for (const { bytes, rawHeaders } of hook.got.slice(1)) expect(hook.got[0]).toMatchObject({ bytes, rawHeaders })
    expect(hook.got[2]!.headers['x-delivery']).toBe(delivery_id)
    expect(server.deliveries.map(({ attempt, resent = false }) => [attempt, resent])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ])
    expect(server.deliveries[1]).toMatchObject({ cause: seq, event, chat_id })
    expect(server.deliveries[1]).not.toHaveProperty('triggered')
  })

  test.each([
    ['valid', 200],
    ['tampered', 401],
  ] as const)('one that was never sent (%s) gets its headers now', async (sign, status) => {
    const { hook, server, trigger, resend } = await setUp()
    await server.configure({ 'webhook.url': null })
    const { body } = await trigger({ event: 'X', sign })
    expect(body.ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
    await server.configure({ 'webhook.url': hook.url })
    expect((await resend(body.delivery_id)).body.ack.status).toBe(status)
    expect(hook.got[0]!.headers['content-type']).toBe('application/json')
  })

  test('numbers attempts on while a retry waits', async () => {
    const { server, resend, lastDelivery } = await setUp(answering(503), {
      ...{ clock: 'virtual', knobs: { 'webhook.retry': ['1s'] } },
    })
    await (await server.chat()).press('handover')
    await resend(lastDelivery().delivery_id)
    await server.clock.advance('1s')
    expect(server.deliveries).toMatchObject([{ attempt: 1 }, { attempt: 2, resent: true }, { attempt: 3 }])
  })
})

test('a reset ends trigger and resend, and journals nothing about them', async () => {
  let waits = false
  const { hook, server, control, trigger, resend } = await setUp((_got, response) => {
    if (!waits) response.end()
  })
  const { delivery_id } = (await trigger({ event: 'X' })).body
  waits = true
  const open = [trigger({ event: 'Y' })]
  await hook.arrived(2)
  open.push(resend(delivery_id))
  await hook.arrived(3)
  await control('POST', '/reset')
  for (const answer of await Promise.all(open))
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
  await control('POST', '/settle')
  expect(server.journal.query()).toEqual([])
  waits = false
  expect((await trigger({ event: 'X' })).body.delivery_id).toBe(delivery_id)
})
