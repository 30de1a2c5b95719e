/** Tests `assertClean`, which fails for unexpected and refused calls. */
import { describe, expect, it } from 'vitest'
import { ExpectationError } from '../../src/testing/expectation-error.ts'
import { createSimulator, startSimulator } from '../../src/testing/simulator.ts'
import { ANNA, type Call, type Event, shouting, simulatorWith } from './desk.ts'

async function takenOver(on: (event: Event, call: Call) => unknown = shouting) {
  const made = simulatorWith(on)
  const ada = await made.sim.chat()
  await ada.press('handover')
  await ada.expectCall('start')
  return { ...made, ada }
}

const problemsOf = async (work: Promise<void>): Promise<ExpectationError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ExpectationError)
  return error as ExpectationError
}

const kindsOf = ({ failures }: ExpectationError) => failures.map(({ kind }) => kind)

describe('assertClean', () => {
  it('passes when every call was expected, or only reads', async () => {
    const { sim, call, ada } = await takenOver()
    await call('transcript', { chat_id: ada.id })
    await ada.says('hei')
    await ada.expectCall('message')
    await sim.assertClean()
    await sim.assertClean()
  })

  it('passes for a simulator without webhook and expectations', async () => {
    const { sim } = simulatorWith()
    await sim.configure({ 'webhook.url': null })
    await sim.chat()
    await sim.assertClean()
  })

  it('reports an event that went nowhere, because no webhook is given', async () => {
    const sim = createSimulator()
    const ada = await sim.chat()
    await ada.press('handover')
    const error = await problemsOf(sim.assertClean())
    expect(kindsOf(error)).toEqual(['environment'])
    const words = error.message.replace(/\s+/g, ' ')
    expect(words).toMatch(/^x REQUESTING TAKEOVER was not sent: no webhook URL is set/)
    expect(words).toContain('A test that needs no events accepts them: webhook: { fetch: () => new Response() }.')

    const accepting = createSimulator({ webhook: { fetch: () => new Response() } })
    await (await accepting.chat()).press('handover')
    await accepting.assertClean()
  })

  it('reports unexpected calls, with a hint', async () => {
    const { sim, ada } = await takenOver()
    await ada.says('hei')
    const error = await problemsOf(sim.assertClean())
    expect(kindsOf(error)).toEqual(['unexpected'])
    expect(error.failure.happened).toMatchObject({ code: 'unexpected_call', call: { endpoint: 'message' } })
    expect(error.message).toMatch(/^x nothing expects #\d+ message \{ message: "HEI"/)
    expect(error.message).toContain("allow it with assertClean({ allow: ['message'] })")
    expect(error.stack).toContain('clean.test.ts')
    await sim.assertClean({ allow: ['message'] })
    await problemsOf(sim.assertClean())
  })

  it('reports a surplus call', async () => {
    const { sim, call, ada } = await takenOver()
    await call('message/', { chat_id: ada.id, message: 'Hi', sender: ANNA })
    await call('message/', { chat_id: ada.id, message: 'Hi', sender: ANNA })
    await ada.expectCall('message', { message: 'Hi' })
    const error = await problemsOf(sim.assertClean())
    expect(kindsOf(error)).toEqual(['times'])
    expect(error.failure.happened).toMatchObject({
      code: 'too_many_calls',
      seqs: [expect.any(Number), expect.any(Number)],
    })
  })

  it('reports refused calls', async () => {
    const { sim, call, ada } = await takenOver()
    await call('message/', { chat_id: ada.id, message: 7, sender: ANNA })
    await call('end', { chat_id: 'unknown' })
    await call('end', { chat_id: ada.id }, { authorization: 'Bearer unknown-key' })
    const error = await problemsOf(sim.assertClean({ allow: ['message', 'end'] }))
    expect(kindsOf(error)).toEqual(['contract', 'contract', 'contract'])
  })

  it('reports contract findings, unless they are allowed', async () => {
    const { sim, call, ada } = await takenOver()
    await call('message/', { chat_id: ada.id, message: 'Hi', text: 'Hi', sender: ANNA })
    await ada.expectCall('message')
    const error = await problemsOf(sim.assertClean())
    expect(error.failure).toMatchObject({
      kind: 'contract',
      happened: { code: 'warning', finding: { rule: 'unknown-fields' } },
    })
    await sim.assertClean({ allow: ['unknown-fields'] })
  })

  it('reports events that the webhook did not acknowledge, of the user and of the platform', async () => {
    const refusing = (event: Event, call: Call) => {
      if (event.event === 'AGENT TYPING START') throw new Error('no agent here')
      return event.event === 'MESSAGE FROM USER' ? new Response('no', { status: 500 }) : shouting(event, call)
    }
    const { sim, call, ada } = await takenOver(refusing)
    await ada.says('hei')
    await call('typing_start', { chat_id: ada.id })
    const error = await problemsOf(sim.assertClean({ allow: ['typing_start'] }))
    expect(kindsOf(error), error.message).toEqual(['stimulus', 'stimulus'])
    expect(error.failures.map(({ happened }) => happened)).toMatchObject([
      { code: 'not_acknowledged', result: { status: 500 } },
      {
        code: 'delivery_failed',
        event: 'AGENT TYPING START',
        failure: { detail: expect.stringContaining('no agent here') },
      },
    ])
  })

  it('ignores events that a fault changed', async () => {
    const { sim, ada } = await takenOver(({ event, ...rest }, call) =>
      event === 'MESSAGE FROM USER'
        ? new Response('bad signature', { status: 401 })
        : shouting({ event, ...rest }, call),
    )
    sim.faults.add({ on: { webhook: 'MESSAGE FROM USER' }, sign: 'tampered' })
    await ada.says('hei')
    await sim.assertClean()
  })

  it('does not report a failure twice', async () => {
    const { sim, ada } = await takenOver()
    await expect(ada.expectCall('end', {}, { within: '5ms' })).rejects.toThrow(ExpectationError)
    await sim.assertClean()
  })

  it('waits for work in progress in this process', async () => {
    const { sim, ada } = await takenOver(async (event, call) => {
      if (event.event === 'REQUESTING TAKEOVER') await call('start', { chat_id: event.chat.id, sender: ANNA })
      else
        void Promise.resolve().then(() => call('message/', { chat_id: event.chat.id, message: 'late', sender: ANNA }))
    })
    await ada.says('hei', { async: true })
    expect(kindsOf(await problemsOf(sim.assertClean()))).toEqual(['unexpected'])
  })

  it('works on a server, with a settle time', async () => {
    const server = await startSimulator({ port: 0 })
    try {
      const ada = await server.chat()
      await server.assertClean({ settle: '5ms' })
      await ada.press('handover')
      await fetch(`${server.url}/api/v2/handover/end`, { method: 'POST' })
      expect(kindsOf(await problemsOf(server.assertClean({ settle: '5ms' })))).toContain('contract')
    } finally {
      await server.close()
    }
  })

  it('checks each workspace of a server by itself', async () => {
    const server = await startSimulator({ port: 0 })
    try {
      const [one, other] = [await server.workspace({ expectTimeout: '5ms' }), await server.workspace()]
      const ada = await one.chat()
      await one.fetch(new Request(`${one.baseUrl}/api/v2/handover/end`, { method: 'POST' }))
      await expect(ada.expectCall('start')).rejects.toThrow(/within 5ms/)
      await other.assertClean({ settle: '0s' })
      await problemsOf(one.assertClean({ settle: '0s' }))
    } finally {
      await server.close()
    }
  })

  it('rejects while an expectation has not ended', async () => {
    const { sim } = simulatorWith()
    const ada = await sim.chat()
    const waiting = ada.expectNone('start', { for: '50ms' })
    await expect(sim.assertClean()).rejects.toThrow('An expectation is still waiting: none start for 50ms. Await it')
    await waiting
    await sim.assertClean()
  })

  it('ends with a reset', async () => {
    const answers: ((response: Response) => void)[] = []
    const { sim } = simulatorWith(() => new Promise<Response>(resolve => void answers.push(resolve)))
    const ada = await sim.chat()
    await ada.press('handover', { async: true })
    const waiting = sim.assertClean({ settle: '5s' })
    setImmediate(() => sim.reset())
    await expect(waiting).rejects.toThrow(
      'Failed to wait for assertClean: the simulator was reset, restored or closed.',
    )
    answers[0]!(new Response('ok'))
  })

  it('rejects an unknown name in `allow`', async () => {
    const { sim } = simulatorWith()
    await expect(sim.assertClean({ allow: ['mesage' as 'message'] })).rejects.toThrow(/got "mesage"/)
    await expect(sim.assertClean({ settle: 'soon' as never })).rejects.toThrow(/settle must be a duration/)
  })
})
