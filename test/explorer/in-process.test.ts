/** `explore` of `handover-sim/certify`: generated conversations in a test. */
import { asyncProperty, assert as check, integer, noShrink } from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { ExplorationFailedError, explore } from '../../src/testing/certify.ts'
import { runScenario, type ScenarioFile } from '../../src/testing/scenario.ts'
import { startExample } from '../mutants/example.ts'
import { withSmallIntermediary } from './small-intermediary.ts'

/** The seed of a conversation with one text in capitals. */
const LOUD = 50
const isLoud = (text: string) => text.startsWith('WHERE IS MY PARCEL')

describe('explore in a test', () => {
  it('finds nothing in the example, and restores its simulator', async () => {
    const { sim, close } = await startExample(null, { clock: 'virtual', seed: 7, knobs: { 'webhook.json': 'pretty' } })
    onTestFinished(close)
    const before = sim.config()
    const exploration = await explore(sim, { conversations: 16 })
    expect(exploration.failures).toEqual([])
    expect(exploration).toMatchObject({ conversations: 16, stopped: null })
    expect(exploration.acts).toBeGreaterThan(60)
    expect(exploration.situations).toBeGreaterThan(40)
    expect(exploration.leftOut).toContain('restart: the agent driver has no verb target.restart')
    expect(exploration.report()).toMatch(/^16 conversations, \d+ acts, \d+ situations in /m)
    exploration.assertPassed()
    expect(sim.config()).toEqual(before)
    expect(sim.chats()).toEqual([])
  })

  it('finds the shortest conversation that fails, and its scenario fails too', async () => {
    const sim = withSmallIntermediary({ loses: isLoud })
    const exploration = await explore(sim, { conversations: 60, seed: 3, within: '50ms' })
    const [failure, ...others] = exploration.failures
    expect(others).toEqual([])
    expect(failure).toMatchObject({
      invariant: 'INV-TEXT-TO-AGENT',
      name: 'A text of the user does not reach the agent: press, accept, user (capitals)',
      acts: 3,
      needs: ['only with texts of the kind capitals'],
      failed: 2,
      of: 2,
    })
    expect(failure?.yaml).toContain(`explore(sim, { replay: ${failure?.seed} })`)
    expect(() => exploration.assertPassed()).toThrow(ExplorationFailedError)
    expect(() => exploration.assertPassed()).toThrow(/FAILED INV-TEXT-TO-AGENT: .*press, accept, user \(capitals\)/)

    const run = await runScenario(sim, parse(failure?.yaml ?? '') as ScenarioFile)
    expect(run.outcome).toBe('fail')
    expect(run.scenarios[0]?.failures[0]?.kind).toBe('sees')
    const again = await explore(sim, { replay: failure?.seed ?? 0, within: '50ms' })
    expect(again.conversations).toBe(1)
    expect(again.failures.map(({ name }) => name)).toEqual([failure?.name])
    const fixed = await explore(withSmallIntermediary(), { replay: failure?.seed ?? 0, within: '50ms' })
    fixed.assertPassed()
  })

  // A failure is repeated alone three times; one that does not come again, twice more among others.
  it.each([
    { failingRuns: [1, 3], failure: { failed: 1, of: 10, yaml: null }, says: /failed 1 of 10 times/ },
    { failingRuns: [1, 5, 6], failure: { failed: 0, of: 3, yaml: null }, says: /failed again among a few others/ },
    { failingRuns: [1], failure: undefined, says: /Not confirmed: INV-TEXT-TO-AGENT: A text of the user/ },
  ])('what fails in its runs $failingRuns', async ({ failingRuns, failure, says }) => {
    let runs = 0
    let lastChat = ''
    const sim = withSmallIntermediary({
      received({ chat, message = '' }) {
        if (isLoud(message) && chat.id !== lastChat) runs++
        if (isLoud(message)) lastChat = chat.id
      },
      loses: text => isLoud(text) && failingRuns.includes(runs),
    })
    const exploration = await explore(sim, { replay: LOUD, within: '50ms' })
    expect(runs).toBeGreaterThanOrEqual(6)
    expect(exploration.failures).toEqual(failure === undefined ? [] : [expect.objectContaining(failure)])
    if (failure === undefined) exploration.assertPassed()
    else expect(() => exploration.assertPassed()).toThrow(ExplorationFailedError)
    expect(exploration.report()).toMatch(says)
  })

  it('runs the same conversations with the same seed, and others with another one', async () => {
    const heard = async (seed: number) => {
      const texts: string[] = []
      const received = ({ event, message = '' }: { event: string; message?: string }) =>
        texts.push(`${event} ${message}`)
      await explore(withSmallIntermediary({ received }), { conversations: 8, seed })
      return texts
    }
    const first = await heard(1)
    expect(first.length).toBeGreaterThan(20)
    expect(await heard(1)).toEqual(first)
    expect(await heard(2)).not.toEqual(first)
  })

  it('is a property of fast-check, which names the conversation that fails', async () => {
    const property = (loses: (text: string) => boolean) =>
      asyncProperty(noShrink(integer({ min: 0, max: 2 ** 31 - 1 })), async replay => {
        const exploration = await explore(withSmallIntermediary({ loses }), { replay, within: '50ms' })
        exploration.assertPassed()
      })
    await check(
      property(() => false),
      { numRuns: 5, seed: 1 },
    )
    await expect(check(property(isLoud), { numRuns: 200, seed: 1, includeErrorInReport: true })).rejects.toThrow(
      /FAILED INV-TEXT-TO-AGENT: .*user \((capitals|again)\)/,
    )
  })

  it('does not take a late call of an earlier conversation for a mistake of the next one', async () => {
    const late: (() => void)[] = []
    let requests = 0
    const sim = withSmallIntermediary({
      received({ event, chat: { id: chat_id } }) {
        for (const call of late.splice(0)) call()
        if (event !== 'REQUESTING TAKEOVER' || ++requests > 3) return
        const body = JSON.stringify({ bot_id: sim.botId, chat_id })
        const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
        late.push(() => void sim.fetch(`${sim.baseUrl}/api/v2/handover/typing_stop`, { method: 'POST', headers, body }))
      },
    })
    const exploration = await explore(sim, { conversations: 20 })
    expect(exploration.failures).toEqual([])
  })

  it('asks no second request of an inbox that begins anew with each', async () => {
    const exploration = await explore(withSmallIntermediary({ renewsInbox: true }), { conversations: 24 })
    expect(exploration.failures).toEqual([])
    expect(exploration.leftOut).toContain('requests after a handover without texts: it fails in a plain conversation')
  })

  it('ends when a plain conversation fails, and says why', async () => {
    // An inbox has to show the texts of the user.
    const silent = await explore(withSmallIntermediary({ loses: () => true }), { conversations: 20, within: '50ms' })
    expect(silent).toMatchObject({ conversations: 0, stopped: 'a plain conversation fails' })
    const received = () => {
      throw new Error('out of order')
    }
    const deaf = withSmallIntermediary({ received })
    const stopped = await explore(deaf, { conversations: 20, within: '50ms' })
    expect(stopped).toMatchObject({ conversations: 0, stopped: 'a plain conversation fails' })
    expect(() => stopped.assertPassed()).toThrow(/out of order/)
  })

  it('stops at its signal, and after its time', async () => {
    const stop = new AbortController()
    let events = 0
    const received = () => void (++events === 100 && stop.abort())
    const stopped = await explore(withSmallIntermediary({ received }), { conversations: 1_000, signal: stop.signal })
    expect(stopped.conversations).toBeLessThan(100)
    const { signal } = stop
    const undone = await explore(withSmallIntermediary(), { conversations: 20, signal })
    expect(undone).toMatchObject({ conversations: 0, stopped: null, leftOut: [] })
    const short = await explore(withSmallIntermediary(), { for: '50ms' })
    expect(short.conversations).toBeLessThan(1_000)
  })

  it.each([
    [{ conversations: 0 }, 'conversations must be'],
    [{ replay: -1 }, 'replay must be'],
    [{ seed: 1.5 }, 'seed must be'],
    [{ for: 'soon' as never }, 'for must be a duration such as 500ms or 2s, got "soon".'],
    [{ driver: { accept() {} } }, 'explore needs an agent with the functions accept and leave, got one without leave.'],
    [{ driver: null }, 'explore needs an agent with the functions accept and leave, got one without accept and leave.'],
    [{ jobs: 2 } as never, 'explore takes no jobs; it takes driver, conversations'],
  ])('rejects %j', async (options, message) => {
    await expect(explore(withSmallIntermediary(), options)).rejects.toThrow(message)
  })
})
