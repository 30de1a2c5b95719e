import { expect, it } from 'vitest'
import type { SummaryInput } from '../../src/platform/rules/engines.ts'
import { AGENT } from '../support/chats.ts'
import { setUpChat } from '../support/test-simulator.ts'

const users = (...texts: string[]) => texts.map(user => ({ user }))
const LONG = users('My parcel has not arrived yet.', 'Order 100-48213.')

it('E2.1 E2.2 E2.3 EV11 W8 summarize answers SUMMARIZED with chat_id and summary', async () => {
  const { api, chat } = await setUpChat({ chat: { history: LONG } })
  const { status, body } = await api.summarize({ chat_id: chat.id })
  expect(status).toBe(200)
  expect(body).toEqual({ event: 'SUMMARIZED', chat_id: chat.id, summary: expect.any(String) })
  expect(body.summary).toContain('My parcel has not arrived yet.')
  expect(body.summary).toContain('Order 100-48213.')
})

it.each([
  ['no user message', [], 400],
  ['one long user message', ['x'.repeat(100)], 400],
  ['two with 30 characters', ['x'.repeat(15), 'y'.repeat(15)], 400],
  ['two with 31 characters', ['x'.repeat(15), 'y'.repeat(16)], 200],
  ['ten with 30', Array(10).fill('abc'), 400],
  ['ten with 40', Array(10).fill('abcd'), 200],
  ['padding that does not count', ['x'.repeat(15), `  ${'y'.repeat(15)}\n `], 400],
  ['30 emoji of two units each', ['👍'.repeat(15), '👍'.repeat(15)], 400],
  ['31 emoji', ['👍'.repeat(15), '👍'.repeat(16)], 200],
])('E2.4 ER3 L1 L2 %s', async (_, texts, status) => {
  const { api, chat } = await setUpChat({ chat: { history: users(...texts) } })
  const answer = await api.summarize({ chat_id: chat.id })
  expect(answer.status).toBe(status)
  if (status === 400) expect(answer.body.error).toMatchObject({ code: 'precondition_failed', field: 'chat_id' })
})

it('L1 L2 what bot and agent write does not count', async () => {
  const { api, chat } = await setUpChat({ chat: { history: users('short') } })
  await api.start({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'A long message of the agent, much too long.', sender: AGENT })
  const { body } = await api.summarize({ chat_id: chat.id })
  expect(body.error?.message).toContain('it has 1 with 5')
})

it('E2.5 E2.7 W6 the answer waits for the model, which gets the prompt of the workspace', async () => {
  const asked = Promise.withResolvers<SummaryInput>()
  const answer = Promise.withResolvers<string>()
  const summarize = (input: SummaryInput) => {
    asked.resolve(input)
    return answer.promise
  }
  const knobs = { 'summarize.prompt': 'Be brief' }
  const { sim, api, chat } = await setUpChat({ summarize, knobs, chat: { language: 'nb', history: LONG } })
  const pending = api.summarize({ chat_id: chat.id })
  const userMessages = LONG.map(({ user }) => user)
  expect(await asked.promise).toEqual({ chatId: chat.id, language: 'nb', userMessages, prompt: 'Be brief' })
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
  answer.resolve('In short: a parcel.')
  expect((await pending).body.summary).toBe('In short: a parcel.')
})

it('E2.6 two calls return the same text, or different ones with summarize.vary=on', async () => {
  const { sim, api, chat } = await setUpChat({ chat: { history: LONG } })
  const summary = async () => (await api.summarize({ chat_id: chat.id })).body.summary
  expect(await summary()).toBe(await summary())
  await sim.configure({ 'summarize.vary': 'on' })
  expect(await summary()).not.toBe(await summary())
})
