/** Delivers the events of a chat in order, while other chats and the API do not wait. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { gate, post, takenOver, transcript, world } from '../support/test-simulator.ts'
import { rawServer, receiver, simFor } from './receiver.ts'

/** A receiver whose answers the test releases. */
async function holding() {
  const held: ServerResponse[] = []
  const started = await receiver((_got, response) => held.push(response))
  return { ...started, release: (index: number) => held[index]!.end() }
}

test('the next event of a chat is sent after the answer to the one before', async () => {
  const { url, got, arrived, release } = await holding()
  const sim = simFor(url)
  const chat = await takenOver(sim)
  const sent = ['1', '2', '3'].map(text => chat.says(text))
  for (const index of [0, 1, 2]) {
    await arrived(index + 1)
    expect(got.map(one => one.json.message)).toEqual(['1', '2', '3'].slice(0, index + 1))
    expect(sim.deliveries).toHaveLength(index)
    release(index)
    await sent[index]
  }
})

test('deliveries to 300 chats at a time cause no warning of Node', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => void warnings.push(message)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const { url, arrived, release } = await holding()
  const sim = simFor(url, { knobs: { 'webhook.timeout': '1h' } })
  const chats = await Promise.all(Array.from({ length: 300 }, () => sim.chat()))
  const pressed = chats.map(chat => chat.press('handover'))
  await arrived(300)
  for (const index of chats.keys()) release(index)
  for (const { ack } of await Promise.all(pressed)) expect(ack?.status).toBe(200)
  expect(warnings).toEqual([])
})

test('no API answer waits for the receiver', async () => {
  const { url, arrived, release } = await holding()
  const sim = simFor(url)
  const chat = await sim.chat({ history: [{ user: 'My parcel has not arrived' }, { user: 'It was due on Monday' }] })
  const pressed = chat.press('handover')
  await arrived(1)
  for (const name of [
    'start',
    'message',
    'typing_start',
    'typing_stop',
    'transcript',
    'summarize',
    'availability',
    'end',
  ])
    expect((await post(sim, name, chat, { message: 'Hello', availability: 'OPEN' })).status, name).toBe(200)
  expect((await transcript(sim, chat)).messages.length).toBeGreaterThan(2)
  expect(sim.deliveries).toEqual([])
  release(0)
  expect((await pressed).ack).toMatchObject({ status: 200 })
})

test('a receiver may call the API before it answers', async () => {
  const { sim } = world({}, async ({ json }) => {
    const chat = sim.findChat(json.chat.id)!
    const reply = await post(sim, 'start', chat)
    return new Response(null, { status: reply.status })
  })
  const chat = await sim.chat()
  expect((await chat.press('handover')).ack).toMatchObject({ status: 200 })
  expect(chat.status).toBe('agent')
})

/** For each of three chats: the number of messages; then the order in which the answers are released. */
const plan = fc.record({
  messages: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 15 }),
  picks: fc.array(fc.nat(), { minLength: 15, maxLength: 15 }),
})

test('for any latencies, each chat gets its events in order, each at once after the answer before', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ messages, picks }) => {
      const open: (() => void)[] = []
      const { sim, inbox, arrived } = world({}, async () => {
        const answer = gate()
        open.push(answer.open)
        await answer.opened
        return new Response('ok')
      })
      const chats = [await takenOver(sim), await takenOver(sim), await takenOver(sim)]
      const sent = messages.map((which, index) => chats[which]!.says(`${which}:${index}`))
      for (let done = 0; done < messages.length; done++) {
        await arrived(Math.min(messages.length, done + 1))
        open.splice(picks[done]! % open.length, 1)[0]!()
      }
      await Promise.all(sent)
      for (const which of [0, 1, 2]) {
        const got = inbox.map(one => one.json.message as string).filter(text => text.startsWith(`${which}:`))
        const said = messages.flatMap((chat, index) => (chat === which ? [`${which}:${index}`] : []))
        expect(got).toEqual(said)
      }
    }),
    { numRuns: 20 },
  )
})

test('a receiver that closes after each answer gets every event', async () => {
  const { url, got, sockets } = await receiver((_got, response) => response.setHeader('connection', 'close').end())
  const chat = await takenOver(simFor(url))
  for (const text of ['1', '2', '3']) expect((await chat.says(text)).ack).toMatchObject({ status: 200 })
  expect([got.length, sockets()]).toEqual([3, 3])
})

test('a server that answers twice and breaks kept connections loses no event, and answers no later one', async () => {
  const sockets: Socket[] = []
  const port = await rawServer(socket => {
    // A request on a kept connection is reset, as when its closing crosses the request.
    if (sockets.includes(socket)) return socket.resetAndDestroy()
    sockets.push(socket)
    const answer = (status: string) => `HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`
    socket.write(answer('200 OK') + answer('500 Nobody Asked'))
  })
  const sim = simFor(`http://127.0.0.1:${port}/webhook`)
  const chat = await takenOver(sim)
  for (const text of ['one', 'two', 'three']) await chat.says(text)
  expect(sim.deliveries.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(sockets).toHaveLength(3)
})
