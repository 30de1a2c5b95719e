import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { webhookHealthAt } from '../../../src/pages/web/model/webhook-health.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { SimulatorState } from '../../../src/server/control/routes/workspace.ts'
import { createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'

test('the health of the webhook counts failures in a row of the current URL', async () => {
  let status = 200
  await using webhook = await startWebhook((_, response) => response.writeHead(status).end())
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { chat_id } = (await ask('POST', '/chats')).body
  const send = (sign = 'valid') => ask('POST', '/trigger', { body: { event: 'AGENT TYPING STOP', chat_id, sign } })
  const health = async (at: number | null = null) => {
    const query = at === null ? '' : `?at=${at}`
    const state: SimulatorState = (await ask('GET', `/state${query}`)).body
    const { entries } = (await ask('GET', '/journal?limit=10000')).body as { entries: Entry[] }
    const url = state.config['webhook.url']
    const found = webhookHealthAt(entries, at, typeof url === 'string' ? url : null)
    return {
      seq: state.journal.next_seq - 1,
      state: found.state,
      failures: found.failuresInARow,
      notSent: found.notSent,
      last: found.last?.status,
    }
  }
  expect(await health()).toMatchObject({ state: 'no_url', failures: 0, notSent: 0 })
  await ask('PATCH', '/config', { body: { 'webhook.url': 'http://127.0.0.1:9/' } })
  expect(await health()).toMatchObject({ state: 'untested' })
  await send()
  await send()
  const failing = await health()
  expect(failing).toMatchObject({ state: 'failing', failures: 2, last: null })
  await ask('PATCH', '/config', { body: { 'webhook.url': webhook.url } })
  await send()
  expect(await health()).toMatchObject({ state: 'accepting', failures: 0, last: 200 })
  expect(await health(failing.seq)).toMatchObject({ state: 'failing', failures: 2 })
  // A refusal counts also where the platform does not demand 200; forged events and trials are meant to be refused.
  status = 401
  await send('wrong-key')
  expect(await health()).toMatchObject({ state: 'accepting', failures: 0 })
  await send()
  expect((await ask('POST', '/deliveries/latest/diagnose', { body: {} })).status).toBe(200)
  expect(await health()).toMatchObject({ state: 'failing', failures: 1, last: 401 })
})
