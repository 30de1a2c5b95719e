/** After a reset, nothing from before arrives, is journaled, or blocks later events. */
import { expect, test } from 'vitest'
import { gate, takenOver, world } from '../support/test-simulator.ts'
import { receiver, simFor } from './receiver.ts'

test('aborts requests without journaling them, and drops waiting events', async () => {
  const closed = gate()
  const { url, got, arrived } = await receiver((_got, response, index) =>
    index === 0 ? response.on('close', closed.open) : response.end(),
  )
  const sim = simFor(url)
  const chat = await takenOver(sim)
  const waiting = [chat.says('In flight'), chat.says('Waiting')]
  await arrived(1)
  sim.reset()
  for (const one of waiting) await expect(one).rejects.toThrow('reset')
  await closed.opened
  await sim.settled()
  expect(sim.journal.query()).toEqual([])
  expect(sim.chats()).toEqual([])

  const fresh = await takenOver(sim)
  await fresh.says('After')
  expect(got.map(one => one.json.message)).toEqual(['In flight', 'After'])
  expect(sim.deliveries.map(one => one.outcome)).toEqual(['delivered'])
})

test('does not call the webhook function for an event from before', async () => {
  const { sim, inbox } = world()
  const said = (await takenOver(sim)).says('Too late').catch(() => {})
  sim.reset()
  await said
  await (await takenOver(sim)).says('After')
  expect(inbox.map(one => one.json.message)).toEqual(['After'])
})

test('ignores an answer that arrives after the reset', async () => {
  const release = gate()
  const { sim, arrived } = world({}, async () => release.opened.then(() => new Response('late')))
  const said = (await takenOver(sim)).says('Old').catch(() => {})
  await arrived(1)
  sim.reset()
  release.open()
  await said
  await sim.settled()
  expect(sim.journal.query()).toEqual([])
})

test('close() aborts requests', async () => {
  const closed = gate()
  const { url, arrived } = await receiver((_got, response) => response.on('close', closed.open))
  const sim = simFor(url)
  const said = (await takenOver(sim)).says('Hello').catch((error: Error) => error.message)
  await arrived(1)
  await sim.close()
  expect(await said).toContain('reset')
  await closed.opened
})

test('does not create a chat whose creation was interrupted', async () => {
  const sim = simFor('http://127.0.0.1:9/')
  const late = sim.chat()
  sim.reset()
  await expect(late).rejects.toThrow('reset')
  expect(sim.chats()).toEqual([])
})
