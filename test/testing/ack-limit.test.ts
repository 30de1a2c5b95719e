/** A webhook that does not answer is named before the test runner ends the test. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromNode, type SimulatorOptions, WaitTimeoutError } from '../../src/index.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { ANNA, simulatorWith } from './desk.ts'

const FIX = "Answer every event, or raise ackTimeout, as in createSimulator({ ackTimeout: '10s' })."
const never = () => new Promise<never>(() => {})

async function chatWith(options: SimulatorOptions) {
  const sim = createSimulator({ ackTimeout: '20ms', ...options })
  onTestFinished(() => sim.close())
  return { sim, ada: await sim.chat() }
}

describe('an action', () => {
  it.each<[string, SimulatorOptions['webhook'], string]>([
    ['a function', { fetch: never }, 'the function webhook.fetch'],
    ['an application', fromNode(() => {}, { path: '/hook' }), 'the application of webhook.listener (POST /hook)'],
  ])('names %s that does not answer, and waits no longer', async (_, webhook, receiver) => {
    const { ada } = await chatWith({ webhook })
    const pressed = ada.press('handover')
    await expect(pressed).rejects.toThrow(WaitTimeoutError)
    await expect(pressed).rejects.toMatchObject({ stack: expect.stringMatching(/\n +at .*ack-limit\.test\.ts/) })
    await expect(pressed).rejects.toThrow(`press waited 20ms: ${receiver} has not answered REQUESTING TAKEOVER. ${FIX}`)
  })

  it('names the earlier event that it waits for', async () => {
    const { sim, call } = simulatorWith(({ event }) => (event === 'MESSAGE FROM USER' ? never() : undefined), {
      ackTimeout: '300ms',
    })
    const ada = await sim.chat()
    await ada.press('handover')
    await call('start', { chat_id: ada.id })
    await ada.says('one', { async: true })
    const why =
      /^says waited 300ms: the function webhook\.fetch has not answered .*; MESSAGE FROM USER waits for the end of/
    await expect(ada.says('two')).rejects.toThrow(why)
    await expect(sim.assertClean()).rejects.toThrow('assertClean waited 300ms: the function webhook.fetch has not')
  })

  it('names the fault that delays or holds its event', async () => {
    const { sim, ada } = await chatWith({ webhook: { fetch: () => new Response() } })
    sim.faults.add({ on: 'webhook', delay: '10m', times: 1 })
    await expect(ada.press('handover')).rejects.toThrow('REQUESTING TAKEOVER is due in 10m on the clock')
    sim.faults.add({ name: 'jam', on: 'webhook', hold: 1 })
    await expect((await sim.chat()).press('handover')).rejects.toThrow('jam holds REQUESTING TAKEOVER')
  })

  it('waits longer with ackTimeout', async () => {
    const answer = Promise.withResolvers<Response>()
    const fetch = () => answer.promise
    const { sim, ada } = await chatWith({ ackTimeout: '1h', webhook: { fetch }, knobs: { 'webhook.timeout': '2h' } })
    const pressed = ada.press('handover')
    await sim.journal.waitFor(entry => entry.kind === 'event')
    await new Promise(setImmediate)
    answer.resolve(new Response())
    expect((await pressed).ack).toMatchObject({ status: 200 })
  })
})

it('assertClean names functions of the simulator that do not end', async () => {
  const { sim, call } = simulatorWith(() => {}, { ackTimeout: '300ms', translate: never })
  const ada = await sim.chat({ language: 'nb' })
  await ada.press('handover')
  await call('start', { chat_id: ada.id, sender: { ...ANNA, language_codes: ['en'] } })
  await ada.expectCall('start')
  const why = 'do the functions translate and summarize end?'
  await Promise.all([expect(ada.says('Hei')).rejects.toThrow(why), expect(sim.assertClean()).rejects.toThrow(why)])
})
