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
    const answer = await fetch(`${url}/_sim/plays`, { method: 'POST', body: JSON.stringify(body), signal })
    // biome-ignore lint/suspicious/noExplicitAny: bodies of answers
    return { status: answer.status, body: (await answer.json()) as any }
  }
  return { url, example, play }
}

const ATTACHING =
  'version: 1\nname: a\nsteps: [{ user: { text: x, attach: [{ file: /etc/hostname }] } }, { check: { status: bot } }]\n'
const waiting = { version: 1, name: 'Waits', steps: [{ wait: '1h' }, { check: { status: 'bot' } }] }

describe('plays', () => {
  it('answers with the verdict, the times and the range of the journal', async () => {
    const { url, play } = await startWithExample()
    const { status, body } = await play({ builtin: 'happy-path.yaml', seed: 7 })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ outcome: 'pass', failures: [], seed: 7, entries: [], counts: { pass: 1, fail: 0 } })
    expect(Object.values<number[]>(body.timings).map(times => times.length)).toEqual([2, 1, 1, 1])
    expect(body.journal.first_seq).toBeLessThan(body.journal.last_seq)
    const yaml = readFileSync(`${ROOT}scenarios/happy-path.yaml`, 'utf8')
    const { body: again } = await play({ yaml, seed: 7, repeat: 2, journal: 'always' })
    expect(again).toMatchObject({ counts: { pass: 2 }, timings: { ack: { length: 4 } } })
    expect(again.entries.length).toBeGreaterThan(5)
    expect(Object.keys(again.chats)).toEqual(Object.keys(body.chats))
    expect(again.chats).not.toEqual(body.chats)
    // The simulator itself has seen nothing.
    expect(await (await fetch(`${url}/_sim/chats`)).json()).toMatchObject({ chats: [] })
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
    await expect.poll(async () => (await play({ scenario: waiting, timeout: '1ms' })).status).toBe(429)
    expect((await play({ scenario: waiting })).body.error.code).toBe('too_many_plays')
    enough.abort()
    expect(await Promise.all(aborted)).toEqual(['AbortError', 'AbortError'])
    await expect.poll(async () => (await play({ builtin: 'happy-path.yaml' })).status).toBe(200)
  })

  it('reads no variable of the environment, and ends with the time limit of the request', async () => {
    const { play } = await startWithExample()
    const scenario = { ...waiting, steps: [{ user: '$(env.HOME)' }, { check: { status: 'bot' } }] }
    const { body } = await play({ scenario })
    expect(body).toMatchObject({ outcome: 'error', reason: expect.stringContaining('HOME') })
    expect((await play({ scenario: waiting, timeout: '100ms' })).body.outcome).toBe('inconclusive')
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
      [{}, 'invalid_scenario', 'is needed, got 0'],
      [
        { scenario: { ...waiting, steps: [{ include: '/etc/x.json' }] } },
        'invalid_scenario',
        'a request reads no files',
      ],
      [{ scenario: { ...waiting, steps: [{ include: 'builtin:../x.json' }] } }, 'invalid_scenario', 'reads no files'],
      [{ scenario: { ...waiting, steps: [{ include: 'builtin:typing.yaml' }] } }, 'invalid_scenario', 'kind: partial'],
      [{ yaml: ATTACHING }, 'invalid_scenario', 'a request reads no files'],
      [{ yaml: '# nothing' }, 'invalid_scenario', 'has no scenario in it'],
      [{ yaml: 'a', builtin: 'b' }, 'invalid_scenario', 'is needed, got 2'],
      [{ builtin: 'none.yaml' }, 'invalid_scenario', 'none.yaml'],
      [{ scenario: { version: 1, name: 'x', steps: [{ pres: 'handover' }] } }, 'invalid_scenario', 'press'],
      [{ scenario: waiting, timeout: '5' }, 'invalid_timeout', 'timeout must be a duration'],
      [{ scenario: waiting, agent_driver: { accept: { exec: ['rm'] } } }, 'invalid_driver', 'accept'],
      [{ scenario: waiting, agent_driver: { target: { start: ['a'] } } }, 'invalid_driver', 'target'],
      [{ scenario: waiting, seed: 'x' }, 'invalid_body', 'seed'],
    ]
    for (const [asked, code, message] of refused) {
      const { status, body } = await play(asked)
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringMatching(new RegExp(`${code}.*${message}`))])
    }
  })
})
