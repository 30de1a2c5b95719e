/** A page that a test for Node creates with `new JSDOM()` reaches an intercepted simulator. */
import { spawnSync } from 'node:child_process'
// @ts-expect-error: jsdom has no types.
import { JSDOM } from 'jsdom'
import { expect, it, onTestFinished } from 'vitest'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'

/** A process of its own, because the interceptors look for the globals when they are loaded. */
const PROGRAM = `
  import { JSDOM } from 'jsdom'
  const { window } = new JSDOM()
  for (const name of ['Document', 'Event', 'ProgressEvent', 'XMLHttpRequest', 'XMLHttpRequestUpload'])
    globalThis[name] = window[name]
  const { createSimulator } = await import('./src/index.ts')
  const { intercept } = await import('./src/testing/interceptors/interceptors.ts')
  const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
  const interception = intercept(sim)
  const request = new XMLHttpRequest()
  request.open('GET', 'https://bot.example.test/api/v1/chats/none')
  request.setRequestHeader('authorization', 'Bearer ' + sim.botApiKey)
  request.onload = () => {
    console.log(request.status, sim.journal.query({ kind: 'api' }).length)
    interception.stop()
  }
  request.onerror = () => console.log('network error')
  request.send()
`

it('answers a page whose globals are set before the interceptors are loaded', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    encoding: 'utf8',
  })
  expect([stdout, stderr]).toEqual(['404 1\n', ''])
})

it('answers a page of localhost', async () => {
  const sim = createPlatformSimulator({ baseUrl: 'https://bot.example.test' })
  const interception = intercept(sim)
  onTestFinished(() => interception.stop())
  const { window } = new JSDOM('', { url: 'http://localhost:3000' })
  const status = await new Promise((resolve, reject) => {
    const request = new window.XMLHttpRequest()
    request.open('POST', 'https://bot.example.test/api/v2/handover/start')
    request.setRequestHeader('authorization', `Bearer ${sim.apiKey}`)
    request.setRequestHeader('content-type', 'application/json')
    request.onload = () => resolve(request.status)
    request.onerror = () => reject(new Error('network error'))
    request.send('{}')
  })
  expect(status).toBe(400)
  expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
})
