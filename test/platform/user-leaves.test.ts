/** The user closes or deletes a chat and comes back: what calls then get, what the webhook hears, and what the journal has. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { transcriptLines } from '../support/chats.ts'
import { post, sends, setUpChat, setUpHandover, transcript } from '../support/test-simulator.ts'

const notesOf = ({ journal }: PlatformSimulator, { id }: ChatHandle, name: string) =>
  journal.query({ kind: 'note', chatId: id }).filter(({ note }) => note === name)

it('ST15 R-REC a closed chat is inactive, and stays taken over until end; no event is sent', async () => {
  const { sim, hook, api, chat } = await setUpHandover()
  const { deliveryId, messageId, ack } = await chat.closes()
  expect([deliveryId, messageId, ack]).toEqual([null, null, null])
  expect(chat.view()).toMatchObject({ active: false, status: 'agent' })
  expect((await api.chat(chat.id)).body.chat).toMatchObject({ active: false, taken_over: true })
  const said = await api.message({
    chat_id: chat.id,
    message: 'Are you there?',
    sender: { name: 'Kari', avatar: 'https://a.test/k.png' },
  })
  expect([said.status, said.headers.get('x-handover-sim-unspecified')]).toEqual([200, 'chat.closed'])
  // Only the user comes back.
  expect(chat.view().active).toBe(false)
  expect((await api.end({ chat_id: chat.id })).status).toBe(200)
  expect(chat.status).toBe('bot')
  expect(hook.events()).toEqual([])
  expect(notesOf(sim, chat, 'chat_ended')).toMatchObject([{ why: 'closed', handover: 'kept' }])
})

it('ST11 a message into a closed chat reopens it, and goes to the agent who has it', async () => {
  const { sim, hook, chat } = await setUpHandover()
  await chat.closes()
  await chat.says('One more thing')
  expect(chat.view()).toMatchObject({ active: true, status: 'agent' })
  expect(hook.received.at(-1)?.json).toMatchObject({ event: 'MESSAGE FROM USER', message: 'One more thing' })
  expect(notesOf(sim, chat, 'chat_reopened')).toHaveLength(1)
})

it('ST4 a press in a closed chat reopens it', async () => {
  const { hook, chat } = await setUpChat()
  await chat.closes()
  await chat.press('handover')
  expect(chat.view()).toMatchObject({ active: true, status: 'pending' })
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it.each(['closes', 'deletes'] as const)(
  'ST11 with chat.reopens=off, what a user does after %s is lost',
  async leave => {
    const { sim, hook, chat } = await setUpHandover({ knobs: { 'chat.reopens': 'off' } })
    await chat[leave]()
    const before = transcriptLines(chat)
    expect(await chat.says('In the old tab')).toMatchObject({ messageId: null, deliveryId: null })
    await chat.press('handover')
    expect(transcriptLines(chat)).toEqual(before)
    expect(chat.view().active).toBe(false)
    expect(hook.events()).toEqual([])
    const acts = sim.journal.query({ kind: 'user' }).map(({ action, message_id }) => [action, message_id])
    expect(acts.slice(1)).toEqual([
      ['message', null],
      ['press', null],
    ])
  },
)

it('E1 E9 a deleted chat is gone for every call, and the handover is over', async () => {
  const { sim, api, chat } = await setUpHandover()
  await chat.says('My secret', { attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 1 }] })
  await chat.deletes()
  expect(chat.view()).toMatchObject({ active: false, status: 'bot', messages: [] })
  for (const name of ['transcript', 'summarize', 'start', 'message', 'end', 'typing_start', 'typing_stop']) {
    const { status, json } = await post(sim, name, chat, name === 'message' ? { message: 'Hi' } : {})
    expect([name, status, json.error.code, json.error.field]).toEqual([name, 404, 'user_left', 'chat_id'])
    expect(json.error.message).toBe(`The user has deleted the chat "${chat.id}".`)
  }
  expect((await api.chat(chat.id)).status).toBe(404)
})

it('E1 a deleted chat in which the user writes again has only what came since', async () => {
  const { sim, chat } = await setUpHandover()
  await chat.says('My secret')
  await chat.deletes()
  await chat.says('hello')
  const { active, messages } = await transcript(sim, chat)
  expect([active, messages.map(({ message }: { message: string }) => message)[0]]).toEqual([true, 'hello'])
  expect(chat.status).toBe('bot')
  expect((await post(sim, 'start', chat)).status).toBe(200)
})

it.each([
  ['closed', { 'chat.closed': '404' }, 'closes'],
  ['deleted', {}, 'deletes'],
] as const)('ER1 a refused call for a chat that is %s rests on its assumption', async (word, knobs, leave) => {
  const { sim, chat } = await setUpHandover({ knobs })
  await chat[leave]()
  const refused = await sends(sim, chat, 'Hi')
  expect(refused.headers.get('x-handover-sim-unspecified')).toBe(`chat.${word}, errors.body`)
})

it('E1 with chat.closed=404, the transcript of a closed chat is still there', async () => {
  const { sim, chat } = await setUpHandover({ knobs: { 'chat.closed': '404' } })
  await chat.closes()
  expect((await post(sim, 'transcript', chat)).status).toBe(200)
  expect((await transcript(sim, chat)).active).toBe(false)
})

it('ST2 the answer of the bot does not reach a user who has closed the chat', async () => {
  const { sim, chat } = await setUpChat({ clock: 'virtual', knobs: { 'bot.delay': '2s' } })
  await chat.says('hello')
  await chat.closes()
  await sim.clock.advance('1m')
  expect(transcriptLines(chat)).toEqual(['user: hello'])
})

it('E7 a closed handover that ends by itself hides the typing indicator', async () => {
  const { sim, chat } = await setUpHandover({ knobs: { 'chat.closed': 'ended' } })
  await post(sim, 'typing_start', chat)
  await chat.closes()
  expect(chat.typing).toBe(false)
  expect(notesOf(sim, chat, 'chat_ended')).toMatchObject([{ handover: 'ended' }])
})

it('W1 a snapshot keeps that the user has left', async () => {
  const { sim, chat } = await setUpHandover()
  await chat.deletes()
  const snapshot = sim.snapshot()
  const other = createSimulator()
  await other.restore(snapshot)
  expect((await post(other, 'end', chat)).status).toBe(404)
  await other.close()
})

it('R-REC the messages that a user deletes free their memory, and the others are evicted in their order', async () => {
  const { sim, chat } = await setUpChat({ memoryLimit: 65_536 })
  const other = await sim.chat()
  const write = async (to: ChatHandle, count: number) => {
    for (let i = 1; i <= count; i++) await to.says(`${i} ${'x'.repeat(9_000)}`)
  }
  const numbersOf = ({ transcript: shown }: ChatHandle) =>
    shown.filter(({ from }) => from === 'user').map(({ text }) => text[0])
  await write(chat, 3)
  await chat.deletes()
  await write(other, 2)
  await write(chat, 4)
  expect([numbersOf(other), numbersOf(chat)]).toEqual([
    ['1', '2'],
    ['1', '2', '3', '4'],
  ])
  await write(other, 1)
  expect([numbersOf(other), numbersOf(chat)]).toEqual([
    ['2', '1'],
    ['1', '2', '3', '4'],
  ])
})

const ACTS = [
  'says',
  'press',
  'closes',
  'deletes',
  'start',
  'message',
  'typing_start',
  'end',
  'time',
  'restore',
] as const

const conditions = fc.record({
  'chat.closed': fc.constantFrom('kept', 'ended', '404'),
  'chat.deleted': fc.constantFrom('404', 'empty'),
  'chat.reopens': fc.constantFrom('on', 'off'),
  'chat.idleTimeout': fc.constantFrom('off', '30m'),
} as const)

it('ST1 in any order of acts and calls, the state is one that the description and the assumptions allow', async () => {
  await fc.assert(
    fc.asyncProperty(conditions, fc.array(fc.constantFrom(...ACTS), { maxLength: 25 }), async (knobs, acts) => {
      const sim = createSimulator({ clock: 'virtual', knobs })
      const chat = await sim.chat()
      let status: string = 'bot'
      let left: 'closed' | 'deleted' | null = null
      for (const act of acts) {
        const before = chat.transcript.length
        if (act === 'time') await sim.clock.advance('20m')
        else if (act === 'restore') await sim.restore(sim.snapshot())
        else if (act === 'closes' || act === 'deletes') {
          await chat[act]()
          if (act === 'deletes' || left === null) left = left === 'deleted' || act === 'deletes' ? 'deleted' : 'closed'
          if (knobs['chat.closed'] !== 'kept' || (left === 'deleted' && knobs['chat.deleted'] === '404')) status = 'bot'
          if (act === 'deletes' && left === 'deleted') expect(chat.transcript.length).toBeLessThanOrEqual(before)
        } else if (act === 'says' || act === 'press') {
          const isLost = left !== null && knobs['chat.reopens'] === 'off'
          if (act === 'says') await chat.says('Hello there')
          else await chat.press('handover')
          if (isLost) expect(chat.transcript).toHaveLength(before)
          else left = null
          if (act === 'press' && !isLost && status === 'bot') status = 'pending'
        } else {
          const reply = await post(sim, act, chat, act === 'message' ? { message: 'Hi', sender: { name: 'K' } } : {})
          const isGone =
            (left === 'deleted' && knobs['chat.deleted'] === '404') || (left !== null && knobs['chat.closed'] === '404')
          expect([act, reply.status]).toEqual([act, isGone ? 404 : 200])
          if (!isGone && act === 'start') status = 'agent'
          if (!isGone && act === 'end' && status === 'agent') status = 'bot'
        }
        expect([act, chat.status]).toEqual([act, status])
        if (left !== null) expect(chat.view().active).toBe(false)
      }
      await sim.close()
    }),
    { numRuns: 150 },
  )
})
