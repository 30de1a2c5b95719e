/** Does over HTTP what docs/how-to/testcontainers.md tells a test to do, without Docker. */
import { expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { blocks, read } from '../pages.ts'

const PAGE = read('docs/how-to/testcontainers.md')

it('the address that the container is waited for by answers', async () => {
  const server = await startSimulator({ port: 0 })
  onTestFinished(() => server.close())
  const path = /Wait\.forHttp\("([^"]+)"\)/.exec(blocks(PAGE, 'java')[0]!)?.[1]
  expect((await fetch(server.url + path)).status).toBe(200)
})

it('a base URL that is set later begins the links', async () => {
  const server = await startSimulator({ port: 0 })
  onTestFinished(() => server.close())
  const [set = ''] = /`PATCH \S+`/.exec(PAGE) ?? []
  expect(set).toBe('`PATCH /_sim/config`')
  const patch = (base_url: unknown) =>
    fetch(`${server.url}/_sim/config`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ base_url }),
    })
  expect((await patch('http://127.0.0.1:49999/')).status).toBe(200)
  const chat = await server.chat()
  await chat.press('handover')
  const [event] = server.journal.query({ kind: 'event' })
  expect(event?.payload).toMatchObject({
    chat: { _links: { self: `http://127.0.0.1:49999/api/v1/chats/${chat.id}` } },
  })
  const refused = await patch('127.0.0.1:49999')
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('base_url must be an http')])
})
