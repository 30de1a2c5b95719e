import { expect, it } from 'vitest'
import { AGENT, lastMessage, transcriptLines } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

const BUTTONS = [
  { label: 'Opening hours' },
  { label: 'Our shop', url: 'https://shop.example.test' },
  { label: 'Get me a person', handover: true },
]
const REPLIES = [
  { match: 'parcel', text: 'Which order is it?', buttons: BUTTONS },
  { match: 'opening hours', text: 'Nine to five.' },
]
const HELLO = 'bot: Hi there! What can I help you with?'

it.each([
  ['en', 'Talk to a person'],
  ['nb', 'Snakk med et menneske'],
  ['nn', 'Snakk med et menneske'],
  ['de-AT', 'Mit einer Person sprechen'],
  ['ar', 'التحدث إلى موظف'],
  ['sv-SE', 'Prata med en människa'],
  ['fi', 'Puhu ihmiselle'],
  ['cy', 'Talk to a person'],
])('W3 in %s an unsure bot offers the button %s, which asks for an agent', async (language, label) => {
  const { hook, chat } = await setUpChat({ chat: { language } })
  await chat.says('???')
  expect(lastMessage(chat).buttons).toEqual([{ label, handover: true }])
  await chat.press(label)
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
})

it('W1 W3 EV3 ST2 ST4 the first configured reply that matches answers, and its buttons act', async () => {
  const { sim, hook, chat } = await setUpChat({ bot: { replies: REPLIES } })
  await chat.says('WHERE is my Parcel? And your opening hours?')
  expect(lastMessage(chat)).toMatchObject({ from: 'bot', text: 'Which order is it?', buttons: BUTTONS })
  await expect(chat.press('Refund')).rejects.toThrow('"handover", "Opening hours", "Our shop", "Get me a person"')
  expect(sim.journal.query({ kind: 'user' })).toHaveLength(1)

  const before = chat.view()
  await chat.press('Our shop')
  const opened = { note: 'link_opened', url: 'https://shop.example.test' }
  expect(sim.journal.query({ kind: 'note' }).at(-1)).toMatchObject(opened)
  expect(chat.view()).toEqual(before)

  await chat.press('Get me a person')
  expect([chat.status, hook.events()]).toEqual(['pending', ['REQUESTING TAKEOVER']])
  expect(sim.journal.query({ kind: 'user' }).at(-1)).toMatchObject({ action: 'press', button: 'Get me a person' })

  await chat.says('parcel')
  await chat.press('Opening hours')
  expect(transcriptLines(chat).slice(-2)).toEqual(['user: Opening hours', 'bot: Nine to five.'])
})

it('ST11 a button of an agent message sends its label to the agent', async () => {
  const { api, hook, chat } = await setUpHandover()
  const buttons = [{ label: 'Yes' }, { label: 'No' }]
  await api.message({ chat_id: chat.id, message: 'Is it solved?', sender: AGENT, buttons })
  await chat.press('Yes')
  expect(hook.payloadsOf('MESSAGE FROM USER').map(({ message }) => message)).toEqual(['Yes'])
})

it('ST2 bot.delay delays the answers of the bot on the clock of the simulator, in the order of the messages', async () => {
  const { sim, chat } = await setUpChat({ bot: { replies: REPLIES }, knobs: { 'bot.delay': '2s' } })
  await chat.says('parcel')
  await sim.clock.advance('1s')
  for (const text of ['hello', 'opening hours']) await chat.says(text)
  expect(transcriptLines(chat)).toEqual(['user: parcel', 'user: hello', 'user: opening hours'])
  await sim.clock.advance('1s')
  expect(transcriptLines(chat).slice(3)).toEqual(['bot: Which order is it?'])
  await sim.clock.advance('1s')
  expect(transcriptLines(chat).slice(4)).toEqual([HELLO, 'bot: Nine to five.'])
})

it.each([
  ['nb', 'Tusen takk!', 'Bare hyggelig! Ha en fin dag.'],
  ['de', 'danke', 'Gern geschehen! Ich wünsche Ihnen einen schönen Tag.'],
  ['en', 'thanks, but where is it?', 'I am not sure I got that. Shall I find a colleague for you?'],
])('ST2 thanks are answered in %s, a question after them is not taken for thanks', async (language, said, answer) => {
  const { chat } = await setUpChat({ chat: { language } })
  await chat.says(said)
  expect(lastMessage(chat).text).toBe(answer)
})

it('ST3 ST12 a delayed answer is dropped when an agent takes over', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'bot.delay': '2s' } })
  await chat.says('hello')
  await api.start({ chat_id: chat.id, sender: AGENT })
  await sim.clock.advance('1h')
  expect(transcriptLines(chat)).toEqual(['user: hello', 'bot: Kari has joined the chat.'])
})

it('ST12 after the end the bot does not answer messages that were written to the agent', async () => {
  const { sim, api, chat } = await setUpHandover({ knobs: { 'bot.delay': '2s' } })
  await chat.says('hello')
  await api.end({ chat_id: chat.id })
  const before = chat.view()
  await sim.clock.advance('1h')
  expect(chat.view()).toEqual(before)
})

it('ST2 a message needs a text or a file', async () => {
  const { chat } = await setUpChat()
  await expect(chat.says('')).rejects.toThrow('text or at least one attachment')
  expect(chat.transcript).toEqual([])
})
