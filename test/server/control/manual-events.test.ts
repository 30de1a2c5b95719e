/** Sends manual events to a receiver on a real socket that verifies signatures. */

import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { WEBHOOK_EVENTS } from '../../../src/platform/contract/index.ts'
import type { EntryOf } from '../../../src/platform/journal/entry.ts'
import type { PlatformServerOptions } from '../../../src/server/start.ts'
import { schemaProblems } from '../../support/contract-checks.ts'
import { createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'
import { type Handler, receiver } from '../../webhooks/receiver.ts'

const KEY = 'sim-handover-key'

/** What any receiver should do: the HMAC over the raw bytes, or 401. */
const verifying: Handler = ({ bytes, headers }, response) => {
  const right = createHmac('sha256', KEY).update(bytes).digest('base64')
  response.writeHead(headers['kindly-hmac'] === right ? 200 : 401).end()
}

async function setUp(handler: Handler = verifying, options: PlatformServerOptions = {}) {
  const hook = await receiver(handler)
  const server = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  return { hook, server, ask: createControlClient(server) }
}

const trigger = (ask: ReturnType<typeof createControlClient>, body: object) => ask('POST', '/trigger', { body })
const lastDelivery = ({ deliveries }: { deliveries: readonly EntryOf<'delivery'>[] }) => deliveries.at(-1)!

describe('trigger', () => {
  test.each(Object.keys(WEBHOOK_EVENTS) as (keyof typeof WEBHOOK_EVENTS)[])('%s has its usual payload', async event => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    const chat = await server.chat()
    const { status, body } = await trigger(ask, { event, chat_id: chat.id })
    expect([status, body]).toEqual([
      200,
      { delivery_id: expect.any(String), ack: { status: 200, duration_ms: expect.any(Number) } },
    ])
    const { json } = hook.got[0]!
    expect(json).toMatchObject({ event })
    expect(schemaProblems(WEBHOOK_EVENTS[event].schema, json)).toEqual([])
    expect(json.chat_id ?? json.chat.id).toBe(chat.id)
  })

  test('sends the same event as the platform', async () => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    const chat = await server.chat()
    await chat.press('handover')
    await trigger(ask, { event: 'REQUESTING TAKEOVER' })
    expect(hook.got[1]!.bytes).toEqual(hook.got[0]!.bytes)
    expect(hook.got[1]!.rawHeaders).toEqual(hook.got[0]!.rawHeaders)
  })

  test('sends the latest message of the user; fields of body replace those of the payload', async () => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    const chat = await server.chat()
    await trigger(ask, { event: 'MESSAGE FROM USER' })
    await chat.says('My parcel')
    await trigger(ask, { event: 'MESSAGE FROM USER' })
    await trigger(ask, { event: 'MESSAGE FROM USER', body: { message: 'Mine', bot: 7, more: null } })
    expect(hook.got.map(({ json }) => json.message)).toEqual(['Hello', 'My parcel', 'Mine'])
    expect(hook.got[2]!.json).toEqual({ ...hook.got[1]!.json, message: 'Mine', bot: 7, more: null })
  })

  test('uses the newest chat by default; without a chat the error says how to create one', async () => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    const answer = await trigger(ask, { event: 'REQUESTING TAKEOVER' })
    expect([answer.status, answer.body.error.code]).toEqual([409, 'no_chat'])
    expect(answer.body.error.message).toContain('create one with POST /_sim/chats')
    await server.chat()
    const newest = await server.chat()
    await trigger(ask, { event: 'AGENT TYPING STOP' })
    expect(hook.got.map(({ json }) => json)).toEqual([{ event: 'AGENT TYPING STOP', chat_id: newest.id }])
  })

  test('answers 404 for an unknown chat and lists the chats', async () => {
    const { server, ask } = await setUp()
    await using _ = server
    const none = await trigger(ask, { event: 'X', chat_id: 'c' })
    expect([none.status, none.body.error.message]).toEqual([404, 'There is no chat "c". There are no chats yet.'])
    const { id } = await server.chat({ id: 'chat-1' })
    const answer = await trigger(ask, { event: 'REQUESTING TAKEOVER', chat_id: 'chat-2' })
    expect(answer.body.error).toMatchObject({ code: 'chat_not_found', issues: [{ field: 'chat_id', allowed: [id] }] })
    expect(answer.body.error.message).toContain('did you mean chat-1?')
  })

  test('sends an event of another name unchanged and without a chat', async () => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    const { body } = await trigger(ask, { event: 'SOMETHING NEW', body: { a: { b: [1] } } })
    expect(body.ack.status).toBe(200)
    expect(hook.got[0]!.bytes.toString()).toBe('{"event":"SOMETHING NEW","a":{"b":[1]}}')
    expect(lastDelivery(server)).not.toHaveProperty('chat_id')
  })

  test('changes neither the chat nor later ids', async () => {
    const run = async (between: (ask: ReturnType<typeof createControlClient>) => Promise<unknown>) => {
      const { hook, server, ask } = await setUp(verifying, { baseUrl: 'https://bot.example.test' })
      await using _ = server
      const chat = await server.chat()
      const before = structuredClone(chat.view())
      await between(ask)
      expect(chat.view()).toEqual(before)
      await chat.press('handover')
      return [
        lastDelivery(server).delivery_id,
        JSON.stringify(chat.transcript.map(one => one.id)),
        hook.got.at(-1)!.bytes,
      ]
    }
    const events = [...Object.keys(WEBHOOK_EVENTS), 'OTHER']
    const noisy = await run(ask => Promise.all(events.map(event => trigger(ask, { event }))))
    expect(noisy).toEqual(await run(async () => {}))
  })

  test('appends no event entry to the journal', async () => {
    const { server, ask } = await setUp()
    await using _ = server
    const chat = await server.chat()
    const { body } = await trigger(ask, { event: 'REQUESTING TAKEOVER', sign: 'wrong-key' })
    const [note, delivery] = (await ask('GET', '/journal?after=1')).body.entries
    const about = { chat_id: chat.id, event: 'REQUESTING TAKEOVER', delivery_id: body.delivery_id, sign: 'wrong-key' }
    expect(note).toMatchObject({ kind: 'note', note: 'event_triggered', ...about })
    expect(delivery).toMatchObject({ kind: 'delivery', attempt: 1, triggered: true, cause: note.seq, ...about })
    expect(delivery.request.headers['Kindly-HMAC']).toBe('***')
    expect(server.journal.query({ kind: 'event' })).toEqual([])
  })

  test('does not wait for the events of the chat, and is not retried', async () => {
    const release = Promise.withResolvers<void>()
    const { hook, server, ask } = await setUp(
      async (_got, response, index) => {
        if (index === 0) await release.promise
        response.writeHead(503).end()
      },
      { knobs: { 'webhook.retry': ['1ms'] } },
    )
    await using _ = server
    const chat = await server.chat()
    const pressed = chat.press('handover')
    await hook.arrived(1)
    const { body } = await trigger(ask, { event: 'REQUESTING TAKEOVER' })
    expect(body.ack).toMatchObject({ status: 503, error: 'answered 503; only 200 acknowledges REQUESTING TAKEOVER' })
    release.resolve()
    await pressed
    await hook.arrived(3)
    await ask('POST', '/settle')
    expect(server.deliveries.map(one => [one.triggered ?? false, one.attempt])).toEqual([
      [true, 1],
      [false, 1],
      [false, 2],
    ])
  })

  test('reports that there is no webhook', async () => {
    await using server = await startSimulator({ port: 0 })
    const { body } = await trigger(createControlClient(server), { event: 'X' })
    expect(body.ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
  })
})

describe('sign', () => {
  const MODES = [
    ['valid', 200],
    ['none', 401],
    ['wrong-key', 401],
    ['tampered', 401],
    ['truncated', 401],
    ['hex', 401],
  ] as const

  test.each(MODES)('%s: a receiver that verifies answers %i', async (sign, status) => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    await server.chat()
    const { body } = await trigger(ask, { event: 'MESSAGE FROM USER', body: { message: 'Hello' }, sign })
    expect(body.ack.status).toBe(status)
    expect(lastDelivery(server)).toMatchObject({ sign, outcome: status === 200 ? 'delivered' : 'failed' })
    const [{ json, headers }] = hook.got as [(typeof hook.got)[0]]
    expect(json.message === 'Hello').toBe(sign !== 'tampered')
    expect('kindly-hmac' in headers).toBe(sign !== 'none')
    expect('kindly-hmac-algorithm' in headers).toBe(sign !== 'none')
  })

  test('refuses invalid signatures while the platform does not sign', async () => {
    const { hook, server, ask } = await setUp((_got, response) => response.end(), {
      knobs: { 'webhook.signature': 'off' },
    })
    await using _ = server
    const answer = await trigger(ask, { event: 'X', sign: 'hex' })
    expect([answer.status, answer.body.error.code]).toEqual([409, 'signature_off'])
    expect((await trigger(ask, { event: 'X' })).body.ack.status).toBe(200)
    expect(hook.got).toHaveLength(1)
  })
})

describe('resend', () => {
  test('sends the same bytes and headers, and journals another attempt', async () => {
    const { hook, server, ask } = await setUp(verifying, { knobs: { 'webhook.idHeader': 'X-Delivery' } })
    await using _ = server
    await (await server.chat()).press('handover')
    const first = lastDelivery(server)
    for (let count = 0; count < 2; count++) {
      const { body } = await ask('POST', `/deliveries/${first.delivery_id}/resend`)
      expect(body).toMatchObject({ delivery_id: first.delivery_id, ack: { status: 200 } })
    }
    for (const again of hook.got.slice(1)) {
      expect(again.bytes).toEqual(hook.got[0]!.bytes)
      expect(again.rawHeaders).toEqual(hook.got[0]!.rawHeaders)
    }
    expect(hook.got[2]!.headers['x-delivery']).toBe(first.delivery_id)
    expect(server.deliveries.map(one => [one.attempt, one.resent ?? false])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ])
    expect(server.deliveries[1]).toMatchObject({ cause: first.seq, event: first.event, chat_id: first.chat_id })
    expect(server.deliveries[1]).not.toHaveProperty('triggered')
  })

  test('sends the old headers after a change of the key, or new ones with resign', async () => {
    const { server, ask } = await setUp(({ bytes, headers }, response) => {
      const right = createHmac('sha256', 'key-two').update(bytes).digest('base64')
      response.writeHead(headers['kindly-hmac'] === right ? 200 : 401).end()
    })
    await using _ = server
    await (await server.chat()).press('handover')
    await ask('PATCH', '/config', { body: { 'keys.handover': 'key-two' } })
    const path = `/deliveries/${lastDelivery(server).delivery_id}/resend`
    expect((await ask('POST', path)).body.ack.status).toBe(401)
    expect((await ask('POST', `${path}?resign=false`)).body.ack.status).toBe(401)
    expect((await ask('POST', `${path}?resign=true`)).body.ack.status).toBe(200)
  })

  test.each(['wrong-key', 'tampered'] as const)(
    'of a triggered one it stays %s, until it is signed anew',
    async sign => {
      const { server, ask } = await setUp()
      await using _ = server
      const path = `/deliveries/${(await trigger(ask, { event: 'X', sign })).body.delivery_id}/resend`
      expect((await ask('POST', path)).body.ack.status).toBe(401)
      expect(lastDelivery(server)).toMatchObject({ triggered: true, resent: true, sign, attempt: 2 })
      expect((await ask('POST', `${path}?resign=true`)).body.ack.status).toBe(200)
      expect(lastDelivery(server)).toMatchObject({ triggered: true, resent: true, sign: 'valid', attempt: 3 })
    },
  )

  test.each([
    ['valid', 200],
    ['tampered', 401],
  ] as const)('one that was never sent (%s) gets its headers now', async (sign, status) => {
    const { hook, server, ask } = await setUp()
    await using _ = server
    await server.configure({ 'webhook.url': null })
    const { body } = await trigger(ask, { event: 'X', sign })
    await server.configure({ 'webhook.url': hook.url })
    expect((await ask('POST', `/deliveries/${body.delivery_id}/resend`)).body.ack.status).toBe(status)
    expect(hook.got[0]!.headers['content-type']).toBe('application/json')
  })

  test('numbers attempts on while a retry waits', async () => {
    const { server, ask } = await setUp((_got, response, index) => response.writeHead(index < 2 ? 503 : 200).end(), {
      clock: 'virtual',
      knobs: { 'webhook.retry': ['1s'] },
    })
    await using _ = server
    await (await server.chat()).press('handover')
    await ask('POST', `/deliveries/${lastDelivery(server).delivery_id}/resend`)
    await server.clock.advance('1s')
    expect(server.deliveries.map(one => [one.attempt, one.resent ?? false, one.status])).toEqual([
      [1, false, 503],
      [2, true, 503],
      [3, false, 200],
    ])
  })

  test('answers 404 for an unknown id and lists the latest ids', async () => {
    const { server, ask } = await setUp()
    await using _ = server
    const none = await ask('POST', '/deliveries/d1/resend')
    expect(none.body.error.message).toBe('There is no delivery "d1". There are no deliveries yet.')
    const ids: string[] = []
    for (let count = 0; count < 6; count++) ids.unshift((await trigger(ask, { event: 'X' })).body.delivery_id)
    const answer = await ask('POST', '/deliveries/d1/resend')
    expect([answer.status, answer.body.error.code]).toEqual([404, 'delivery_not_found'])
    expect(answer.body.error.issues).toMatchObject([{ field: 'id', allowed: ids.slice(0, 5) }])
  })
})

describe('a reset', () => {
  test('ends trigger and resend, and journals nothing about them', async () => {
    let waits = false
    const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using webhook = await startWebhook((_, response) => {
      if (waits) reached[webhook.bodies.length - 2]!.resolve()
      else response.end()
    })
    await using server = await startSimulator({ port: 0, webhook: { url: webhook.url } })
    const ask = createControlClient(server)
    const { delivery_id } = (await trigger(ask, { event: 'X' })).body
    waits = true
    const open = [trigger(ask, { event: 'Y' })]
    await reached[0]!.promise
    open.push(ask('POST', `/deliveries/${delivery_id}/resend`))
    await reached[1]!.promise
    await ask('POST', '/reset')
    for (const answer of await Promise.all(open))
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
    await ask('POST', '/settle')
    expect(server.journal.query()).toEqual([])
    waits = false
    expect((await trigger(ask, { event: 'X' })).body.delivery_id).toBe(delivery_id)
  })
})
