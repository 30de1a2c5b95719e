/** Which pages may call the API of a server. */
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { world } from '../support/test-simulator.ts'

test('api.cors: pages of listed origins call the API from a browser, * lets every page', async () => {
  await using server = await startSimulator({ port: 0 })
  const chat = await server.chat()
  const read = async (origin: string) => {
    const headers = { origin, authorization: `Bearer ${server.botApiKey}` }
    const answer = await fetch(`${server.url}/api/v1/chats/${chat.id}`, { headers })
    return [answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]
  }
  const [desk, other] = ['https://desk.example.test', 'https://other.example.test:8443']
  expect(await read(desk)).toEqual([403, null, 'Origin'])

  await server.configure({ 'api.cors': ['https://Desk.example.test:443'] })
  expect(await read(desk)).toEqual([200, desk, 'Origin'])
  for (const origin of [other, 'http://desk.example.test']) expect(await read(origin)).toEqual([403, null, 'Origin'])

  await server.configure({ 'api.cors': '*' })
  for (const origin of [other, 'null']) expect(await read(origin)).toEqual([200, '*', null])
})

test.each([
  'desk.example.test',
  'https://desk.example.test/',
  'https://*.example.test',
  'null',
  'ftp://x',
  'https://a/b',
])('api.cors: %s is no origin', async origin => {
  await expect(world().sim.configure({ 'api.cors': [origin] })).rejects.toThrow(/api\.cors.*origins such as/)
})
