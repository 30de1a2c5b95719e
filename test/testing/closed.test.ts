/** A simulator refuses to be used after `close`, with an error that says so. */
import { expect, it } from 'vitest'
import { createSimulator, startSimulator } from '../../src/testing/simulator.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { simulatorWith } from './desk.ts'

const CLOSED = /^Failed to .*: the simulator is closed\. Close it after its last use, or create another one\.$/

it.each(['createSimulator', 'startSimulator'])('every method of %s refuses', async kind => {
  const sim = kind === 'createSimulator' ? createSimulator() : await startSimulator({ port: 0 })
  const { baseUrl, apiKey, fetch } = sim
  const snapshot = sim.snapshot()
  await sim.close()
  await sim.close()
  await sim[Symbol.asyncDispose]()
  expect({ baseUrl: sim.baseUrl, apiKey: sim.apiKey }).toEqual({ baseUrl, apiKey })
  // It rejects and does not throw, so that code with a catch goes on.
  expect(await fetch(baseUrl).catch((error: Error) => error.message)).toMatch(CLOSED)

  const args: Readonly<Record<string, readonly unknown[]>> = {
    fetch: [`${baseUrl}/api/v1/chats/c1`],
    findChat: ['c1'],
    configure: [{ 'typing.webhook': 'off' }],
    setAvailability: [{ availability: 'CLOSED' }],
    restore: [snapshot],
    expectCall: ['availability', {}],
    expectNone: ['availability', { for: '0s' }],
    waitFor: [() => true],
    advance: ['1s'],
  }
  for (const part of [sim, sim.clock, sim.faults]) {
    const functions = Object.entries(part).filter(([name, one]) => typeof one === 'function' && name !== 'close')
    expect(functions.length).toBeGreaterThan(2)
    for (const [name, one] of functions)
      await expect((async () => one(...(args[name] ?? [{}])))(), name).rejects.toThrow(CLOSED)
  }
})

it.each(['reset', 'close'] as const)('chats and matchers refuse after %s', async ending => {
  const { sim } = simulatorWith()
  const ada = await sim.chat()
  await sim[ending]()
  const GONE = /^This chat no longer exists: the simulator was reset or closed after the chat was created/
  await expect(ada.says('Hello')).rejects.toThrow(GONE)
  await expect(ada.press('handover')).rejects.toThrow(GONE)
  await expect(ada.expectCall('start')).rejects.toThrow(GONE)
  await expect(ada.expectNone('start', { for: '0s' })).rejects.toThrow(GONE)
  await expect(ada.waitFor(() => true)).rejects.toThrow(GONE)
  expect(() => matchers.toHaveReceived.call({ isNot: true }, ada, 'start')).toThrow(GONE)
  const received = () => matchers.toHaveReceived.call({ isNot: false }, sim, 'start')
  if (ending === 'close') expect(received).toThrow(CLOSED)
})

it('a workspace that is closed refuses, and its server goes on', async () => {
  await using server = await startSimulator({ port: 0 })
  const cart = await server.workspace({ name: 'cart' })
  await cart.close()
  await expect(cart.chat()).rejects.toThrow(CLOSED)
  expect((await server.chat()).status).toBe('bot')
})
