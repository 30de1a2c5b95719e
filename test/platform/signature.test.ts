import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { inProcess, setUp, setUpChat } from '../support/test-simulator.ts'

const FORMS = ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'] as const
const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64')

it.each(FORMS)('A4 WH6 the HMAC of a %s body verifies with the API key over the raw bytes', async form => {
  const { sim, hook, chat } = await setUpChat({
    knobs: { 'webhook.json': form, 'keys.handover': 'k3y!~' },
    chat: { language: 'nb' },
  })
  await chat.press('handover')
  const { headers, text } = hook.received[0]!
  expect(headers.get('kindly-hmac')).toBe(sign(sim.apiKey, text))
  expect(headers.get('kindly-hmac-algorithm')).toBe('HMAC-SHA-256 (base64 encoded)')
})

it('A4 WH6 other bytes or another key do not verify', async () => {
  const { sim, hook } = await setUp()
  await (await sim.chat()).press('handover')
  const { headers, text } = hook.received[0]!
  expect(headers.get('kindly-hmac')).not.toBe(sign(sim.apiKey, `${text} `))
  expect(headers.get('kindly-hmac')).not.toBe(sign(sim.botApiKey, text))
})

it('A4 a new key signs from the next event on', async () => {
  const { sim, hook, chat } = await setUpChat()
  await chat.press('handover')
  await sim.configure({ 'keys.handover': 'new-key' })
  await chat.press('handover')
  const [, second] = hook.received
  expect(second?.headers.get('kindly-hmac')).toBe(sign('new-key', second!.text))
})

it('A4 events of a further bot are signed with its own key', async () => {
  const { sim, hook } = await setUp(inProcess, { knobs: { 'keys.more': ['second-key:2002'] } })
  await (await sim.chat({ botId: 2002 })).press('handover')
  const { headers, text, payload } = hook.received[0]!
  expect(payload).toMatchObject({ bot: { id: 2002 } })
  expect(headers.get('kindly-hmac')).toBe(sign('second-key', text))
})

it('A4 webhook.signature=off sends no signature', async () => {
  const { sim, hook } = await setUp(inProcess, { knobs: { 'webhook.signature': 'off' } })
  await (await sim.chat()).press('handover')
  expect([...hook.received[0]!.headers.keys()].filter(name => name.includes('hmac'))).toEqual([])
})
