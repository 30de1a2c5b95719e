/** `trigger` and `resend` against a running simulator. */
import { createHmac } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { freePort } from '../support/port.ts'
import { type Handler, receiver } from '../webhooks/receiver.ts'
import { runCommand } from './fake-io.ts'

const signedAs =
  (encoding: 'base64' | 'hex'): Handler =>
  ({ bytes, headers }, response) => {
    const computed = createHmac('sha256', 'sim-handover-key').update(bytes).digest(encoding)
    response.writeHead(headers['kindly-hmac'] === computed ? 200 : 401).end('bad signature')
  }

/** A simulator whose webhook verifies signatures, and `run`, which adds its address to a command. */
async function setUp(options: PlatformServerOptions = {}, handler: Handler = signedAs('base64')) {
  const hook = await receiver(handler)
  const server = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  onTestFinished(() => server.close())
  const run = (argv: readonly string[], more = {}) => runCommand([...argv, '--url', server.url], more)
  return { hook, server, run }
}

const unknown = ['trigger', 'X', '--unknown']

it('trigger takes the chat, and the body as JSON, from a file and from stdin; it prints one line', async () => {
  const { hook, server, run } = await setUp()
  const first = await server.chat()
  await server.chat()
  const about = ['trigger', 'MESSAGE FROM USER', '--chat-id', first.id, '--body']
  const { code, out, err } = await run([...about, '{"message":"a"}'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^MESSAGE FROM USER delivered: 200 in [\d.]+ ms \(delivery [0-9a-f-]{36}\)\n$/)
  await run([...about, '@body.json'], { files: { 'body.json': '\ufeff{"message":"b"}' } })
  await run([...about, '-'], { stdin: '{"message":"c"}\n' })
  expect(hook.got.map(({ json }) => [json.chat.id, json.message])).toEqual(['a', 'b', 'c'].map(one => [first.id, one]))
})

it('resend sends the same bytes, and with --re-sign another signature', async () => {
  const { hook, server, run } = await setUp({ knobs: { 'keys.handover': 'old' } })
  await (await server.chat()).press('handover')
  await server.configure({ 'keys.handover': 'sim-handover-key' })
  const { delivery_id } = server.deliveries[0]!
  expect((await run(['resend', delivery_id])).code).toBe(1)
  expect(hook.got[1]!.bytes).toEqual(hook.got[0]!.bytes)
  const { code, out } = await run(['resend', delivery_id, '--re-sign', '--fault', 'duplicate=2'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^resent \(duplicate=2\), delivered: 200 in /)])
})

it('--fault takes values, lists and names without a value; the printed line repeats them', async () => {
  const { hook, run } = await setUp()
  const many = ['--fault', 'duplicate=3', '--fault', 'gap=1ms', '--fault', 'http=chunked,header-case']
  const { code, out } = await run([...unknown, ...many])
  expect([code, out]).toEqual([0, expect.stringMatching(/^X \(duplicate=3, gap=1ms, http=chunked,header-case\) deliv/)])
  expect(hook.got.map(({ headers }) => headers['transfer-encoding'])).toEqual(['chunked', 'chunked', 'chunked'])
})

it.each([
  ['base64', 0, /^X \(sign wrong-key\) refused with 401, as it should be \(delivery /],
  ['any', 1, /^X \(sign wrong-key\) answered 200, although its signature is wrong: answer 401/],
] as const)('a forged event to a service that takes %s exits with %i', async (accepts, exitCode, text) => {
  const { run } = await setUp({}, accepts === 'any' ? (_, response) => response.end() : signedAs(accepts))
  const { code, out } = await run([...unknown, '--sign', 'wrong-key'])
  expect([code, out]).toEqual([exitCode, expect.stringMatching(text)])
})

it('exits with 2 and sends nothing for a mistake that the simulator finds', async () => {
  const { hook, server, run } = await setUp()
  const { id } = await server.chat()
  const rows: [string[], RegExp][] = [
    [[...unknown, '--fault', 'duplicat=2'], /^--fault: "duplicat" is not one of .*; did you mean duplicate\?\n$/],
    [[...unknown, '--fault', 'delay=2'], /^delay must be a duration with a unit such as 500ms or 2s/],
    [[...unknown, '--fault', 'gap=1s'], /^gap is the time between copies: add duplicate/],
    [[...unknown, '--chat-id', 'nobody'], new RegExp(`^There is no chat "nobody"\\. The latest chats: ${id}\\.\\n$`)],
    [['trigger', 'MESSAGE FORM USER'], /^EVENT: .* is not .*; did you mean MESSAGE FROM USER\?.* --unknown/],
    [['resend', 'no/such'], /^There is no delivery "no\/such"/],
  ]
  for (const [argv, message] of rows) {
    const { code, err } = await run(argv)
    expect([code, err]).toEqual([2, expect.stringMatching(message)])
  }
  expect(hook.got).toEqual([])
})

it('--json prints the answer', async () => {
  const { server, run } = await setUp()
  const { code, out } = await run([...unknown, '--json', '--sign', 'hex'])
  const { delivery_id } = server.deliveries[0]!
  const ack = { status: 401, error: expect.stringContaining('only 200') }
  expect([code, JSON.parse(out)]).toMatchObject([0, { delivery_id, ack }])
  expect(JSON.parse((await run(['resend', delivery_id, '--json'])).out)).toMatchObject({ delivery_id })
})

it('exits with 1 without a chat, or when nothing listens at the webhook, and says so', async () => {
  const port = await freePort()
  const { run } = await setUp({ webhook: { url: `http://127.0.0.1:${port}/` } })
  const { code, err } = await run(['trigger', 'REQUESTING TAKEOVER'])
  expect([code, err]).toEqual([1, expect.stringMatching(/^REQUESTING TAKEOVER needs a chat, .* create one with/)])
  const refused = await run(unknown)
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining(`nothing listens at 127.0.0.1:${port}`)])
})
