/** A page that a test for Node creates with `new JSDOM()` reaches an intercepted simulator. */
// @ts-expect-error: jsdom has no types.
import { JSDOM } from 'jsdom'
import { expect, it, onTestFinished } from 'vitest'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'

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
