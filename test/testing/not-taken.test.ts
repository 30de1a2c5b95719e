/** A webhook that did not take what the user did: an expectation that fails for it says so, and why. */
import { runInNewContext } from 'node:vm'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromNode } from '../../src/index.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { shouting, simulatorWith } from './desk.ts'

const messageOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Error)
  return (error as Error).message.replace(/\s+/g, ' ')
}

const SHORT = { within: '5ms' } as const

describe('an expectation that nothing can meet', () => {
  it('names what the webhook function threw, and where', async () => {
    const { sim } = simulatorWith(() => {
      throw new TypeError('no conversation yet')
    })
    const ada = await sim.chat()
    await ada.press('handover')
    expect(await messageOf(ada.expectCall('start', {}, SHORT))).toMatch(
      /The webhook did not accept REQUESTING TAKEOVER: .* the webhook function threw: no conversation yet at \S+not-taken\.test\.ts:\d+:\d+/,
    )
  })

  it('shows the text of an HTML error page', async () => {
    const sim = createSimulator({ webhook: fromNode(express()) })
    const ada = await sim.chat()
    await ada.press('handover')
    const message = await messageOf(ada.expectCall('start', {}, SHORT))
    expect(message).toMatch(/REQUESTING TAKEOVER: answered 404 after \S+ \S+: Cannot POST \/webhook /)
  })

  it('ends each sentence of a hint', async () => {
    const { sim } = simulatorWith(() => {
      throw new TypeError('no conversation yet')
    })
    const ada = await sim.chat()
    await ada.press('handover')
    const message = await messageOf(ada.expectCall('start', {}, SHORT))
    expect(message).toMatch(/:\d+:\d+\. No call reached the simulator/)
  })

  it('distinguishes a connection failure inside the function from one to the function', async () => {
    const { sim } = simulatorWith(() => {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('getaddrinfo ENOTFOUND desk.example.test'), { code: 'ENOTFOUND' }),
      })
    })
    const ada = await sim.chat()
    const { ack } = await ada.press('handover')
    expect(ack?.error).toMatch(
      /^the webhook function threw: fetch failed: getaddrinfo ENOTFOUND desk\.example\.test at \S+$/,
    )
  })

  it.each([
    [
      'of another realm',
      runInNewContext('new TypeError("no chat")'),
      /^the webhook function threw: no chat at evalmachine/,
    ],
    ['that is a text', 'no chat', /^the webhook function threw: no chat$/],
    ['that is nothing', undefined, /^the webhook function threw: undefined$/],
    ['with a cause without words', new Error('no chat', { cause: { status: 500 } }), /threw: no chat at \S+$/],
  ])('takes an error %s', async (_, error, expected) => {
    const { sim } = simulatorWith(() => {
      throw error
    })
    const { ack } = await (await sim.chat()).press('handover')
    expect(ack?.error).toMatch(expected)
  })

  it('accepts the Response of a polyfill', async () => {
    const polyfilled = { status: 200, headers: new Map(), bodyUsed: false, text: async () => 'ok' }
    const sim = createSimulator({ webhook: { fetch: () => polyfilled as unknown as Response } })
    onTestFinished(() => sim.close())
    expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 200 })
  })

  it('reports an earlier answer', async () => {
    const ok = new Response('ok')
    const { sim } = simulatorWith(() => ok)
    const ada = await sim.chat()
    await ada.press('handover')
    const { ack } = await ada.press('handover')
    expect(ack?.error).toBe(
      'the webhook function returned a Response whose body was read before: it has to make a new one each time',
    )
  })

  it('reports that there is no webhook', async () => {
    const sim = createSimulator()
    onTestFinished(() => sim.close())
    const ada = await sim.chat()
    await ada.press('handover')
    const message = await messageOf(ada.expectCall('start', {}, SHORT))
    expect(message).toContain('The webhook did not accept REQUESTING TAKEOVER: not sent: no webhook URL is set')
  })

  it('also explains a missing inbox item', async () => {
    const agent = { inbox: () => [] }
    const { sim } = simulatorWith(
      (event, call) =>
        event.event === 'MESSAGE FROM USER' ? new Response('no agent', { status: 500 }) : shouting(event, call),
      { agent },
    )
    const ada = await sim.chat()
    await ada.press('handover')
    await ada.expectCall('start')
    await ada.says('Hello')
    expect(await messageOf(ada.expectAgentSees('Hello', SHORT))).toMatch(
      /The webhook did not accept MESSAGE FROM USER: answered 500 after [\d.]+ m?s: no agent/,
    )
  })

  it('adds nothing for acknowledged events and for other chats', async () => {
    const { sim } = simulatorWith(({ chat }) => (chat.id === 'other' ? new Response('', { status: 500 }) : undefined))
    const [ada, other] = [await sim.chat(), await sim.chat({ id: 'other' })]
    await ada.press('handover')
    await other.press('handover')
    expect(await messageOf(ada.expectCall('start', {}, SHORT))).not.toContain('did not accept')
  })
})
