/** A test or a run in which handover-sim itself failed does not pass, and asks for a report of the problem. */
import { expect, it, onTestFinished } from 'vitest'
import { defineScenario, none, press } from '../../src/evaluation/scenario/build/index.ts'
import { coreOf } from '../../src/platform/simulator/simulator.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { AGENT } from '../support/chats.ts'

const TEXT = /#\d+ is an internal error of handover-sim \(timer\): broken; .*please\s+report\s+it/s

/** A simulator whose timers throw once, when the webhook receives an event. */
function breakingSimulator() {
  const sim = createSimulator({
    webhook: {
      fetch: () => {
        coreOf(sim).onThrown('timer', new Error('broken'))
        return new Response()
      },
    },
  })
  onTestFinished(() => sim.close())
  return sim
}

it('assertClean fails', async () => {
  const sim = breakingSimulator()
  await (await sim.chat()).press('handover')
  const failed = sim.assertClean()
  await expect(failed).rejects.toThrow(TEXT)
  await expect(failed).rejects.toMatchObject({ failure: { kind: 'internal', code: 'internal_error' } })
})

it('a scenario is an error, although every step passes', async () => {
  const scenario = defineScenario({ name: 'Takeover' }, [press('handover'), none('message', {}, { for: '0s' })])
  const run = await runScenario(breakingSimulator(), scenario)
  expect(run.scenarios).toMatchObject([
    { outcome: 'error', reason: { code: 'internal' }, steps: [{ outcome: 'pass' }, { outcome: 'pass' }] },
  ])
  expect(run.report()).toMatch(TEXT)
  expect(run.report()).toMatch(/exit 70: internal error of handover-sim: please report it with the journal/)
})

it('a call that fails inside the simulator is answered with 500 and journaled, and has no effect', async () => {
  const sim = createSimulator()
  onTestFinished(() => sim.close())
  const chat = await sim.chat()
  const { state } = coreOf(sim).platform
  const broken = Object.defineProperty({ botId: sim.botId, messages: [] }, 'takeover', {
    set: () => {
      throw new TypeError('broken')
    },
  })
  state.chats.set('broken', broken as never)
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: 'broken', sender: AGENT })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const answer = await sim.fetch(`${sim.baseUrl}/api/v2/handover/start`, { method: 'POST', headers, body })
  expect([answer.status, await answer.json()]).toMatchObject([500, { handover_sim: { internal_error: 'broken' } }])
  state.chats.delete('broken')
  const [call, note] = sim.journal.query().slice(-2)
  expect(call).toMatchObject({ kind: 'api', status: 500 })
  expect(note).toMatchObject({ note: 'internal_error', where: 'call', code: 'TypeError', cause: call!.seq })
  expect(chat.status).toBe('bot')
})
