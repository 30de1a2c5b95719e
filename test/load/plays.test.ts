/** `POST /_sim/plays`: scenarios in a running simulator, one request for each virtual user. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../src/commands/main.ts'
import { type FakeOutput, fakeOutput } from '../cli/fake-io.ts'
import { read } from '../docs/pages.ts'
import { NON_INTERACTIVE } from '../shipped/target.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Answer = { readonly status: number; readonly body: any }

let stderr: FakeOutput
let stop = (_: 'SIGTERM') => {}
let ended: Promise<number>
let url = ''

beforeAll(async () => {
  const stdout = fakeOutput()
  stderr = fakeOutput()
  const onSignal = (listener: typeof stop) => {
    stop = listener
    return () => {}
  }
  const args = ['start', '--demo', '--port', '0', '--plays', '2']
  ended = main(args, {}, { ...NON_INTERACTIVE, stdout, stderr, onSignal })
  url = /Ready: (\S+)/.exec(await stdout.until(/Ready: \S+\n/))?.[1] ?? ''
})
afterAll(async () => {
  stop('SIGTERM')
  await ended
})

async function play(body: object, signal?: AbortSignal): Promise<Answer> {
  const response = await fetch(`${url}/_sim/plays`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  return { status: response.status, body: await response.json() }
}

const waiting = { version: 1, name: 'Waits', steps: [{ wait: '1h' }, { check: { status: 'bot' } }] }

describe('plays', () => {
  it('answers with the verdict, the times and the range of the journal', async () => {
    const { status, body } = await play({ builtin: 'happy-path.yaml', seed: 7 })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      name: 'Happy path',
      outcome: 'pass',
      reason: null,
      failures: [],
      seed: 7,
      entries: [],
    })
    expect(body.counts).toMatchObject({ pass: 1, fail: 0 })
    const lengths = Object.values<number[]>(body.timings).map(times => times.length)
    expect(lengths).toEqual([2, 1, 1, 1])
    expect(body.journal.first_seq).toBeLessThan(body.journal.last_seq)
    // The simulator itself has seen nothing.
    expect(await (await fetch(`${url}/_sim/chats`)).json()).toMatchObject({ chats: [] })
  })

  it('the same seed has the same chats, and a repetition others', async () => {
    const text = read('scenarios/happy-path.yaml')
    const first = await play({ yaml: text, seed: 11, journal: 'always' })
    expect(first.body.entries.length).toBeGreaterThan(20)
    const twice = await play({ yaml: text, seed: 11, repeat: 2 })
    expect(twice.body.counts.pass).toBe(2)
    expect(twice.body.timings.ack.length).toBe(4)
    expect(Object.keys(twice.body.chats)).toEqual(Object.keys(first.body.chats))
    expect(twice.body.chats).not.toEqual(first.body.chats)
  })

  it('a failure has its code, what was expected, and the journal; a repetition ends with it', async () => {
    const scenario = {
      version: 1,
      name: 'Never ends',
      timeouts: { expect: '200ms' },
      steps: [{ press: 'handover' }, { expect: 'end' }],
    }
    const { body } = await play({ scenario, repeat: 5 })
    expect(body.outcome).toBe('fail')
    expect(body.counts).toMatchObject({ pass: 0, fail: 1 })
    expect(body.failures[0]).toMatchObject({ code: 'no_call', step: 2 })
    expect(body.failures[0].expected).toContain('end')
    expect(body.entries.length).toBeGreaterThan(5)
  })

  it('runs as many at once as --plays allows, and closing a request ends its run', async () => {
    const enough = new AbortController()
    const aborted = [1, 2].map(() => play({ scenario: waiting }, enough.signal).catch(error => error.name))
    await expect
      .poll(async () => (await play({ scenario: waiting, timeout: '1ms' })).status, { timeout: 10_000 })
      .toBe(429)
    const { body } = await play({ scenario: waiting })
    expect(body.error).toMatchObject({ code: 'too_many_plays' })
    expect(body.error.message).toBe('2 scenarios run already: start --plays allows more.')
    enough.abort()
    expect(await Promise.all(aborted)).toEqual(['AbortError', 'AbortError'])
    await expect.poll(async () => (await play({ builtin: 'happy-path.yaml' })).status, { timeout: 10_000 }).toBe(200)
  })

  it('does not run a scenario that reads a variable of the environment', async () => {
    const scenario = { version: 1, name: 'Team', steps: [{ user: '$(env.HOME)' }, { check: { status: 'bot' } }] }
    const { body } = await play({ scenario })
    expect(body.outcome).toBe('error')
    expect(body.reason).toContain('HOME')
  })

  it('timeout ends it, without a verdict', async () => {
    const { body } = await play({ scenario: waiting, timeout: '200ms' })
    expect(body.outcome).toBe('inconclusive')
    expect(body.duration_ms).toBeLessThan(5_000)
  })

  it('an agent driver of the request acts in its help desk', async () => {
    const desk = /(http:\S+)\/desk\/CHAT_ID\/accept/.exec(stderr.text)?.[1]
    const driver = { ...parse(read('examples/intermediary/driver.yaml')), http: desk }
    delete driver.target
    expect((await play({ builtin: 'builtin:happy-path.yaml', agent_driver: driver })).body.outcome).toBe('pass')
    const silent = await play({ builtin: 'happy-path.yaml', agent_driver: { http: desk, accept: 'POST /nowhere' } })
    expect(silent.body.outcome).not.toBe('pass')
  })

  it.each([
    [{}, 422, 'invalid_scenario', 'One of yaml, scenario and builtin is needed, got 0.'],
    [{ yaml: 'a', builtin: 'b' }, 422, 'invalid_scenario', 'One of yaml, scenario and builtin is needed, got 2.'],
    [{ builtin: 'none.yaml' }, 422, 'invalid_scenario', 'none.yaml'],
    [{ scenario: { version: 1, name: 'x', steps: [{ pres: 'handover' }] } }, 422, 'invalid_scenario', 'press'],
    [{ scenario: waiting, timeout: '5' }, 422, 'invalid_timeout', 'timeout must be a duration such as 2m, got "5".'],
    [{ scenario: waiting, agent_driver: { accept: { exec: ['rm'] } } }, 422, 'invalid_driver', 'accept'],
    [{ scenario: waiting, agent_driver: { target: { start: ['a'] } } }, 422, 'invalid_driver', 'target'],
    [{ scenario: waiting, seed: 'x' }, 422, 'invalid_body', 'seed'],
  ])('refuses %j', async (body, status, code, message) => {
    const answer = await play(body)
    expect([answer.status, answer.body.error.code], JSON.stringify(answer.body)).toEqual([status, code])
    expect(JSON.stringify(answer.body.error)).toContain(JSON.stringify(message).slice(1, -1))
  })
})
