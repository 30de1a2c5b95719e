import { Agent, Pool, request } from 'undici'
import { afterAll, afterEach, expect, it } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { intercept } from '../../../src/testing/interceptors/interceptors.ts'

const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
const interception = intercept(sim)
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

const headers = { authorization: `Bearer ${sim.botApiKey}` }
const path = '/api/v1/chats/c1'

it('answers an Agent handed to a call', async () => {
  await sim.chat({ id: 'c1' })
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 })
  const { statusCode } = await request(sim.baseUrl + path, { headers, dispatcher })
  expect(statusCode).toBe(200)
})

it('answers a Pool', async () => {
  await sim.chat({ id: 'c1' })
  const pool = new Pool(sim.baseUrl, { connections: 2 })
  const { body } = await pool.request({ method: 'GET', path, headers })
  expect(await body.json()).toMatchObject({ chat: { id: 'c1' } })
})
