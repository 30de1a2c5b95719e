/** Does over HTTP what docs/how-to/testcontainers.md tells a test to do, without Docker. */
import { expect, it } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { blocks, read } from '../pages.ts'

it('the container is ready at the address of the page, and links begin with a base URL that is set later', async () => {
  await using server = await startSimulator({ port: 0 })
  const path = /Wait\.forHttp\("([^"]+)"\)/.exec(blocks(read('docs/how-to/testcontainers.md'), 'java')[0]!)?.[1]
  expect((await fetch(server.url + path)).status).toBe(200)
  const patch = (base_url: string) => {
    const init = {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ base_url }),
    }
    return fetch(`${server.url}/_sim/config`, init)
  }
  expect((await patch('http://127.0.0.1:49999/')).status).toBe(200)
  const chat = await server.chat()
  await chat.press('handover')
  const [event] = server.journal.query({ kind: 'event' })
  const self = `http://127.0.0.1:49999/api/v1/chats/${chat.id}`
  expect(event?.payload).toMatchObject({ chat: { _links: { self } } })
  expect((await patch('127.0.0.1:49999')).status).toBe(422)
})
