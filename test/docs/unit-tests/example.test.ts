import { afterEach, expect, it } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import '../../../src/testing/vitest/index.ts'
import { createApp } from './app.ts'

const sim = createSimulator({
  webhook: { fetch: request => app.webhook(request) },
  agent: { inbox: () => app.inbox },
})
const app = createApp({ url: sim.baseUrl, key: sim.apiKey, botId: sim.botId, fetch: sim.fetch })

afterEach(async () => {
  await sim.assertClean()
  sim.reset()
})

it('hands a chat over and back', async () => {
  const ada = await sim.chat({ user: { firstName: 'Ada' } })
  await ada.press('handover')
  const start = await ada.expectCall('start', { supports_attachment: true })
  expect(start.body.sender?.name).toBe('Anna')

  await ada.says('Hello')
  await ada.expectAgentSees('Hello')
  await app.reply(ada.id, 'Hi Ada')
  await ada.expectCall('message', { message: /Ada/ })
  expect(ada.transcript.at(-1)).toMatchObject({ from: 'agent', name: 'Anna', text: 'Hi Ada' })

  await app.close(ada.id)
  await ada.expectCall('end')
  await ada.expectNone('message', { for: '0s' })
  expect(ada.status).toBe('bot')
})

it('takes over once, however often the user asks', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  expect(ada).toHaveReceived('start', { sender: { name: expect.any(String) } }, { times: 1 })
  expect(ada).toHaveDelivered('REQUESTING TAKEOVER', { chat: { id: ada.id } })
})
