import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { setUpChat } from '../support/test-simulator.ts'

const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64')

it.each(['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'] as const)(
  'A4 WH6 the HMAC of a %s body verifies with the API key over the raw bytes only',
  async form => {
    const knobs = { 'webhook.json': form, 'keys.handover': 'k3y!~' }
    const { sim, hook, chat } = await setUpChat({ knobs, chat: { language: 'nb' } })
    await chat.press('handover')
    const { headers, text } = hook.received[0]!
    expect(headers.get('kindly-hmac')).toBe(sign(sim.apiKey, text))
    expect(headers.get('kindly-hmac-algorithm')).toBe('HMAC-SHA-256 (base64 encoded)')
    expect(headers.get('kindly-hmac')).not.toBe(sign(sim.apiKey, `${text} `))
    expect(headers.get('kindly-hmac')).not.toBe(sign(sim.botApiKey, text))
  },
)

it('A4 a new key signs from the next event on, and another bot has its own', async () => {
  const { sim, hook, chat } = await setUpChat({ knobs: { 'keys.more': ['second-key:2002'] } })
  await sim.configure({ 'keys.handover': 'new-key' })
  await chat.press('handover')
  await (await sim.chat({ botId: 2002 })).press('handover')
  expect(hook.received.map(({ headers }) => headers.get('kindly-hmac'))).toEqual(
    hook.received.map(({ text }, index) => sign(['new-key', 'second-key'][index]!, text)),
  )
})

it('A4 webhook.signature=off sends no signature', async () => {
  const { hook, chat } = await setUpChat({ knobs: { 'webhook.signature': 'off' } })
  await chat.press('handover')
  expect([...hook.received[0]!.headers.keys()].filter(name => name.includes('hmac'))).toEqual([])
})
