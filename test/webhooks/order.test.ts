/** Delivers the events of a chat in order, while other chats and the API do not wait. */
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { call, gate, post, sends, takenOver, world } from '../knobs/support.ts'
import { receiver, simFor } from './receiver.ts'

/** A receiver whose answers the test releases. */
async function holding() {
  const held: ServerResponse[] = []
  const { url, got, arrived, sockets } = await receiver((_got, response) => held.push(response))
  return { url, got, arrived, sockets, release: (index: number) => held[index]!.end() }
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
  const { url, arrived, release, sockets } = await holding()
  const sim = simFor(url)
  const chats = await Promise.all(Array.from({ length: 300 }, () => sim.chat()))
  const pressed = chats.map(chat => chat.press('handover'))
  await arrived(300)
  expect(sockets()).toBe(300)
  for (const index of chats.keys()) release(index)
  for (const { ack } of await Promise.all(pressed)) expect(ack?.status).toBe(200)
  expect(warnings).toEqual([])
})

test('a chat without answers does not block other chats', async () => {
  const { url, got, arrived, release } = await holding()
  const sim = simFor(url)
  const [slow, quick] = [await takenOver(sim), await takenOver(sim)]
  const waiting = [slow.says('S1'), slow.says('S2')]
  await arrived(1)
  for (const [index, text] of ['Q1', 'Q2', 'Q3'].entries()) {
    const said = quick.says(text)
    await arrived(index + 2)
    release(index + 1)
    await said
  }
  expect(got.map(one => one.json.message)).toEqual(['S1', 'Q1', 'Q2', 'Q3'])
  release(0)
  await arrived(5)
  release(4)
  await Promise.all(waiting)
})

test('no API answer waits for the receiver', async () => {
  const { url, arrived, release } = await holding()
  const sim = simFor(url)
  const chat = await sim.chat({ history: [{ user: 'My parcel has not arrived' }, { user: 'It was due on Monday' }] })
  const pressed = chat.press('handover')
  await arrived(1)
  const answers = [
    await post(sim, 'start', chat),
    await sends(sim, chat, 'Hello'),
    await post(sim, 'typing_start', chat),
    await post(sim, 'typing_stop', chat),
    await post(sim, 'transcript', chat),
    await post(sim, 'summarize', chat),
    await call(sim, '/api/v2/handover/availability', { body: { availability: 'OPEN' } }),
    await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey }),
    await post(sim, 'end', chat),
  ]
  expect(answers.map(answer => answer.status)).toEqual(Array(9).fill(200))
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

test('connections are reused: ten events in a row do not open ten', async () => {
  const { url, got, sockets } = await receiver()
  const chat = await takenOver(simFor(url))
  for (let index = 0; index < 10; index++) await chat.says(`${index}`)
  expect(got).toHaveLength(10)
  expect(sockets()).toBeLessThanOrEqual(2)
})

test('a receiver that closes after each answer gets every event', async () => {
  const { url, got, sockets } = await receiver((_got, response) => response.setHeader('connection', 'close').end())
  const chat = await takenOver(simFor(url))
  for (const text of ['1', '2', '3']) expect((await chat.says(text)).ack).toMatchObject({ status: 200 })
  expect([got.length, sockets()]).toEqual([3, 3])
})
