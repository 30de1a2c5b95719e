/** Uses the package without any peer dependency installed. */
import {
  type ChatHandle,
  createSimulator,
  type Entry,
  type EntryOf,
  ExpectationError,
  InvalidOptionError,
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
