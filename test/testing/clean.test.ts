/** Tests `assertClean`, which fails for unexpected and refused calls. */
import { expect, it } from 'vitest'
import type { ExpectationError } from '../../src/testing/expectation-error.ts'
import { createSimulator, startSimulator } from '../../src/testing/simulator.ts'
import { ANNA, type Call, type Event, failureOf, flat, requestHandover, shouting, simulatorWith } from './desk.ts'

async function takenOver(on: (event: Event, call: Call) => unknown = shouting) {
  const made = await requestHandover(on)
  await made.ada.expectCall('start')
  return made
}

const kindsOf = ({ failures }: ExpectationError) => failures.map(({ kind }) => kind)

it('passes when every call was expected, or only reads', async () => {
  const { sim, call, ada } = await takenOver()
  await call('transcript', { chat_id: ada.id })
  await ada.says('hei')
  await ada.expectCall('message')
  await sim.assertClean()
  await sim.assertClean()
})

it('reports an event that went nowhere, because no webhook is given', async () => {
  const sim = createSimulator()
  const ada = await sim.chat()
  await sim.assertClean()
  await ada.press('handover')
  const error = await failureOf(sim.assertClean())
  expect(kindsOf(error)).toEqual(['environment'])
  expect(flat(error)).toMatch(/^x REQUESTING TAKEOVER was not sent: no webhook URL is set/)
})

it('reports unexpected calls, with a hint', async () => {
  const { sim, ada } = await takenOver()
  await ada.says('hei')
  const error = await failureOf(sim.assertClean())
  expect(kindsOf(error)).toEqual(['unexpected'])
  expect(error.failure).toMatchObject({ code: 'unexpected_call', details: { call: { endpoint: 'message' } } })
  expect(flat(error)).toMatch(/^x nothing expects #\d+ message \{ message: "HEI".*allow it with assertClean\(\{ allow/)
  expect(error.stack).toContain('clean.test.ts')
  await sim.assertClean({ allow: ['message'] })
  await failureOf(sim.assertClean())
})

it('reports a surplus call', async () => {
  const { sim, call, ada } = await takenOver()
  for (const _ of [1, 2]) await call('message/', { chat_id: ada.id, message: 'Hi', sender: ANNA })
  await ada.expectCall('message', { message: 'Hi' })
  const error = await failureOf(sim.assertClean())
  expect(error.failures).toMatchObject([{ kind: 'times', code: 'too_many_calls' }])
})

it('reports refused calls', async () => {
  const { sim, call, ada } = await takenOver()
  await call('message/', { chat_id: ada.id, message: 7, sender: ANNA })
  await call('end', { chat_id: 'unknown' })
  await call('end', { chat_id: ada.id }, { authorization: 'Bearer unknown-key' })
  const error = await failureOf(sim.assertClean({ allow: ['message', 'end'] }))
  expect(kindsOf(error)).toEqual(['contract', 'contract', 'contract'])
})

it('reports contract findings, unless they are allowed', async () => {
  const { sim, call, ada } = await takenOver()
  await call('message/', { chat_id: ada.id, message: 'Hi', text: 'Hi', sender: ANNA })
  await ada.expectCall('message')
  const { failure } = await failureOf(sim.assertClean())
  expect(failure).toMatchObject({ kind: 'contract', code: 'warning', details: { rule: 'unknown-fields' } })
  await sim.assertClean({ allow: ['unknown-fields'] })
})

it('reports events that the webhook did not acknowledge, of the user and of the platform', async () => {
  const { sim, call, ada } = await takenOver((event, call) => {
    if (event.event === 'AGENT TYPING START') throw new Error('no agent here')
    return event.event === 'MESSAGE FROM USER' ? new Response('no', { status: 500 }) : shouting(event, call)
  })
  await ada.says('hei')
  await call('typing_start', { chat_id: ada.id })
  const error = await failureOf(sim.assertClean({ allow: ['typing_start'] }))
  const failure = { detail: expect.stringContaining('no agent here') }
  expect(error.failures, error.message).toMatchObject([
    { kind: 'stimulus', code: 'not_acknowledged', details: { status: 500 } },
    { kind: 'stimulus', code: 'delivery_failed', details: { event: 'AGENT TYPING START', failure } },
  ])
})

it('ignores events that a fault changed', async () => {
  const { sim, ada } = await takenOver((event, call) =>
    event.event === 'MESSAGE FROM USER' ? new Response('bad signature', { status: 401 }) : shouting(event, call),
  )
  sim.faults.add({ on: { webhook: 'MESSAGE FROM USER' }, sign: 'tampered' })
  await ada.says('hei')
  await sim.assertClean()
})

it('does not report a failure twice', async () => {
  const { sim, ada } = await takenOver()
  await failureOf(ada.expectCall('end', {}, { within: '5ms' }))
  await sim.assertClean()
})

it('waits for work in progress in this process', async () => {
  const { sim, ada } = await takenOver(async (event, call) => {
    if (event.event === 'REQUESTING TAKEOVER') return call('start', { chat_id: event.chat.id, sender: ANNA })
    void Promise.resolve().then(() => call('message/', { chat_id: event.chat.id, message: 'late', sender: ANNA }))
    return undefined
  })
  await ada.says('hei', { async: true })
  expect(kindsOf(await failureOf(sim.assertClean()))).toEqual(['unexpected'])
})

it('checks each workspace of a server by itself, with a settle time', async () => {
  await using server = await startSimulator({ port: 0 })
  const [one, other] = [await server.workspace({ expectTimeout: '5ms' }), await server.workspace()]
  const ada = await one.chat()
  await one.fetch(new Request(`${one.baseUrl}/api/v2/handover/end`, { method: 'POST' }))
  await expect(ada.expectCall('start')).rejects.toThrow(/within 5ms/)
  await other.assertClean({ settle: '5ms' })
  expect(kindsOf(await failureOf(one.assertClean({ settle: '5ms' })))).toContain('contract')
})

it('rejects while an expectation has not ended', async () => {
  const { sim } = simulatorWith()
  const ada = await sim.chat()
  const waiting = ada.expectNone('start', { for: '50ms' })
  await expect(sim.assertClean()).rejects.toThrow('An expectation is still waiting: none start for 50ms. Await it')
  await waiting
  await sim.assertClean()
})
