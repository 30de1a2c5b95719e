/** The engine of Artillery against a running simulator, with an emitter that notes what it is told. */
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { pathOf } from '../docs/pages.ts'
import { NON_INTERACTIVE } from '../shipped/target.ts'

type Emitted = readonly [name: string, ...values: unknown[]]
type VirtualUser = (context: object, done: (error: Error | null, context: object) => void) => void
interface Engine {
  createScenario(scenario: { flow: object[] }, events: { emit(...emitted: Emitted): void }): VirtualUser
}

const HandoverSimEngine: new (script: object) => Engine = createRequire(import.meta.url)(
  pathOf('integrations/artillery-engine-handover-sim/index.js'),
)

let stop = (_: 'SIGTERM') => {}
let ended: Promise<number>
let url = ''

beforeAll(async () => {
  const stdout = fakeOutput()
  const onSignal = (listener: typeof stop) => {
    stop = listener
    return () => {}
  }
  const args = ['start', '--demo', '--port', '0', '--plays', '4']
  ended = main(args, {}, { ...NON_INTERACTIVE, stdout, stderr: fakeOutput(), onSignal })
  url = /Ready: (\S+)/.exec(await stdout.until(/Ready: \S+\n/))?.[1] ?? ''
})
afterAll(async () => {
  stop('SIGTERM')
  await ended
})

/** Runs one virtual user. */
async function run(...plays: unknown[]): Promise<{ error: Error | null; emitted: Emitted[] }> {
  const engine = new HandoverSimEngine({ config: { target: url, handoverSim: { timeout: '1m' } } })
  const emitted: Emitted[] = []
  const flow = plays.map(play => ({ play }))
  const user = engine.createScenario({ flow }, { emit: (...one) => void emitted.push(one) })
  return new Promise(resolve => user({ vars: {} }, error => resolve({ error, emitted })))
}

const namesOf = (emitted: readonly Emitted[]) => emitted.map(([kind, name]) => [kind, name].filter(Boolean).join(' '))

describe('the engine of Artillery', () => {
  it('plays each step of the flow, and reports verdicts and times', async () => {
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
    const { error, emitted } = await run({ builtin: 'none.yaml' })
    expect(error?.message).toContain('none.yaml')
    expect(namesOf(emitted)).toEqual(['started', 'error invalid_scenario'])
    const engine = new HandoverSimEngine({ config: { target: url } })
    expect(() => engine.createScenario({ flow: [{ play: 'happy' }] }, { emit() {} })).toThrow(
      'Expected play: builtin:NAME, or play: { yaml, scenario or builtin }, received "happy".',
    )
  })
})
