/** Buttons as the platform's own clients have them, and as the simulator has them: what the user sees, and what a press does. */

import { expect, it } from 'vitest'
import type { Button } from '../../src/platform/contract/schemas.ts'
import { AGENT, lastMessage } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

async function setUpButtons(...buttons: Button[]) {
  const world = await setUpHandover()
  const { api, chat, hook, sim } = world
  await api.message({ chat_id: chat.id, message: 'See here', sender: AGENT, buttons })
  const written = () => hook.payloadsOf('MESSAGE FROM USER').map(({ message }) => message)
  const opened = () =>
    sim.journal.query({ kind: 'note' }).flatMap(({ note, url }) => (note === 'link_opened' ? [url] : []))
  return { ...world, written, opened }
}

it.each<[fields: Button, address: string]>([
  [{ button_type: 'link', value: 'https://shop.example.test/x' }, 'https://shop.example.test/x'],
  [{ button_type: 'EXTERNAL_LINK', value: 'https://shop.example.test/x' }, 'https://shop.example.test/x'],
  [{ type: 'link', value: 'https://shop.example.test/x' }, 'https://shop.example.test/x'],
  [{ button_type: 'link', value: null, url: 'https://shop.example.test/x' }, 'https://shop.example.test/x'],
  [{ button_type: 'phone', value: '+47 22 00 00 00' }, 'tel:+47 22 00 00 00'],
  [{ button_type: 'phone', value: 'tel:+4722000000' }, 'tel:+4722000000'],
  [{ button_type: 'email', value: 'help@example.test' }, 'mailto:help@example.test'],
  [{ url: 'https://shop.example.test/x' }, 'https://shop.example.test/x'],
])('R-BTN a press of %j opens %s and sends nothing', async (fields, address) => {
  const { chat, written, opened } = await setUpButtons({ label: 'Open', ...fields })
  expect(await chat.press('Open')).toMatchObject({ messageId: null, deliveryId: null, ack: null })
  expect([opened(), written()]).toEqual([[address], []])
})

it.each<[fields: Button, text: string]>([
  [{ button_type: 'quick_reply', value: 'yes please' }, 'yes please'],
  [{ type: 'quick_reply', value: 'yes please' }, 'yes please'],
  [{ button_type: 'quick_reply', value: '' }, 'Yes'],
  [{ button_type: 'quick_reply' }, 'Yes'],
  [{ button_type: 'carousel', value: 'card 1' }, 'card 1'],
  [{ value: 'yes please' }, 'yes please'],
  [{ value: 7 }, 'Yes'],
  [{}, 'Yes'],
])('ST11 R-BTN a press of %j writes %j as the user', async (fields, text) => {
  const { chat, written } = await setUpButtons({ label: 'Yes', ...fields })
  await chat.press('Yes')
  expect([written(), lastMessage(chat)]).toMatchObject([[text], { from: 'user', text }])
})

it('R-BTN the user cannot press a button that is not active or has nothing to open, and the error says why', async () => {
  const { sim, chat } = await setUpButtons(
    { button_type: 'quick_reply', label: 'Yes', value: 'yes', is_active: false },
    { button_type: 'phone', label: 'Call', value: '' },
  )
  await expect(chat.press('Yes')).rejects.toThrow('The button "Yes" cannot be pressed: its is_active is false.')
  await expect(chat.press('Call')).rejects.toThrow('The phone button "Call" cannot be pressed: its value is empty.')
  await expect(chat.press('Yess')).rejects.toThrow('There is no button "Yess"; to press: "handover"')
  expect(sim.journal.query({ kind: 'user' })).toEqual([])
})

it('R-BTN buttons are in the order of their index; one without it keeps its place', async () => {
  const { sim, chat } = await setUpButtons(
    { label: 'c', index: 2 },
    { label: 'b' },
    { label: 'a', index: 0 },
    { label: 'd', index: null },
  )
  const labels = () => lastMessage(chat).buttons.map(({ label }) => label)
  expect(labels()).toEqual(['a', 'b', 'c', 'd'])
  await sim.configure({ 'buttons.form': 'own' })
  expect(labels()).toEqual(['c', 'b', 'a', 'd'])
})

it('R-BTN ST22 a button with hide_outside_business_hours is there only while handover is open', async () => {
  const { sim, chat, written } = await setUpButtons(
    { button_type: 'quick_reply', label: 'Chat', value: 'chat', hide_outside_business_hours: true },
    { button_type: 'quick_reply', label: 'Mail', value: 'mail', hide_outside_business_hours: false },
  )
  const labels = () => lastMessage(chat).buttons.map(({ label }) => label)
  expect(labels()).toEqual(['Chat', 'Mail'])
  sim.setAvailability({ availability: 'CLOSED' })
  expect(labels()).toEqual(['Mail'])
  await expect(chat.press('Chat')).rejects.toThrow('There is no button "Chat"')
  sim.setAvailability({ availability: 'OPEN' })
  await chat.press('Chat')
  expect(written()).toEqual(['chat'])
})

it.each([
  ['typed', { button_type: 'quick_reply', label: 'Get me a person', value: 'person', handover: true }],
  ['own', { label: 'Get me a person', handover: true }],
] as const)('W3 EV3 the button of a bot that asks for an agent does so: %s', async (form, button) => {
  const replies = [{ match: 'parcel', text: 'Which one?', buttons: [button] }]
  const { hook, chat } = await setUpChat({ bot: { replies }, knobs: { 'buttons.form': form } })
  await chat.says('parcel')
  await chat.press('Get me a person')
  expect([chat.status, hook.events()]).toEqual(['pending', ['REQUESTING TAKEOVER']])
})

it('R-MSG.5 the transcript has all fields of a button of the bot, and the buttons of an agent as they were sent', async () => {
  const { sim, api, chat } = await setUpChat({
    chat: {
      language: 'nb',
      history: [
        {
          bot: 'Hei',
          buttons: [
            { label: 'Butikk', url: 'https://shop.example.test' },
            { label: 'Person', handover: true, style: 'quiet' },
            { type: 'phone', label: 'Ring', value: '+47 22', is_active: false },
          ],
        },
      ],
    },
  })
  const sent = [{ label: 'Open', url: 'https://a.example.test' }]
  await api.start({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'Se her', sender: AGENT, buttons: sent })
  const read = async () => (await api.chat(chat.id)).body.chat.messages.map(({ buttons }) => buttons)
  const rest = { is_active: true, hide_outside_business_hours: false, language_code: 'nb' }
  const typed = [
    { button_type: 'link', label: 'Butikk', value: 'https://shop.example.test', index: 0, ...rest },
    { button_type: 'quick_reply', label: 'Person', value: 'Person', index: 1, ...rest, style: 'quiet' },
    { button_type: 'phone', label: 'Ring', value: '+47 22', index: 2, ...rest, is_active: false },
  ]
  expect(await read()).toEqual([typed, [], sent])
  await sim.configure({ 'buttons.form': 'own' })
  expect((await read())[0]).toMatchObject([{ url: 'https://shop.example.test' }, { handover: true }, { type: 'phone' }])
  await sim.configure({ 'buttons.form': 'typed' })
  expect(await read()).toEqual([typed, [], sent])
})

const LINK = { button_type: 'link', label: 'Open', value: 'https://a.example.test' }

it.each<[field: string, expected: string, button: Button]>([
  ['label', 'a text, got undefined', { ...LINK, label: undefined }],
  ['label', 'a text, got the string " "', { ...LINK, label: ' ' }],
  [
    'button_type',
    'link, EXTERNAL_LINK, quick_reply, phone or email, got undefined',
    { label: 'Open', url: 'https://a.example.test' },
  ],
  [
    'button_type',
    'link, EXTERNAL_LINK, quick_reply, phone or email, got the string "web"',
    { ...LINK, button_type: 'web' },
  ],
  [
    'type',
    'link, EXTERNAL_LINK, quick_reply, phone or email, got the number 1',
    { label: 'Open', type: 1, value: 'x' },
  ],
  ['value', 'a text that is not empty, got undefined', { ...LINK, value: undefined }],
  ['index', 'a number, got the string "1"', { ...LINK, index: '1' }],
  ['is_active', 'true or false, got the string "yes"', { ...LINK, is_active: 'yes' }],
  ['hide_outside_business_hours', 'true or false, got the number 0', { ...LINK, hide_outside_business_hours: 0 }],
  ['language_code', 'a text, got an array of 1', { ...LINK, language_code: ['nb'] }],
])('R-BTN buttons.schema=strict refuses what no client shows: %s must be %s', async (field, expected, button) => {
  const { sim, api, chat } = await setUpHandover()
  await sim.configure({ 'buttons.schema': 'strict' })
  const send = (...buttons: Button[]) => api.message({ chat_id: chat.id, message: 'x', sender: AGENT, buttons })
  expect(await send(LINK, button)).toMatchObject({
    status: 400,
    body: { error: { field: `buttons[1].${field}`, message: expect.stringContaining(`must be ${expected}: `) } },
  })
  const full = { ...LINK, index: 0, is_active: true, hide_outside_business_hours: false, language_code: null, id: 'b1' }
  expect(await send(full, { type: 'quick_reply', label: 'Yes', value: 'yes' })).toMatchObject({ status: 200 })
})
