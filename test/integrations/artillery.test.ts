/** The engine of Artillery against a running simulator, with an emitter that notes what it is told. */
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { serveExample } from '../support/example-service.ts'

type Emitted = readonly [name: string, ...values: unknown[]]
type VirtualUser = (context: object, done: (error: Error | null, context: object) => void) => void
interface Engine {
  createScenario(scenario: { flow: object[] }, events: { emit(...emitted: Emitted): void }): VirtualUser
}

const HandoverSimEngine: new (script: object) => Engine = createRequire(import.meta.url)(
  `${ROOT}integrations/artillery-engine-handover-sim/index.js`,
)

/** Starts a simulator whose webhook is the example, and an engine that runs virtual users in it. */
async function startEngine() {
  const example = await serveExample()
  const io = fakeIo(folderWith({ 'driver.json': example.driver }))
  const flags = ['--plays', '4', '--webhook-url', example.webhookUrl, '--agent-driver', 'driver.json']
  const { url } = await started(flags, {}, io)
  example.usePlatform(url)
  const engine = new HandoverSimEngine({ config: { target: url, handoverSim: { timeout: '1m' } } })
  /** Runs one virtual user. */
  const run = async (...plays: unknown[]) => {
    const emitted: Emitted[] = []
    const flow = plays.map(play => ({ play }))
    const user = engine.createScenario({ flow }, { emit: (...one) => void emitted.push(one) })
    const error = await new Promise<Error | null>(resolve => user({ vars: {} }, resolve))
    return { error, emitted }
  }
  return { engine, run }
}

const namesOf = (emitted: readonly Emitted[]) => emitted.map(([kind, name]) => [kind, name].filter(Boolean).join(' '))

describe('the engine of Artillery', () => {
  it('plays each step of the flow, and reports verdicts and times', async () => {
    const { run } = await startEngine()
    const { error, emitted } = await run('builtin:happy-path.yaml', { builtin: 'happy-path.yaml' })
    expect(error).toBeNull()
    const once = [
      ...['counter handover.verdict.pass', 'histogram handover.ack', 'histogram handover.ack'],
      ...['histogram handover.to_agent', 'histogram handover.to_user', 'histogram handover.to_start'],
    ]
    expect(namesOf(emitted)).toEqual(['started', ...once, ...once])
    const values = emitted.filter(([kind]) => kind === 'histogram').map(([, , ms]) => ms)
    for (const ms of values) expect(ms).toBeGreaterThan(0)
  })

  it('a scenario that fails fails the virtual user, with the code of its first failure', async () => {
    const { run } = await startEngine()
    const steps = [{ press: 'handover' }, { expect: 'end' }]
    const scenario = { version: 1, name: 'Never ends', timeouts: { expect: '200ms' }, steps }
    const { error, emitted } = await run({ scenario }, 'builtin:happy-path.yaml')
    expect(error).toMatchObject({ code: 'no_call' })
    // The next step is not played.
    expect(namesOf(emitted)).toEqual([
      ...['started', 'counter handover.verdict.fail', 'histogram handover.ack', 'error no_call'],
    ])
  })

  it('says why a scenario was not played', async () => {
    const { engine, run } = await startEngine()
    const { error, emitted } = await run({ builtin: 'none.yaml' })
    expect(error?.message).toContain('none.yaml')
    expect(namesOf(emitted)).toEqual(['started', 'error invalid_scenario'])
    expect(() => engine.createScenario({ flow: [{ play: 'happy' }] }, { emit() {} })).toThrow(
      'Expected play: builtin:NAME, or play: { yaml, scenario or builtin }, received "happy".',
    )
  })
})
