import { expect, test } from 'vitest'
import { openWorkspace } from './workspace.js'

test('a user who asks for an agent is greeted', async () => {
  const { sim } = await openWorkspace()
  const { chat_id } = await sim('POST', '/chats', { language: 'en' })
  await sim('POST', `/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
  await sim('GET', `/wait?call=message&chat_id=${chat_id}&status=200`)
  const chat = await sim('GET', `/chats/${chat_id}`)
  expect(chat.status).toBe('agent')
  expect(chat.messages.at(-1)).toMatchObject({ from: 'agent', name: 'Kari', text: 'Hello, how can I help?' })
})

test.each([1, 2, 3])('concurrent tests do not share chats (%i)', { concurrent: true }, async number => {
  const { sim } = await openWorkspace()
  const { chat_id } = await sim('POST', '/chats', { id: 'the-same-id' })
  for (let count = 0; count < number; count++) await sim('POST', `/chats/${chat_id}/messages`, { text: 'Hello' })
  const { messages } = await sim('GET', `/chats/${chat_id}`)
  expect(messages.filter(({ from }) => from === 'user')).toHaveLength(number)
})
