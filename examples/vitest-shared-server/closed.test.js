import { expect, test } from 'vitest'
import { openWorkspace } from './workspace.js'

test('closed for one test is closed for no other', async () => {
  const { sim } = await openWorkspace('closed')
  await sim('PUT', '/availability', { availability: 'CLOSED' })
  const { chat_id } = await sim('POST', '/chats', {})
  const { delivery_id } = await sim('POST', `/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
  expect(delivery_id).toBe(null)
  expect((await sim('GET', `/chats/${chat_id}`)).status).toBe('bot')
})

test('a state to begin with, put back before each try', async () => {
  const { sim } = await openWorkspace('snapshot')
  const { chat_id } = await sim('POST', '/chats', {})
  const beginning = await sim('GET', '/snapshot')
  for (const text of ['first try', 'second try']) {
    await sim('PUT', '/snapshot', beginning)
    await sim('POST', `/chats/${chat_id}/messages`, { text })
    const { messages } = await sim('GET', `/chats/${chat_id}`)
    expect(messages.filter(({ from }) => from === 'user').map(one => one.text)).toEqual([text])
  }
})
