/** `waitFor`, `expectAgentSees`, actions that do not wait. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { InboxItem } from '../../src/running/agent-driver/driver.ts'
import { ExpectationError } from '../../src/testing/expectation-error.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { ANNA, requestHandover, shouting, simulatorWith } from './desk.ts'
import { withReference } from './reference.ts'

describe('waitFor', () => {
  it('resolves with the first truthy value', async () => {
    const { sim, call, ada } = await requestHandover()
    const agent = ada.waitFor(chat => chat.status === 'agent')
    const message = ada.waitFor(({ transcript }) => transcript.find(({ from }) => from === 'agent'))
    const calls = sim.waitFor(() => sim.journal.query({ kind: 'api' }).length)
    await call('start', { chat_id: ada.id, sender: ANNA })
    expect([await agent, await calls]).toEqual([true, 1])
    await call('message/', { chat_id: ada.id, message: 'Hi', sender: ANNA })
    expect((await message).text).toBe('Hi')
  })

  it('reports its predicate and the state of the chat', async () => {
    const { ada } = await requestHandover()
    const waiting = ada.waitFor(chat => chat.status === 'agent', { within: '5ms' })
    await expect(waiting).rejects.toBeInstanceOf(ExpectationError)
    await expect(waiting).rejects.toThrow(
      /the chat is with pending, not typing[\s\S]*chat\.status === ['"]agent['"] within 5ms/,
    )
  })

  it('rejects with the error of the predicate, and rejects a promise', async () => {
    const { sim } = simulatorWith()
    const wrong = () => {
      throw new Error('no such thing')
    }
    await expect(sim.waitFor(wrong)).rejects.toThrow('no such thing')
    await expect(sim.waitFor(async () => false)).rejects.toThrow('this one returned a promise')
  })

  it.each(['waitFor', 'expect start', 'assertClean'])('ends with a reset: %s', async what => {
    const answer = Promise.withResolvers<Response>()
    const { sim } = simulatorWith(() => answer.promise)
    const ada = await sim.chat()
    await ada.press('handover', { async: true })
    const wait = { waitFor: () => sim.waitFor(() => false), assertClean: () => sim.assertClean({ settle: '5s' }) }
    const waiting = what in wait ? wait[what as keyof typeof wait]() : ada.expectCall('start', {}, { within: '5s' })
    setImmediate(() => sim.reset())
    await expect(waiting).rejects.toThrow(`Failed to wait for ${what}: the simulator was reset, restored or closed.`)
    answer.resolve(new Response('ok'))
  })
})

describe('expectAgentSees', () => {
  it('claims new inbox items one by one', async () => {
    const { sim, close } = await withReference()
    onTestFinished(close)
    const ada = await sim.chat()
    await ada.press('handover')
    await ada.expectAgentSees({ request: true })
    await ada.says('first, which the bot answers')
    await expect(ada.expectAgentSees('Hello', { within: '10ms' })).rejects.toThrow(/agent sees "Hello" exactly once/)
  })

  it('expects a message once, and reports a second copy', async () => {
    const items: InboxItem[] = []
    const { sim } = simulatorWith(
      async (event, call) => {
        if (event.event === 'MESSAGE FROM USER') items.push({ text: event.message! }, { text: event.message! })
        else await shouting(event, call)
      },
      { agent: { inbox: () => items } },
    )
    const ada = await sim.chat()
    await ada.press('handover')
    await ada.says('Hei')
    await ada.expectAgentSees(/^Hei$/, { times: 2 })
    await expect(ada.expectAgentSees('Hei', { within: '5ms' })).rejects.toThrow(/is\s+already\s+claimed\s+by\s+step/)
    await ada.says('Hopp')
    await expect(ada.expectAgentSees('Hopp', { for: '5ms' })).rejects.toThrow(/saw\s+"Hopp"\s+twice/)
  })

  it('needs an inbox, and reports one that cannot be read', async () => {
    const ada = await createSimulator({ agent: { accept: () => {} } }).chat()
    await expect(ada.expectAgentSees('Hei')).rejects.toThrow(/needs the function agent\.inbox/)
    const inbox = () => {
      throw new Error('no desk')
    }
    const bo = await createSimulator({ agent: { inbox } }).chat()
    await expect(bo.expectAgentSees('Hei', { within: '5ms' })).rejects.toThrow(/threw "no desk"/)
  })
})

describe('an action', () => {
  it('resolves with its seq in the journal, with `async` before the webhook answers', async () => {
    let answer = (_: Response): void => {}
    const { sim } = simulatorWith(() => new Promise<Response>(resolve => (answer = resolve)))
    const ada = await sim.chat()
    const pressed = await ada.press('handover', { async: true })
    expect(pressed).toMatchObject({ ack: null, deliveryId: expect.any(String) })
    expect(sim.journal.find(pressed.seq)).toMatchObject({ kind: 'user', action: 'press' })
    await sim.waitFor(() => answer.length === 1)
    answer(new Response('ok'))
    await sim.settled()
    expect(sim.deliveries.map(({ outcome }) => outcome)).toEqual(['delivered'])
  })
})
