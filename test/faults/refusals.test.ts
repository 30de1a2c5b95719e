/** Refuses faults that contradict themselves or never match, in-process and over HTTP, with field and fix. */
import { expect, test } from 'vitest'
import { createSimulator, startSimulator } from '../../src/index.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { createControlClient } from '../support/control-client.ts'

const CONTRADICTIONS: readonly [fault: object, message: string][] = [
  [{ latency: '1s' }, 'on is required: api, webhook or an object.'],
  [{ on: 'apis', reset: true }, 'on must be api, webhook or an object, got the string "apis"; did you mean api?'],
  [
    { on: { api: 'mesage' }, reset: true },
    'chat, file, any or an array, got the string "mesage"; did you mean message?',
  ],
  [{ on: { webhook: 'MESSAGE FROM USR' }, swap: true }, 'did you mean MESSAGE FROM USER?'],
  [{ on: { api: ['start', 'any'] }, reset: true }, 'on.api has any in a list: write any alone.'],
  [{ on: {}, reset: true }, 'on.api is required: an endpoint, a list of them, or any (or webhook: an event).'],
  [{ on: { api: 'start', webhook: 'any' }, reset: true }, 'on.webhook cannot be combined with api'],
  [{ on: 'api' }, 'has no effect: add one of respond, drop, reset, slow_body, malformed, latency.'],
  [{ on: 'api', delay: '1s' }, 'delay is an effect on: webhook, and this fault is on: api; there are respond,'],
  [{ on: 'api', drop: 'after', reset: true }, 'reset cannot be combined with drop: a fault changes an answer in'],
  [{ on: 'webhook', swap: true, hold: 2 }, 'hold cannot be combined with swap: a fault changes the time of'],
  [{ on: 'webhook', duplicate: 1 }, 'duplicate must be at least 2, got the number 1.'],
  [{ on: 'webhook', delay: '1s', gap: '1s' }, 'gap is the time between copies: add duplicate'],
  [{ on: 'api', reset: true, times: 0 }, 'times must be at least 1, got the number 0.'],
  [{ on: 'api', respond: { status: 99 } }, 'respond.status must be at least 200, got the number 99.'],
  [{ on: 'api', respond: { status: 204, body: 'x' } }, 'respond.body cannot be sent with status 204'],
  [{ on: 'api', respond: { status: 200, headers: { 'Content-Length': '1' } } }, 'Content-Length is set by the server'],
  [{ on: 'api', respond: { status: 200, headers: { 'a b': '1' } } }, 'respond.headers.a b is not a valid header name.'],
  [{ on: 'api', respond: { status: 200, headers: { a: 'x\r\ny' } } }, 'respond.headers.a must be printable ASCII'],
  [{ on: 'api', latency: 5 }, 'latency must be a string, got the number 5; write it in quotes: "5".'],
  [{ on: 'api', latency: '5' }, 'latency must be a duration with a unit such as 500ms or 2s, got "5".'],
  [{ on: 'webhook', delay: '0s' }, 'delay must be longer than 0, got "0s".'],
  [{ on: 'webhook', sign: 'valid' }, 'sign must be none, wrong-key, tampered, truncated or hex'],
  [{ on: { api: 'availability' }, chat_id: 'c1', reset: true }, 'chat_id never matches: a call of availability'],
  [{ on: 'api', reset: true, name: 'two words' }, 'name must be of the form'],
]

test.each(CONTRADICTIONS)('%j', async (fault, message) => {
  const sim = createSimulator()
  const add = () => sim.faults.add(fault as FaultSpec)
  expect(add).toThrow(InvalidOptionError)
  expect(add).toThrow(message)
  expect(sim.faults.list()).toEqual([])
})

test('all problems are reported, over HTTP with the field and the nearest known key', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const unknownKey = await ask('POST', '/faults', { body: { on: 'api', latencyy: '1s' } })
  expect([unknownKey.status, unknownKey.body.error.message]).toEqual([
    422,
    expect.stringContaining('did you mean latency?'),
  ])
  const { body } = await ask('POST', '/faults', {
    body: { on: 'api', delay: '1', drop: 'after', reset: true, times: 0 },
  })
  const fields = body.error.issues.map(({ field }: { field: string }) => field)
  expect(fields).toEqual(expect.arrayContaining(['delay', 'reset', 'times']))
  expect(server.faults.list()).toEqual([])
})

test('a fault of an unknown chat is refused', async () => {
  await using server = await startSimulator({ port: 0 })
  const { id } = await server.chat({ id: 'chat-1' })
  const fault = { on: 'api', chat_id: 'chat-2', reset: true } as const
  const reply = await createControlClient(server)('POST', '/faults', { body: fault })
  const error = { code: 'chat_not_found', issues: [{ field: 'chat_id', allowed: [id] }] }
  expect([reply.status, reply.body.error]).toMatchObject([404, error])
  expect(() => server.faults.add(fault)).toThrow('chat_id "chat-2" is not a chat; did you mean chat-1?')
  expect(server.faults.add({ ...fault, chat_id: id })).toMatchObject({ chat_id: id, hits: 0 })
})

test('a name that another fault has is refused, and an unknown one cannot be cleared', () => {
  const { faults } = createSimulator()
  expect(() => faults.clear('a')).toThrow('There is no fault "a": none is set.')
  const add = () => faults.add({ name: 'a', on: 'api', reset: true })
  add()
  expect(add).toThrow('name "a" is taken: choose another one, or clear that fault first.')
  expect(() => faults.clear('b')).toThrow('There is no fault "b": there are a.')
  expect(faults.clear('a')).toMatchObject([{ name: 'a' }])
  expect(add).not.toThrow()
})

test('an invalid signature is refused while signing is off', () => {
  const { faults } = createSimulator({ knobs: { 'webhook.signature': 'off' } })
  expect(() => faults.add({ on: 'webhook', sign: 'hex' })).toThrow('webhook.signature is off')
})
