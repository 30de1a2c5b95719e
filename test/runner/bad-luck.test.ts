/** Whatever an intermediary does, a run ends, says what went wrong in its first lines, and writes its reports. */
import { describe, expect, it } from 'vitest'
import { freePort } from '../support/port.ts'
import {
  against,
  type Behaviour,
  callsAbout,
  finished,
  runFiles,
  startAnswering,
  startRun,
  startTarget,
} from './targets.ts'

const SIMPLE = `version: 1
name: Simple
timeouts: { expect: 100ms, settle: 50ms }
steps: [{ press: handover }, { expect: start }]
`
const FILES = { 'simple.yaml': SIMPLE }

async function play(behave: Behaviour, ...flags: string[]) {
  const target = await startTarget(behave)
  return finished(startRun(FILES, ['simple.yaml', ...against(target), ...flags]))
}

const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

/** The title of a scenario and its first failure, without the line breaks of a narrow terminal. */
const firstLines = (out: string) =>
  out
    .split('\n')
    .slice(0, 4)
    .join('\n')
    .replace(/\n {4}/g, ' ')

describe('a webhook that', () => {
  it.each<[string, Behaviour, RegExp, ...string[]]>([
    ['answers something else than HTTP', request => void request.socket.end('lalala\r\n\r\n'), /not HTTP/],
    ['has no status', ({ socket }) => void socket.end('HTTP/1.1 099 Odd\r\n\r\n'), /not HTTP: .*\(status 099\)/],
    ['never answers', () => {}, /timeout: no complete\s+answer within 400 ms/, '--set', 'webhook.timeout=400ms'],
    ['redirects', answer(302, { location: '/there' }), /answered 302/],
    ['fails', answer(500, {}, 'TypeError: no chat'), /answered 500[\s\S]*TypeError: no chat/],
    ['answers with 10 MB', answer(404, {}, 'x'.repeat(10_000_000)), /answered 404/],
  ])('%s: exit 1, the cause in the first lines', async (_, behave, cause, ...flags) => {
    const { code, out } = await play(behave, ...flags)
    expect(code).toBe(1)
    expect(firstLines(out)).toMatch(cause)
    expect(out).toContain('rerun: npx handover-sim run simple.yaml')
  })
})

it('a redirect is not followed, and the report names its location', async () => {
  const { out } = await play(answer(308, { location: '/webhook/' }))
  expect(out).toMatch(/hint +A redirect is not followed; is \/webhook\/ the webhook\?/)
})

it('the rerun command contains the option of a custom key, but not the key', async () => {
  const { out } = await play(answer(401), '--api-key', 'very-secret')
  expect(out).toMatch(/rerun: npx .* --api-key KEY/)
  expect(out).not.toContain('very-secret')
})

describe('a target that', () => {
  it('refuses connections makes every scenario an error: one message, exit 3', async () => {
    const files = Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [`${name}.yaml`, SIMPLE.replace('Simple', name)]))
    const { code, out, json } = await runFiles(files, { url: `http://127.0.0.1:${await freePort()}/webhook` })
    expect(code).toBe(3)
    expect(out.match(/ERROR|nothing listens/g)).toHaveLength(2)
    expect(out).not.toContain('Slowest')
    expect(firstLines(out)).toMatch(/4 scenarios {2}the target http:\/\/\S+\/webhook is not reachable: nothing listens/)
    expect(json.scenarios.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'error', 'error'])
  })

  it('starts later is awaited', async () => {
    const target = await startAnswering(500)
    await new Promise(resolve => target.server.close(resolve))
    const run = startRun(FILES, ['simple.yaml', ...against(target), '--wait-for-target', '60s'])
    target.server.listen(Number(new URL(target.url).port), '127.0.0.1')
    expect((await finished(run)).out).toMatch(/answered 500/)
  })

  it('ends during a scenario is reported as unreachable', async () => {
    const target = await startTarget((_, response) => {
      response.end(() => {
        target.server.close()
        target.server.closeAllConnections()
      })
    })
    const { code, out } = await runFiles(FILES, target)
    expect(code).toBe(1)
    expect(out).toMatch(/was not called within .*:\s+nothing\s+listens/s)
  })

  it('refuses an unknown chat is reported with its answer and the chat id', async () => {
    const { code, out } = await play(async (_, response, body) => {
      await callsAbout(body)('start', { chat_id: 'nope' })
      response.end()
    })
    expect(code).toBe(1)
    expect(firstLines(out)).toMatch(/the platform refused #\d+ POST .*start with 404 chat_not_found: chat_id "nope"/)
  })

  it('sends calls without end is stopped at the end of the scenario', async () => {
    const sender = { name: 'A', avatar: 'https://desk.example.test/a.png' }
    const { code, out } = await play((_, response, body) => {
      response.end()
      for (let n = 0; n < 100; n++) void callsAbout(body)('message/', { message: `${n}`, sender })
    })
    expect(code).toBe(1)
    expect(firstLines(out)).toMatch(/start was not called/)
    expect(out.length).toBeLessThan(20_000)
  })
})
