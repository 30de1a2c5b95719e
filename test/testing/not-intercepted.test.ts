/** Calls that go to the network because nothing passes them to the simulator: the failure asks for `intercept`. */
import { expect, it, onTestFinished } from 'vitest'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { createSimulator, startSimulator } from '../../src/testing/simulator.ts'
import { failureOf, flat } from './desk.ts'

const QUESTION = 'does the intermediary call https://bot.example.test, and is intercept(sim) or handlers(sim) in force?'

/** Presses handover, and returns the message of the expectation that fails. `onEvent` is the intermediary. */
async function failedStart(onEvent: (baseUrl: string) => Promise<unknown>, isIntercepted = false) {
  const sim = createSimulator({
    webhook: { fetch: async () => new Response(null, { status: (await onEvent(sim.baseUrl)) === 500 ? 500 : 200 }) },
  })
  const interception = isIntercepted ? intercept(sim) : null
  onTestFinished(() => interception?.stop())
  onTestFinished(() => sim.close())
  const ada = await sim.chat()
  await ada.press('handover')
  return flat(await failureOf(ada.expectCall('start', {}, { within: '5ms' })))
}

const start = (baseUrl: string) => fetch(`${baseUrl}/api/v2/handover/start`, { method: 'POST', body: '{}' })
const REFUSED = /The webhook did not accept REQUESTING TAKEOVER: .*(ENOTFOUND|EAI_AGAIN|answered 500)/

it.each([
  ['catches its error', (url: string) => start(url).catch(() => {}), /./],
  ['throws its error', (url: string) => start(url), REFUSED],
  ['answers with a server error', (url: string) => start(url).catch(() => 500), REFUSED],
])('a call that goes to the network gets a hint when the intermediary %s', async (_, onEvent, more) => {
  const message = await failedStart(onEvent)
  expect(message).toContain(QUESTION)
  expect(message).toMatch(more)
})

it('a missing call gets another hint when the simulator is intercepted, called, or behind a port', async () => {
  const intercepted = await failedStart(async () => {}, true)
  expect(intercepted).toContain('know the address of the platform (https://bot.example.test)?')
  const sim = createSimulator()
  await sim.fetch(`${sim.baseUrl}/api/v1/chats/none`)
  await expect((await sim.chat()).expectCall('start', {}, { within: '5ms' })).rejects.not.toThrow('No call reached')
  await using server = await startSimulator({ port: 0 })
  const failed = (await server.chat()).expectCall('start', {}, { within: '5ms' })
  await expect(failed).rejects.toThrow(/know the address of the platform/)
})
