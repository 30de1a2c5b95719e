/** `runScenario`: the shipped scenarios inside a test process, and what it makes of others. */
import { describe, expect, it, onTestFinished } from 'vitest'
import * as build from '../../src/evaluation/scenario/build/index.ts'
import { runScenario, ScenarioFailedError } from '../../src/testing/scenario.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { filesIn } from '../architecture/files.ts'
import { withReference } from './reference.ts'

const { agent, check, defineScenario, expectCall, none, press, user, wait } = build
const FILES = filesIn('scenarios', '.yaml').filter(file => !file.startsWith('parts/'))

/** Nothing in this process can be killed and started again. */
const VERDICTS: Readonly<Record<string, string>> = { 'restart.yaml': 'inconclusive' }

it.concurrent.each(FILES)('the shipped scenario %s has the same verdict as over HTTP', async file => {
  const { sim, close } = await withReference()
  const { outcome, scenarios, report } = await runScenario(sim, `scenarios/${file}`)
  await close()
  const expected = VERDICTS[file] ?? 'pass'
  const outcomes = [outcome, ...scenarios.map(({ outcome }) => outcome)]
  expect(scenarios.length).toBeGreaterThan(0)
  expect([...new Set(outcomes)], report()).toEqual([expected])
})

describe('a scenario in code', () => {
  async function reference() {
    const made = await withReference()
    onTestFinished(made.close)
    return made.sim
  }
  const greeting = defineScenario({ name: 'Greeting' }, [
    press('handover'),
    agent('accept'),
    expectCall('start'),
    agent.says('Hi!'),
    expectCall('message', { message: 'Hi!' }),
  ])

  it('runs with the agent of the simulator', async () => {
    const run = await runScenario(await reference(), greeting)
    run.assertPassed()
    expect(run).toMatchObject({ outcome: 'pass', scenarios: [{ name: 'Greeting', outcome: 'pass' }] })
    expect(run.report()).toContain('PASS scenario > Greeting')
  })

  it('draws the same values as a run with that seed, and restores the seed of the simulator', async () => {
    const sim = await reference()
    const before = (await sim.chat()).view()
    const nameOf = async (seed: number) => {
      const [play] = (await runScenario(sim, greeting, { seed })).scenarios
      const conversation = play!.journal.find(entry => entry.kind === 'note' && entry.note === 'conversation')
      return (conversation as unknown as { chat: { name: string } }).chat.name
    }
    const [first, again, other] = [await nameOf(1), await nameOf(1), await nameOf(2)]
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect((await sim.chat()).view()).toMatchObject({ chatId: before.chatId, userId: before.userId })
  })

  it('fails with the report of the runner', async () => {
    const wrong = defineScenario({ name: 'Wrong' }, [
      press('handover'),
      agent('accept'),
      expectCall('start', { sender: { name: 'Bo' } }, { within: '100ms' }),
    ])
    const run = await runScenario(await reference(), [greeting, wrong])
    expect(run.scenarios.map(({ outcome }) => outcome)).toEqual(['pass', 'fail'])
    const stack = expect.stringContaining('run-scenario.test.ts')
    expect(run.assertPassed).toThrow(ScenarioFailedError)
    expect(run.assertPassed).toThrow(expect.objectContaining({ message: run.report(), stack }))
    expect(run.report()).toContain('- "Bo"   + "Anna"')
  })

  it('is inconclusive without a driver', async () => {
    const run = await runScenario(createSimulator({ webhook: { fetch: () => new Response('ok') } }), greeting)
    expect(run).toMatchObject({ outcome: 'inconclusive' })
    expect(run.report()).toContain('accept')
  })

  it('resets the simulator before and after, and restores the settings', async () => {
    const sim = await reference()
    const patient = defineScenario({ name: 'Patient', config: { 'typing.webhook': 'off' } }, [
      press('handover'),
      wait('10m'),
      none('message', {}, { for: '1ms' }),
      check({ status: 'pending' }),
    ])
    const before = sim.config()
    for (let time = 1; time <= 2; time++) {
      const { outcome, report } = await runScenario(sim, patient)
      expect(outcome, report()).toBe('pass')
    }
    expect(sim.config()).toEqual(before)
    expect(sim.chats()).toEqual([])
    await sim.assertClean()
  })

  it('names the clock that it needs', async () => {
    const sim = createSimulator({ clock: 'real' })
    const later = defineScenario({ name: 'Later', clock: 'virtual' }, [user('Hi'), check({ status: 'bot' })])
    await expect(runScenario(sim, later)).rejects.toThrow('Later needs a virtual clock, and the clock of this')
    const earlier = { ...later, clock: { mode: 'virtual' as const, start: '2020-01-01T00:00:00Z' } }
    await expect(runScenario(createSimulator(), earlier)).rejects.toThrow(/begins at 2020-01-01T00:00:00Z, before/)
  })

  it('reports its mistakes', async () => {
    const wrong = defineScenario({ name: 'Wrong' }, [{ press: 'handover', expekt: 'start' } as never])
    await expect(runScenario(createSimulator(), wrong)).rejects.toThrow(/expekt/)
    await expect(runScenario(createSimulator(), 'scenarios/nowhere.yaml')).rejects.toThrow(/nowhere\.yaml/)
  })
})
