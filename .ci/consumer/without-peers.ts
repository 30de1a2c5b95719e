/** Uses the package without any peer dependency installed. */
import { createServer } from 'node:http'
import {
  type ChatHandle,
  createSimulator,
  type Entry,
  type EntryOf,
  ExpectationError,
  fromFetch,
  fromNode,
  InvalidOptionError,
  type KnobSettings,
  type ReceivedCall,
  type Simulator,
  startSimulator,
  VERSION,
  type WebhookEvent,
} from 'handover-sim'
import { intercept } from 'handover-sim/interceptors'
import { $, defineScenario, expectCall, press, runScenario, toYaml } from 'handover-sim/scenario'
import { explain, sign, verify, verifyRequest } from 'handover-sim/signature'

export async function use(): Promise<string> {
  const events: WebhookEvent['event'][] = []
  const sim: Simulator = createSimulator({
    seed: 1,
    webhook: {
      fetch: async request => {
        const verified = await verifyRequest(request, 'sim-handover-key')
        if (verified.ok) events.push((JSON.parse(verified.body) as WebhookEvent).event)
        return new Response('ok')
      },
    },
  })
  const interception = intercept(sim)
  const ada: ChatHandle = await sim.chat({ language: 'nb' })
  await ada.press('handover')
  const start: ReceivedCall<'start'> = await ada.expectCall('start', { sender: { name: 'Anna' } }, { within: '1s' })
  const name: string | undefined = start.body.sender?.name
  // @ts-expect-error no such field
  start.body.senderr
  // @ts-expect-error a number
  await ada.expectCall('typing_start', { timeout: 'soon' })
  // @ts-expect-error no such call
  await ada.expectCall('begin')
  // @ts-expect-error no duration
  await ada.expectCall('start', {}, { within: '5 seconds' })
  // @ts-expect-error no such operator
  await ada.expectCall('start', { sender: { name: { $typ: 'string' } } })
  // @ts-expect-error no effect
  sim.faults.add({ on: 'webhook', times: 1 })
  sim.faults.add({ on: 'webhook', delay: '5s', times: 1 })
  const entries: readonly Entry[] = sim.journal.query({ kind: 'api' })
  const deliveries: readonly EntryOf<'delivery'>[] = sim.deliveries
  interception.stop()
  return [VERSION, name, entries.length, deliveries.length, await sign('body', 'key')].join()
}

export async function play(sim: Simulator): Promise<void> {
  const scenario = defineScenario({ name: 'Greeting' }, [
    press('handover'),
    expectCall('start', { sender: { name: $.type('string') } }),
  ])
  const run = await runScenario(sim, scenario)
  run.assertPassed()
  toYaml(scenario)
  const ok: boolean = await verify('body', 'signature', 'key')
  const { mistake } = await explain('body', 'signature', 'key')
  if (!ok && mistake === null) throw new InvalidOptionError([])
}

export function applications(): readonly Simulator[] {
  const inbox: { readonly request: boolean; readonly text: string }[] = []
  const knobs: KnobSettings = { 'webhook.retry': ['1s'] }
  return [
    createSimulator({ webhook: fromNode((request, response) => response.end(request.url)), knobs }),
    createSimulator({ webhook: fromNode(createServer(), { path: '/hook' }), agent: { inbox: () => inbox } }),
    createSimulator({ webhook: fromFetch(request => new Response(request.url)), ackTimeout: '10s' }),
    createSimulator({ agent: { says: ({ chat, text }) => chat.id + text.length } }),
    // @ts-expect-error no such knob
    createSimulator({ knobs: { 'webhook.retries': ['1s'] } }),
    // @ts-expect-error the help desk has no chat
    createSimulator({ agent: { away: ({ chat }) => chat.id } }),
  ]
}

export async function serve(): Promise<string> {
  const server = await startSimulator({ port: 0 })
  try {
    return server.url
  } catch (error) {
    if (error instanceof ExpectationError) return error.message
    throw error
  } finally {
    await server.close()
  }
}
