import { describe, expect, it } from 'vitest'
import { CertificationFailedError, certificationChecks, certify } from '../../src/testing/certify.ts'
import { createSimulator } from '../../src/testing/simulator.ts'
import { startExample } from '../mutants/example.ts'

describe('certify in a test', () => {
  it('passes the example as a function', async () => {
    const { sim, close } = await startExample(null)
    const certification = await certify(sim, { only: ['SIG-01', 'SIG-02', 'SIG-03'] })
    expect(certification.checks.map(({ id, outcome }) => ({ id, outcome }))).toEqual([
      { id: 'SIG-01', outcome: 'pass' },
      { id: 'SIG-02', outcome: 'pass' },
      { id: 'SIG-03', outcome: 'pass' },
    ])
    certification.assertPassed()
    await close()
  })

  it('fails a function that accepts everything, with the report as the message', async () => {
    const sim = createSimulator({ webhook: { fetch: () => new Response('ok') } })
    const certification = await certify(sim, { only: ['SIG-02'], within: '200ms' })
    expect(certification.checks[0]).toMatchObject({ id: 'SIG-02', outcome: 'inconclusive' })
    expect(() => certification.assertPassed()).toThrow(CertificationFailedError)
    expect(() => certification.assertPassed()).toThrow(/INCONCLUSIVE\s+SIG-02/)
  })

  it('names the check that shows the cause, and begins the report with it', async () => {
    const sim = createSimulator({ webhook: { fetch: () => new Response('no', { status: 401 }) } })
    const { causes, checks, report } = await certify(sim, { only: ['SIG-01', 'SIG-02', 'ACK-01'], within: '200ms' })
    const text = 'The webhook answered 401 to a validly signed REQUESTING TAKEOVER.'
    expect(causes).toEqual([{ check: 'SIG-01', text, blocked: ['SIG-02', 'ACK-01'], repeated: [] }])
    expect(checks.map(({ outcome, blockedBy }) => [outcome, blockedBy])).toEqual([
      ['fail', null],
      ['blocked', 'SIG-01'],
      ['blocked', 'SIG-01'],
    ])
    expect(report({ columns: 200 }).split('\n')[0]).toBe(`SIG-01: ${text} 2 checks are blocked by it.`)
  })

  it('reports an internal error of one check, and plays the others', async () => {
    const inbox = () => Promise.reject(new TypeError('a driver that breaks its promise'))
    const driver = { name: 'broken', verbs: ['inbox'], call: inbox, inbox, target: null, close: async () => {} }
    const { sim, close } = await startExample(null)
    const certification = await certify(sim, { only: ['SIG-02', 'SIG-06', 'ACK-01'], driver })
    expect(certification.checks.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['SIG-02', 'error'],
      ['SIG-06', 'pass'],
      ['ACK-01', 'pass'],
    ])
    expect(certification.checks[0]?.reason).toMatch(
      /^Internal error of handover-sim: TypeError: a driver that breaks its promise/,
    )
    expect(() => certification.assertPassed()).toThrow(/ERROR\s+SIG-02/)
    expect(certification.report()).toMatch(/^exit 70: internal error of handover-sim/m)
    await close()
  })

  it('restores the settings and the seed of the simulator', async () => {
    const { sim, close } = await startExample(null, { seed: 7, knobs: { 'webhook.json': 'pretty' } })
    const before = sim.config()
    await certify(sim, { only: ['SIG'] })
    expect(sim.config()).toEqual(before)
    await close()
  })

  it('ends a check when the intermediary makes thousands of calls', async () => {
    let events = 0
    const sim = createSimulator({
      webhook: {
        async fetch(request) {
          if (++events > 1) return new Response('ok')
          const { bot, chat } = await request.json()
          const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
          const body = JSON.stringify({ bot_id: bot?.id, chat_id: chat?.id })
          const call = () => sim.fetch(`${sim.baseUrl}/api/v2/handover/typing_stop`, { method: 'POST', headers, body })
          await Promise.all(Array.from({ length: 5_001 }, call))
          return new Response('ok')
        },
      },
    })
    const { checks } = await certify(sim, { only: ['SIG-01'], rotateUnspecified: false })
    expect(checks[0]).toMatchObject({ outcome: 'inconclusive', reasonCode: 'call_flood' })
    expect(checks[0]?.reason).toMatch(/made 5000 calls in .*, more than a check follows/)
  })

  it('says of what it did not check that it was stopped', async () => {
    const stop = new AbortController()
    let events = 0
    const fetch = () => {
      if (++events === 3) stop.abort()
      return new Response('ok')
    }
    const sim = createSimulator({ webhook: { fetch } })
    const { checks } = await certify(sim, { signal: stop.signal, within: '50ms', observe: '10ms' })
    expect(checks[0]).toMatchObject({ id: 'SIG-01', outcome: 'pass' })
    const open = checks.filter(({ reason }) => reason === 'The run ended before this check.')
    expect(open.length).toBeGreaterThan(checks.length / 2)
  })

  it('refuses an unknown check', async () => {
    await expect(certify(createSimulator(), { only: ['SIG-0x'] })).rejects.toThrow(
      /^There is no check "SIG-0x"; did you mean SIG-01\?$/,
    )
    await expect(certify(createSimulator(), { only: ['nothing-like-it'] })).rejects.toThrow(
      /^There is no check "nothing-like-it"; `npx handover-sim certify --list` prints all\.$/,
    )
  })

  it('lists the checks, for one test per check', () => {
    expect(certificationChecks[0]).toEqual({
      id: 'SIG-01',
      title: 'A valid signature is accepted',
      level: 'MUST',
      profile: 'webhook',
    })
  })

  it('says that handover is closed, where that prevents a check', async () => {
    const agent = { accept: () => {}, says: () => {}, inbox: () => [] }
    const businessHours = { time_zone: 'Europe/Oslo', mon: '03:00-03:01' } as const
    const sim = createSimulator({ webhook: { fetch: () => new Response('ok') }, agent, businessHours })
    const { checks } = await certify(sim, { only: ['FLW-01'] })
    expect(checks[0]).toMatchObject({ outcome: 'inconclusive', reason: expect.stringMatching(/^Handover is closed/) })
  })
})
