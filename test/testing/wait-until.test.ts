/** A webhook written as a worker: its work after the answer is awaited, and its errors fail the test and the scenario. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineScenario, expectCall, none, press } from '../../src/evaluation/scenario/build/index.ts'
import { fromFetch, type SimulatorOptions, type WebhookContext } from '../../src/index.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { createSimulator, type Simulator } from '../../src/testing/simulator.ts'
import { useVirtualTime } from '../support/virtual-time.ts'
import { ANNA } from './desk.ts'

interface Env {
  /** Does the work that an event asks for. */
  work(chatId: string): Promise<unknown>
}

/** As `ExecutionContext` of the types that workers are written with. */
interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
  passThroughOnException(): void
  readonly props: unknown
}

/** A worker as it is deployed: it answers, and does its work afterwards. */
const worker = {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    context.passThroughOnException()
    const { chat } = (await request.json()) as { chat: { id: string } }
    context.waitUntil(new Promise(setImmediate).then(() => env.work(chat.id)))
    return new Response('ok')
  },
  scheduled: async (): Promise<void> => {},
  queue: async (): Promise<void> => {},
}

/** The same, whose method uses `this`. */
class WorkerOfClass {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    return this.answer(request, env, context)
  }
  answer(...given: Parameters<typeof worker.fetch>): Promise<Response> {
    return worker.fetch(...given)
  }
}

const WEBHOOKS: Readonly<Record<string, (env: Env) => SimulatorOptions['webhook']>> = {
  'a worker beside its env': env => ({ ...worker, env }),
  'a worker whose method uses this': env => Object.assign(new WorkerOfClass(), { env }),
  'fromFetch and a worker': env => fromFetch(worker, { env }),
  'fromFetch and a function': env =>
    fromFetch((request, given, context) => new WorkerOfClass().fetch(request, given as Env, context), { env }),
}

function simulatorOf(webhook: SimulatorOptions['webhook'], options: SimulatorOptions = {}): Simulator {
  const sim = createSimulator({ ...options, webhook })
  onTestFinished(() => sim.close())
  return sim
}

/** A simulator whose worker does this work with each event. */
function simulatorWithWork(work: (sim: Simulator, chatId: string) => Promise<unknown>, options?: SimulatorOptions) {
  const sim: Simulator = simulatorOf({ ...worker, env: { work: (id: string) => work(sim, id) } }, options)
  return sim
}

const start = (sim: Simulator, chatId: string) =>
  sim.fetch(`${sim.baseUrl}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: sim.botId, chat_id: chatId, sender: ANNA }),
  })

const kaputt = async () => {
  throw new TypeError('desk is down')
}

const REJECTED =
  /a promise that the webhook gave to waitUntil for REQUESTING TAKEOVER rejected: desk is down at \S*wait-until\.test\.ts/

describe('waitUntil', () => {
  it.each(Object.entries(WEBHOOKS))('%s: settled waits for the work', async (_, webhookOf) => {
    const sim: Simulator = simulatorOf(webhookOf({ work: id => start(sim, id) }))
    const ada = await sim.chat()
    expect((await ada.press('handover')).ack).toMatchObject({ status: 200 })
    expect(ada.status).toBe('pending')
    await sim.settled()
    expect(ada.status).toBe('agent')
    await ada.expectCall('start', { sender: ANNA })
    await sim.assertClean()
  })

  it('assertClean, and the clock, wait for the work', async () => {
    let done = 0
    const sim = simulatorWithWork(async () => done++)
    await (await sim.chat()).press('handover')
    await sim.assertClean()
    expect(done).toBe(1)
    await (await sim.chat()).press('handover')
    await sim.clock.advance('1s')
    expect(done).toBe(2)
  })

  it('a worker without env receives an empty one, and a context', async () => {
    let seen: unknown[] = []
    const fetch = (...given: [Request, unknown, WebhookContext]) => {
      seen = given
      return new Response()
    }
    await (await simulatorOf({ fetch }).chat()).press('handover')
    expect(seen.slice(1)).toMatchObject([{}, { props: {} }])
    expect(seen).toHaveLength(3)
  })

  it('work that rejects fails assertClean, with its reason, its event and its chat', async () => {
    const sim = simulatorWithWork(kaputt)
    const ada = await sim.chat()
    expect((await ada.press('handover')).ack).toMatchObject({ status: 200 })
    const clean = sim.assertClean()
    await expect(clean).rejects.toThrow('The event was acknowledged, so the platform does not send it again')
    const conversation = expect.any(String)
    await expect(clean).rejects.toMatchObject({
      failure: { code: 'wait_until_failed', happened: expect.stringMatching(REJECTED), conversation },
    })
    const [note] = sim.journal.query({ kind: 'note', chatId: ada.id }).slice(-1)
    const [event] = sim.journal.query({ kind: 'event' })
    expect(note).toMatchObject({ note: 'wait_until_failed', code: 'rejected', delivery_id: event!.delivery_id })
    expect(note!.cause).toBe(event!.seq)
  })

  it('an expectation that was not met names the work that failed', async () => {
    const sim = simulatorWithWork(kaputt)
    const ada = await sim.chat()
    await ada.press('handover')
    await sim.settled()
    const expected = ada.expectCall('start', {}, { within: '1ms' })
    await expect(expected).rejects.toMatchObject({
      failure: { code: 'no_call', hintCode: 'wait_until_failed', hint: expect.stringMatching(REJECTED) },
    })
  })

  it('work that a reset ended, or that rejects after it, is forgotten', async () => {
    const { promise, reject } = Promise.withResolvers<never>()
    const begun = Promise.withResolvers<void>()
    const sim = simulatorWithWork(() => {
      begun.resolve()
      return promise
    })
    await (await sim.chat()).press('handover')
    await begun.promise
    sim.reset()
    reject(new Error('too late'))
    await sim.assertClean()
    expect(sim.journal.query({ kind: 'note' })).toEqual([])
  })

  it('assertClean names work that does not end', async () => {
    const sim = simulatorWithWork(() => new Promise(() => {}), { ackTimeout: '20ms' })
    await (await sim.chat()).press('handover')
    const why = 'a promise that the function webhook.fetch gave to waitUntil for REQUESTING TAKEOVER has not ended.'
    await expect(sim.assertClean()).rejects.toThrow(`assertClean waited 20ms: ${why}`)
  })

  it('work that has not ended after 30 seconds fails, and is awaited no longer', async () => {
    onTestFinished(useVirtualTime())
    const sim = simulatorWithWork(() => new Promise(() => {}))
    await (await sim.chat()).press('handover')
    await sim.settled()
    const why = 'a promise that the webhook gave to waitUntil for REQUESTING TAKEOVER had not ended after 30s'
    await expect(sim.assertClean()).rejects.toMatchObject({ failure: { happened: expect.stringContaining(why) } })
  })
})

describe('a scenario', () => {
  it('passes with a worker', async () => {
    const sim = simulatorWithWork(start)
    const run = await runScenario(sim, defineScenario({ name: 'Takeover' }, [press('handover'), expectCall('start')]))
    run.assertPassed()
  })

  it('fails when work rejects, although every step passes', async () => {
    const scenario = defineScenario({ name: 'Takeover' }, [press('handover'), none('message', {}, { for: '50ms' })])
    const run = await runScenario(simulatorWithWork(kaputt), scenario)
    expect(run.scenarios).toMatchObject([{ outcome: 'fail', steps: [{ outcome: 'pass' }, { outcome: 'pass' }] }])
    expect(run.report().replace(/\s+/g, ' ')).toMatch(REJECTED)
  })
})
