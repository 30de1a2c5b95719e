/** An expectation that fails because the webhook did not accept an event names the reason. */
import { runInNewContext } from 'node:vm'
import express from 'express'
import { expect, it, onTestFinished } from 'vitest'
import { fromNode, type SimulatorOptions } from '../../src/index.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { failureOf, flat, requestHandover, shouting, simulatorWith } from './desk.ts'

const SHORT = { within: '5ms' } as const

/** Presses the handover button, and returns the answer of the webhook and the failure of an expectation. */
async function failedStart(webhook?: SimulatorOptions['webhook']) {
  const sim = createSimulator(webhook === undefined ? {} : { webhook })
  onTestFinished(() => sim.close())
  const ada = await sim.chat()
  const { ack } = await ada.press('handover')
  return { ack, message: flat(await failureOf(ada.expectCall('start', {}, SHORT))) }
}

const throwing = (error: unknown) => ({ fetch: () => Promise.reject(error) })
const NOT_FOUND = Object.assign(new Error('getaddrinfo ENOTFOUND desk.example.test'), { code: 'ENOTFOUND' })

it.each<[string, SimulatorOptions['webhook'], RegExp]>([
  [
    'threw an error, and where',
    throwing(new TypeError('no desk')),
    /threw: no desk at \S+not-taken\.test\.ts:\d+:\d+\. /,
  ],
  ['answered with an HTML page', fromNode(express()), /: answered 404 after \S+ \S+: Cannot POST \/webhook /],
  ['does not exist', undefined, /: not sent: no webhook URL is set/],
])('names that the webhook %s', async (_, webhook, reason) => {
  const { message } = await failedStart(webhook)
  expect(message).toMatch(/The webhook did not accept REQUESTING TAKEOVER: /)
  expect(message).toMatch(reason)
})

it.each([
  [
    'of a call inside the function',
    new TypeError('fetch failed', { cause: NOT_FOUND }),
    /failed: getaddrinfo .* at \S+$/,
  ],
  ['of another realm', runInNewContext('new TypeError("no chat")'), /^the webhook function threw: no chat at evalm/],
  ['that is a text', 'no chat', /^the webhook function threw: no chat$/],
  ['that is nothing', undefined, /^the webhook function threw: undefined$/],
  ['with a cause without words', new Error('no chat', { cause: { status: 500 } }), /threw: no chat at \S+$/],
])('takes an error %s', async (_, error, expected) => {
  expect((await failedStart(throwing(error))).ack?.error).toMatch(expected)
})

it('accepts the Response of a polyfill', async () => {
  const polyfilled = { status: 200, headers: new Map(), bodyUsed: false, text: async () => 'ok' }
  const { ack } = await failedStart({ fetch: () => polyfilled as unknown as Response })
  expect(ack).toMatchObject({ status: 200 })
})

it('reports a Response that was returned before', async () => {
  const ok = new Response('ok')
  const { ada } = await requestHandover(() => ok)
  expect((await ada.press('handover')).ack?.error).toMatch(/returned a Response whose body was read before/)
})

it('also explains a missing inbox item', async () => {
  const { ada } = await requestHandover(
    (event, call) =>
      event.event === 'MESSAGE FROM USER' ? new Response('no agent', { status: 500 }) : shouting(event, call),
    { agent: { inbox: () => [] } },
  )
  await ada.expectCall('start')
  await ada.says('Hello')
  expect(flat(await failureOf(ada.expectAgentSees('Hello', SHORT)))).toMatch(
    /The webhook did not accept MESSAGE FROM USER: answered 500 after [\d.]+ m?s: no agent/,
  )
})

it('adds nothing for acknowledged events and for other chats', async () => {
  const { sim } = simulatorWith(({ chat }) => (chat.id === 'other' ? new Response('', { status: 500 }) : undefined))
  const [ada, other] = [await sim.chat(), await sim.chat({ id: 'other' })]
  await ada.press('handover')
  await other.press('handover')
  expect(flat(await failureOf(ada.expectCall('start', {}, SHORT)))).not.toContain('did not accept')
})
