/** A page that a test for Node creates with `new JSDOM()` reaches an intercepted simulator. */
// @ts-expect-error: jsdom has no types.
import { JSDOM } from 'jsdom'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'

const NAMES = ['XMLHttpRequest', 'XMLHttpRequestUpload', 'Document'] as const

function start() {
  const sim = createPlatformSimulator({ baseUrl: 'https://bot.example.test' })
  const interception = intercept(sim)
  onTestFinished(() => interception.stop())
  return sim
}

/** Sends an invalid call that a page may not send to another origin without permission. */
const statusOf = (Xhr: typeof XMLHttpRequest, key: string) =>
  new Promise((resolve, reject) => {
    const request = new Xhr()
    request.open('POST', 'https://bot.example.test/api/v2/handover/start')
    request.setRequestHeader('authorization', `Bearer ${key}`)
    request.setRequestHeader('content-type', 'application/json')
    request.onload = () => resolve(request.status)
    request.onerror = () => reject(new Error('network error'))
    request.send('{}')
  })

it('with its globals', async () => {
  const { window } = new JSDOM()
  for (const name of NAMES) vi.stubGlobal(name, window[name])
  onTestFinished(() => void vi.unstubAllGlobals())
  const sim = start()
  expect(await statusOf(XMLHttpRequest, sim.apiKey)).toBe(400)
  expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
})

it('as a page of localhost', async () => {
  const { window } = new JSDOM('', { url: 'http://localhost:3000' })
  const sim = start()
  expect(await statusOf(window.XMLHttpRequest, sim.apiKey)).toBe(400)
  expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
})
