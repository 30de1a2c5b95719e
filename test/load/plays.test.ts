/** `POST /_sim/plays`: scenarios in a running simulator, one request for each virtual user. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { serveExample } from '../support/example-service.ts'

/** Starts a simulator whose webhook is the example. */
async function startWithExample() {
  const example = await serveExample()
  const io = fakeIo(folderWith({ 'driver.json': example.driver }))
  const flags = ['--plays', '2', '--webhook-url', example.webhookUrl, '--agent-driver', 'driver.json']
  const { url } = await started(flags, {}, io)
  example.usePlatform(url)
  const play = async (body: object, signal: AbortSignal | null = null) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/_sim/plays`, { method: 'POST', headers, body: JSON.stringify(body), signal })
    // biome-ignore lint/suspicious/noExplicitAny: bodies of answers
    return { status: answer.status, body: (await answer.json()) as any }
  }
  return { url, example, play }
}

const waiting = { version: 1, name: 'Waits', steps: [{ wait: '1h' }, { check: { status: 'bot' } }] }

describe('plays', () => {
  it('answers with the verdict, the times and the range of the journal', async () => {
    const { url, play } = await startWithExample()
    const { status, body } = await play({ builtin: 'happy-path.yaml', seed: 7 })
    expect(status, JSON.stringify(body)).toBe(200)
    const expected = { name: 'Happy path', outcome: 'pass', reason: null, failures: [], seed: 7, entries: [] }
    expect(body).toMatchObject({ ...expected, counts: { pass: 1, fail: 0 } })
    expect(Object.values<number[]>(body.timings).map(times => times.length)).toEqual([2, 1, 1, 1])
    expect(body.journal.first_seq).toBeLessThan(body.journal.last_seq)
    // The simulator itself has seen nothing.
    expect(await (await fetch(`${url}/_sim/chats`)).json()).toMatchObject({ chats: [] })
  })

  it('the same seed has the same chats, and a repetition others', async () => {
    const { play } = await startWithExample()
    const yaml = readFileSync(`${ROOT}scenarios/happy-path.yaml`, 'utf8')
    const first = await play({ yaml, seed: 11, journal: 'always' })
    expect(first.body.entries.length).toBeGreaterThan(20)
    const twice = await play({ yaml, seed: 11, repeat: 2 })
    expect(twice.body).toMatchObject({ counts: { pass: 2 }, timings: { ack: { length: 4 } } })
    expect(Object.keys(twice.body.chats)).toEqual(Object.keys(first.body.chats))
    expect(twice.body.chats).not.toEqual(first.body.chats)
  })

  it('a failure has its code, what was expected, and the journal; a repetition ends with it', async () => {
    const { play } = await startWithExample()
    const steps = [{ press: 'handover' }, { expect: 'end' }]
    const scenario = { version: 1, name: 'Never ends', timeouts: { expect: '100ms' }, steps }
    const { body } = await play({ scenario, repeat: 5 })
    expect(body).toMatchObject({ outcome: 'fail', counts: { pass: 0, fail: 1 } })
    expect(body.failures[0]).toMatchObject({ code: 'no_call', step: 2, expected: expect.stringContaining('end') })
    expect(body.entries.length).toBeGreaterThan(5)
  })

  it('runs as many at once as --plays allows, and closing a request ends its run', async () => {
    const { play } = await startWithExample()
    const enough = new AbortController()
    const aborted = [1, 2].map(() => play({ scenario: waiting }, enough.signal).catch(error => error.name))
    // A request that comes before those two has its own end, and one that comes after them is refused.
    await expect.poll(async () => (await play({ scenario: waiting, timeout: '1ms' })).status).toBe(429)
    const { body } = await play({ scenario: waiting })
    expect(body.error).toMatchObject({
      code: 'too_many_plays',
      message: '2 scenarios run already: start --plays allows more.',
    })
    enough.abort()
    expect(await Promise.all(aborted)).toEqual(['AbortError', 'AbortError'])
    await expect.poll(async () => (await play({ builtin: 'happy-path.yaml' })).status).toBe(200)
  })

  it.each<[string, object, string, string | RegExp | null]>([
    [
      'a variable of the environment',
      { steps: [{ user: '$(env.HOME)' }, { check: { status: 'bot' } }] },
      'error',
      /HOME/,
    ],
    ['the time limit of the request', { steps: waiting.steps }, 'inconclusive', null],
  ])('ends without a verdict: %s', async (name, steps, outcome, reason) => {
    const { play } = await startWithExample()
    const { body } = await play({ scenario: { version: 1, name, ...steps }, timeout: '100ms' })
    expect(body.outcome).toBe(outcome)
    if (reason !== null) expect(body.reason).toMatch(reason)
  })

  it('an agent driver of the request acts in its help desk', async () => {
    const { example, play } = await startWithExample()
    const driver = JSON.parse(example.driver)
    expect((await play({ builtin: 'builtin:happy-path.yaml', agent_driver: driver })).body.outcome).toBe('pass')
    const silent = { http: driver.http, accept: 'POST /nowhere' }
    expect((await play({ builtin: 'happy-path.yaml', agent_driver: silent })).body.outcome).not.toBe('pass')
  })

  it('refuses a body that is no scenario, and a driver with programs', async () => {
    const { play } = await startWithExample()
    const refused: [object, string, string][] = [
      [{}, 'invalid_scenario', 'One of yaml, scenario and builtin is needed, got 0.'],
      [{ yaml: 'a', builtin: 'b' }, 'invalid_scenario', 'One of yaml, scenario and builtin is needed, got 2.'],
      [{ builtin: 'none.yaml' }, 'invalid_scenario', 'none.yaml'],
      [{ scenario: { version: 1, name: 'x', steps: [{ pres: 'handover' }] } }, 'invalid_scenario', 'press'],
      [{ scenario: waiting, timeout: '5' }, 'invalid_timeout', 'timeout must be a duration such as 2m, got \\"5\\".'],
      [{ scenario: waiting, agent_driver: { accept: { exec: ['rm'] } } }, 'invalid_driver', 'accept'],
      [{ scenario: waiting, agent_driver: { target: { start: ['a'] } } }, 'invalid_driver', 'target'],
      [{ scenario: waiting, seed: 'x' }, 'invalid_body', 'seed'],
    ]
    for (const [asked, code, message] of refused) {
      const { status, body } = await play(asked)
      expect([asked, status, body.error.code]).toEqual([asked, 422, code])
      expect(JSON.stringify(body.error)).toContain(message)
    }
  })
})
