/** Tests that errors of the simulator itself, in work that no caller waits for, are journaled and survived. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createRealClock, createVirtualClock } from '../../src/base/runtime/clock.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import { coreOf } from '../../src/platform/simulator/simulator.ts'
import { createNodeAdapter } from '../../src/server/http.ts'
import { createTestSimulator } from '../support/test-simulator.ts'

const bug = () => {
  throw Object.assign(new Error('broken'), { code: 'ERR_BROKEN' })
}

test('a delivery that cannot be built fails with a code, and later deliveries arrive', async () => {
  const { sim, hook } = createTestSimulator()
  const { keyring } = coreOf(sim).access
  const { signingKey } = keyring
  const chat = await sim.chat()
  Object.assign(keyring, { signingKey: bug })
  expect((await chat.press('handover')).ack).toMatchObject({ status: null })
  Object.assign(keyring, { signingKey })
  expect((await chat.press('handover')).ack).toMatchObject({ status: 200 })
  expect(sim.deliveries).toMatchObject([{ failure: { code: 'internal_error' } }, { outcome: 'delivered' }])
  const note = { note: 'internal_error', where: 'delivery', code: 'ERR_BROKEN', message: 'broken' }
  expect(sim.journal.query({ kind: 'note' })).toContainEqual(expect.objectContaining(note))
  expect(hook.received).toHaveLength(1)
})

test('a deadline that throws does not stop later deadlines', async () => {
  const { sim } = createTestSimulator({ knobs: { 'chat.idleTimeout': '1h' } })
  const chat = await sim.chat()
  const { platform } = coreOf(sim)
  const broken = Object.defineProperty({}, 'active', { set: bug })
  platform.state.chats.set('broken', broken as never)
  platform.state.deadlines.set('idle broken', sim.clock.now() + 1000, { kind: 'idle', chatId: 'broken' })
  coreOf(sim).committer.commitEffects([], null)
  await sim.clock.advance('2h')
  platform.state.chats.delete('broken')
  expect(sim.journal.query({ kind: 'note' }).map(({ note }) => note)).toEqual([
    'chat_created',
    'internal_error',
    'chat_ended',
  ])
  expect(chat.status).toBe('bot')
})

test.each([createVirtualClock, createRealClock] as const)('a timer that throws calls onThrown: %s', async create => {
  const thrown: unknown[] = []
  const onThrown = (error: unknown) => void thrown.push(error)
  const clock = create === createRealClock ? createRealClock(onThrown) : createVirtualClock(0, onThrown)
  const fired = new Promise<void>(resolve => {
    clock.after(1, bug)
    clock.after(5, resolve)
  })
  if (clock.mode === 'virtual') await clock.advance(10, async () => {})
  await fired
  expect(thrown).toMatchObject([{ code: 'ERR_BROKEN' }])
})

test('a slow answer that cannot be sent is answered with an internal error', async () => {
  const thrown: unknown[] = []
  const wire = { kind: 'slow', overMs: 1, stop: new AbortController().signal } as const
  const answer = () => ({ status: 200, headers: { 'x-name': 'a\nb' }, body: 'x', wire })
  const server = createServer(
    createNodeAdapter(
      answer,
      () => 1000,
      error => thrown.push(error),
    ),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect([response.status, response.headers.get(INTERNAL_HEADER)]).toEqual([500, '1'])
  expect(thrown).toMatchObject([{ code: 'ERR_INVALID_CHAR' }])
})
