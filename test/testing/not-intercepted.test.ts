/** Calls that go to the network because nothing passes them to the simulator: the failure asks for `intercept`. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { createSimulator, startSimulator } from '../../src/testing/simulator.ts'

const QUESTION =
  'No call reached the simulator: does the intermediary call https://bot.example.test, and is intercept(sim) or handlers(sim) in force?'

const flat = (error: unknown) => String((error as Error).message).replace(/\s+/g, ' ')

/** Presses handover, and returns the message of the expectation that fails. `onEvent` is the intermediary. */
async function failedStart(onEvent: (baseUrl: string) => Promise<unknown>, more: { intercepts?: boolean } = {}) {
  const sim = createSimulator({
    webhook: { fetch: async () => new Response(null, { status: (await onEvent(sim.baseUrl)) === 500 ? 500 : 200 }) },
  })
  const interception = more.intercepts ? intercept(sim) : null
  onTestFinished(() => interception?.stop())
  onTestFinished(() => sim.close())
  const ada = await sim.chat()
  await ada.press('handover')
  return ada.expectCall('start', {}, { within: '5ms' }).then(() => '', flat)
}

const start = (baseUrl: string) => fetch(`${baseUrl}/api/v2/handover/start`, { method: 'POST', body: '{}' })

describe('a call that goes to the network', () => {
  it('gets a hint when the intermediary catches its error', async () => {
    expect(await failedStart(url => start(url).catch(() => {}))).toContain(QUESTION)
  })

  it.each([
    ['throws its error', (url: string) => start(url)],
    ['answers with a server error', (url: string) => start(url).catch(() => 500)],
  ])('gets a hint when the webhook %s', async (_, onEvent) => {
    const message = await failedStart(onEvent)
    expect(message).toMatch(/The webhook did not accept REQUESTING TAKEOVER: .*(ENOTFOUND|EAI_AGAIN|answered 500)/)
    expect(message).toContain(QUESTION)
  })
})

describe('a missing call gets another hint', () => {
  it('when the simulator is intercepted', async () => {
    const message = await failedStart(async () => {}, { intercepts: true })
    expect(message).toContain('Does the intermediary know the address of the platform (https://bot.example.test)?')
  })

  it('when another call came', async () => {
    const sim = createSimulator()
    onTestFinished(() => sim.close())
    const ada = await sim.chat()
    await sim.fetch(`${sim.baseUrl}/api/v1/chats/none`)
    await expect(ada.expectCall('start', {}, { within: '5ms' })).rejects.not.toThrow('No call reached')
  })

  it('behind a port', async () => {
    await using server = await startSimulator({ port: 0 })
    const ada = await server.chat()
    await expect(ada.expectCall('start', {}, { within: '5ms' })).rejects.toThrow(/know the address of the platform/)
  })
})
