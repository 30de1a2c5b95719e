/** When a delivery is tried, how long it may take, in which order it goes. */
import { expect, test } from 'vitest'
import { gate, post, takenOver, world } from './support.ts'

const attempts = (sim: ReturnType<typeof world>['sim']) => sim.deliveries.map(one => [one.attempt, one.outcome])

test('webhook.retry: sends no retry, or one after each delay', async () => {
  const { sim, inbox } = world({}, () => new Response('no', { status: 500 }))
  const chat = await takenOver(sim)
  await chat.says('Lost')
  await sim.clock.advance('24h')
  expect(attempts(sim)).toEqual([[1, 'failed']])
  expect(chat.status).toBe('agent')

  await sim.configure({ 'webhook.retry': ['1s', '5s'] })
  await chat.says('Tried three times')
  await sim.clock.advance('6s')
  expect(attempts(sim).slice(1)).toEqual([
    [1, 'failed'],
    [2, 'failed'],
    [3, 'failed'],
  ])
  expect(inbox).toHaveLength(4)
})

test('webhook.timeout: a slow receiver succeeds within 10 s and fails within 20 ms', async () => {
  const release = gate()
  const { sim, arrived } = world({}, async () => release.opened.then(() => new Response('late')))
  const [patient, hasty] = [await takenOver(sim), await takenOver(sim)]
  const waiting = patient.says('Take your time')
  await arrived(1)
  await sim.configure({ 'webhook.timeout': '20ms' })
  const { ack } = await hasty.says('Quick!')
  expect(ack).toMatchObject({ status: null, error: 'timeout: no complete answer within 20 ms' })
  release.open()
  expect((await waiting).ack).toMatchObject({ status: 200 })
})

const moved = () =>
  world({}, ({ url }) =>
    url.endsWith('/new') ? new Response('ok') : new Response(null, { status: 307, headers: { location: '/new' } }),
  )

test('webhook.redirect: fail does not follow a redirect, follow sends the same bytes to its target', async () => {
  const { sim, inbox } = moved()
  const chat = await takenOver(sim)
  const failed = await chat.says('Hi')
  expect(failed.ack).toMatchObject({ status: 307, error: expect.stringContaining('redirects are not followed') })
  await sim.configure({ 'webhook.redirect': 'follow' })
  const followed = await chat.says('Hi')
  expect(followed.ack).toEqual({ status: 200, durationMs: expect.any(Number) })
  expect(inbox.map(one => new URL(one.url).pathname)).toEqual(['/webhook', '/webhook', '/new'])
  expect(inbox[2]!.text).toBe(inbox[1]!.text)
  expect(inbox[2]!.headers.get('kindly-hmac')).toBe(inbox[1]!.headers.get('kindly-hmac'))
})

/** Seven messages while the receiver holds the first one back, then the order in which it got them. */
async function orderOfArrival(order: 'chat' | 'none' | 'shuffle', seed = 1): Promise<string[]> {
  const first = gate()
  const { sim, inbox } = world({ seed, knobs: { 'webhook.order': order } }, async ({ json }) => {
    if (json.message === 'm1') await first.opened
    return new Response('ok')
  })
  const chat = await takenOver(sim)
  const sent = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'].map(text => chat.says(text))
  const early = order === 'none' ? sent.slice(1) : []
  await Promise.all(early)
  const before = inbox.map(one => one.json.message)
  if (order === 'none') expect(before.toSorted()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'])
  else expect(before.slice(1)).toEqual([])
  first.open()
  await Promise.all(sent)
  return inbox.map(one => one.json.message)
}

test('webhook.order: chat is first in, first out; none sends without waiting; shuffle is another order', async () => {
  const inOrder = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7']
  expect(await orderOfArrival('chat')).toEqual(inOrder)
  await orderOfArrival('none')
  const shuffled = await orderOfArrival('shuffle')
  expect(shuffled).not.toEqual(inOrder)
  expect(shuffled.toSorted()).toEqual(inOrder)
})

test('webhook.order: shuffle follows the seed', async () => {
  const [once, again, other] = [
    await orderOfArrival('shuffle', 1),
    await orderOfArrival('shuffle', 1),
    await orderOfArrival('shuffle', 2),
  ]
  expect(again).toEqual(once)
  expect(other).not.toEqual(once)
})

test('webhook.order: changed while running, the next event no longer waits', async () => {
  const first = gate()
  const { sim, events, arrived } = world({}, async () => first.opened.then(() => new Response('ok')))
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat)
  await arrived(1)
  await sim.configure({ 'webhook.order': 'none' })
  await post(sim, 'typing_stop', chat)
  await arrived(2)
  expect(sim.deliveries).toEqual([])
  expect(events()).toEqual(['AGENT TYPING START', 'AGENT TYPING STOP'])
  first.open()
})
