import { expect, test } from 'vitest'
import { openWorkspace } from './workspace.js'

test('closed availability affects only its own workspace', async () => {
  const { sim } = await openWorkspace()
  await sim('PUT', '/availability', { availability: 'CLOSED' })
  const { chat_id } = await sim('POST', '/chats', {})
  const { delivery_id } = await sim('POST', `/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
  expect(delivery_id).toBe(null)
  expect((await sim('GET', `/chats/${chat_id}`)).status).toBe('bot')
})

test('a snapshot restores the initial state', async () => {
  const { sim } = await openWorkspace()
  const { chat_id } = await sim('POST', '/chats', {})
  const initial = await sim('GET', '/snapshot')
  for (const text of ['first run', 'second run']) {
    await sim('PUT', '/snapshot', initial)
    await sim('POST', `/chats/${chat_id}/messages`, { text })
    const { messages } = await sim('GET', `/chats/${chat_id}`)
    expect(messages.filter(({ from }) => from === 'user').map(one => one.text)).toEqual([text])
  }
})
