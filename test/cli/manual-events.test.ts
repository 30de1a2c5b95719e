/** `trigger` and `resend` against a running simulator. */

import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { startSimulator } from '../../src/index.ts'
import { failureText } from '../../src/platform/wording/failures.ts'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { type Handler, receiver } from '../webhooks/receiver.ts'
import { fakeIo } from './fake-io.ts'

async function result(argv: string[], env: Record<string, string> = {}, files = {}, stdin = '') {
  const io = fakeIo(folderWith(files), false, stdin)
  const code = await main(argv, env, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

const verifying: Handler = ({ bytes, headers }, response) => {
  const right = createHmac('sha256', 'sim-handover-key').update(bytes).digest('base64')
  response.writeHead(headers['kindly-hmac'] === right ? 200 : 401).end()
}

async function setUp(options: PlatformServerOptions = {}) {
  const hook = await receiver(verifying)
  const server: PlatformServer = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  onTestFinished(() => server.close())
  return { hook, server, at: ['--url', server.url] }
}

const ID = /[0-9a-f-]{36}/.source

it('trigger prints one line for a delivered event and exits with 0', async () => {
  const { hook, server, at } = await setUp()
  const chat = await server.chat()
  const { code, out, err } = await result(['trigger', 'AGENT TYPING START', ...at])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(new RegExp(`^AGENT TYPING START delivered: 200 in [\\d.]+ ms \\(delivery ${ID}\\)\\n$`))
  expect(hook.got[0]!.json).toEqual({ event: 'AGENT TYPING START', chat_id: chat.id })
})

it.each(['none', 'wrong-key', 'tampered', 'truncated', 'hex'])('trigger --sign %s: refused, exit 1', async sign => {
  const { at } = await setUp()
  const { code, out, err } = await result(['trigger', 'X', '--unknown', '--sign', sign, ...at])
  expect({ code, err }).toEqual({ code: 1, err: '' })
  expect(out).toMatch(
    new RegExp(`^X \\(sign ${sign}\\) not acknowledged: answered 401; only 200 .*, in [\\d.]+ ms \\(delivery`),
  )
})

it('trigger takes the chat, and the body as JSON, from a file and from stdin', async () => {
  const { hook, server, at } = await setUp()
  const first = await server.chat()
  await server.chat()
  const about = ['trigger', 'MESSAGE FROM USER', '--chat-id', first.id, ...at]
  await result([...about, '--body', '{"message":"a"}'])
  await result([...about, '--body', '@body.json'], {}, { 'body.json': '\ufeff{"message":"b"}' })
  await result([...about, '--body', '-'], {}, {}, '{"message":"c"}\n')
  expect(hook.got.map(({ json }) => [json.chat.id, json.message])).toEqual(['a', 'b', 'c'].map(one => [first.id, one]))
})

it('trigger prints why there is no acknowledgement', async () => {
  const port = await freePort()
  const { at } = await setUp({ webhook: { url: `http://127.0.0.1:${port}/` } })
  const { code, out } = await result(['trigger', 'X', '--unknown', ...at])
  expect(code).toBe(1)
  expect(out).toMatch(
    new RegExp(`^X not delivered: nothing listens at 127.0.0.1:${port} \\(ECONNREFUSED\\) \\(delivery`),
  )
})

it('resend sends the same bytes; for an unknown id it lists the latest and exits with 2', async () => {
  const { hook, server, at } = await setUp()
  await (await server.chat()).press('handover')
  const { delivery_id } = server.deliveries[0]!
  const { code, out, err } = await result(['resend', delivery_id, ...at])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(new RegExp(`^resent, delivered: 200 in [\\d.]+ ms \\(delivery ${delivery_id}\\)\\n$`))
  expect(hook.got[1]!.bytes).toEqual(hook.got[0]!.bytes)
  const unknown = await result(['resend', 'no/such', ...at])
  expect(unknown).toEqual({
    code: 2,
    out: '',
    err: `There is no delivery "no/such". The latest deliveries: ${delivery_id}.\n`,
  })
})

it('resend --re-sign signs with the current key', async () => {
  const { server, at } = await setUp({ knobs: { 'keys.handover': 'old' } })
  await (await server.chat()).press('handover')
  await server.configure({ 'keys.handover': 'sim-handover-key' })
  const { delivery_id } = server.deliveries[0]!
  expect((await result(['resend', delivery_id, ...at])).code).toBe(1)
  expect((await result(['resend', delivery_id, '--re-sign', ...at])).code).toBe(0)
})

it('--fault takes values, lists and names without a value; the printed line repeats them', async () => {
  const { hook, server, at } = await setUp()
  const many = ['--fault', 'duplicate=3', '--fault', 'gap=1ms', '--fault', 'http=chunked,header-case']
  const { code, out, err } = await result(['trigger', 'X', '--unknown', ...many, ...at])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^X \(duplicate=3, gap=1ms, http=chunked,header-case\) delivered: 200 in /)
  expect(hook.got.map(({ headers }) => headers['transfer-encoding'])).toEqual(['chunked', 'chunked', 'chunked'])
  const cut = await result(['trigger', 'X', '--unknown', '--sign', 'none', '--fault', 'reset_after_answer', ...at])
  expect(cut.out).toMatch(/^X \(sign none, reset_after_answer\) not acknowledged: answered 401/)
  const { delivery_id } = server.deliveries[0]!
  const again = await result(['resend', delivery_id, '--fault', 'duplicate=2', ...at])
  expect(again.out).toMatch(/^resent \(duplicate=2\), delivered: 200 in /)
  expect(hook.got).toHaveLength(6)
})

it.each([
  ['duplicat=2', /^--fault: "duplicat" is not one of delay, duplicate, .*; did you mean duplicate\?\n$/],
  ['event=Y', /^--fault: "event" is not one of /],
  ['delay=2', /^delay must be a duration with a unit such as 500ms or 2s/],
  ['duplicate=1', /^duplicate must be /],
  ['truncate=false', /^truncate must be /],
  ['gap=1s', /^gap is the time between copies: add duplicate/],
  ['http=x', /^http must be /],
])('--fault %s is exit 2 with an explanation', async (fault, words) => {
  const { hook, at } = await setUp()
  const { code, err } = await result(['trigger', 'X', '--unknown', '--fault', fault, ...at])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(words) })
  expect(hook.got).toEqual([])
})

it('exits with 2 when --fault repeats a name', async () => {
  const { code, err } = await result(['resend', 'x', '--fault', 'http=chunked', '--fault', 'http=header-case'])
  expect({ code, err }).toEqual({ code: 2, err: '--fault http: given twice; a list is written with commas.\n' })
})

it('--json prints the answer', async () => {
  const { server, at } = await setUp()
  const { code, out } = await result(['trigger', 'X', '--unknown', '--json', '--sign', 'none', ...at])
  expect(code).toBe(1)
  const { delivery_id, status, duration_ms, failure } = server.deliveries[0]!
  expect(JSON.parse(out)).toEqual({ delivery_id, ack: { status, duration_ms, error: failureText(failure) } })
  expect(JSON.parse((await result(['resend', delivery_id, '--json', ...at])).out)).toMatchObject({ delivery_id })
})

it('exits with 1 without a chat, and prints how to create one', async () => {
  const { at } = await setUp()
  const { code, out, err } = await result(['trigger', 'REQUESTING TAKEOVER', ...at])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^REQUESTING TAKEOVER needs a chat, .* create one with POST \/_sim\/chats.*\n$/)
})

it.each([
  [['trigger'], /missing required argument 'event'/],
  [['trigger', ''], /^EVENT: must not be empty\.\n$/],
  [['trigger', 'X', '--unknown', 'Y'], /too many arguments/],
  [
    ['trigger', 'X', '--unknown', '--sign', 'bad'],
    /Allowed choices are valid, none, wrong-key, tampered, truncated, hex/,
  ],
  [['trigger', 'X', '--unknown', '--body', '{'], /^--body: is not JSON: .*\n$/],
  [['trigger', 'X', '--unknown', '--body', '[1]'], /^--body: must be a JSON object such as/],
  [['trigger', 'X', '--unknown', '--body', '@none.json'], /^--body: none\.json cannot be read: ENOENT/],
  [['trigger', 'X', '--unknown', '--body', '-'], /^--body: stdin: is not JSON/],
  [
    ['trigger', 'X', '--unknown', '--url', 'localhost'],
    /^--url: must be an http or https URL .*, got "localhost"\.\n$/,
  ],
  [['resend'], /missing required argument 'id'/],
  [['resend', ''], /^ID: must not be empty\.\n$/],
])('%j: exit 2, on stderr', async (argv, message) => {
  const { code, out, err } = await result(argv)
  expect(err).toMatch(message)
  expect({ code, out }).toEqual({ code: 2, out: '' })
})

it('exits with 2 for an unknown chat', async () => {
  const { server, at } = await setUp()
  const { id } = await server.chat()
  const { code, err } = await result(['trigger', 'X', '--unknown', '--chat-id', 'nobody', ...at])
  expect([code, err]).toEqual([2, `There is no chat "nobody". The latest chats: ${id}.\n`])
})

it('exits with 3 and prints one line when nothing listens', async () => {
  const port = await freePort()
  const at = `http://127.0.0.1:${port}`
  const message = `No simulator answers at ${at}: nothing listens at 127.0.0.1:${port} (ECONNREFUSED). Start one with: npx handover-sim start\n`
  expect(await result(['trigger', 'X', '--unknown', '--url', at])).toEqual({ code: 3, out: '', err: message })
  expect(await result(['resend', 'd'], { HANDOVER_SIM_URL: at })).toEqual({ code: 3, out: '', err: message })
})

it('exits with 3 when another server answers', async () => {
  const other = createServer((_, response) => response.writeHead(404).end('<h1>Not here</h1>'))
  onTestFinished(() => void other.close())
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(other.address() as { port: number }).port}`
  const { code, err } = await result(['trigger', 'X', '--unknown', '--url', at])
  expect([code, err]).toEqual([3, `No simulator answers at ${at}: something else does, with status 404.\n`])
})

it('sends the token to a simulator on another address', async () => {
  const { server } = await setUp({ host: '0.0.0.0' })
  const at = ['--url', `http://127.0.0.1:${server.port}`]
  expect(await result(['trigger', 'X', '--unknown', ...at])).toMatchObject({
    code: 2,
    err: expect.stringContaining('token'),
  })
  expect((await result(['trigger', 'X', '--unknown', '--token', server.controlToken!, ...at])).code).toBe(0)
})

it('trigger refuses an event that the platform does not have, unless --unknown says so', async () => {
  const { hook, at } = await setUp()
  expect(await result(['trigger', 'MESSAGE FORM USER', ...at])).toEqual({
    code: 2,
    out: '',
    err: 'EVENT: "MESSAGE FORM USER" is not an event of the platform; did you mean MESSAGE FROM USER? To send it as it is, add --unknown.\n',
  })
  expect((await result(['trigger', 'HELLO', ...at])).err).toMatch(
    /; they are REQUESTING TAKEOVER, .* add --unknown\.\n$/,
  )
  expect(hook.got).toEqual([])
  expect((await result(['trigger', 'HELLO', '--unknown', ...at])).code).toBe(0)
  expect(hook.got[0]!.json).toEqual({ event: 'HELLO' })
})

it('--fault suggests the name that an abbreviation begins', async () => {
  const { err } = await result(['trigger', 'AGENT TYPING STOP', '--fault', 'dup=2'])
  expect(err).toMatch(/; did you mean duplicate\?\n$/)
})

it('diagnose names the mistake, what shows it and the fix, and exits with 0', async () => {
  const hook = await receiver(({ bytes, headers }, response) => {
    const computed = createHmac('sha256', 'sim-handover-key').update(bytes).digest('hex')
    response.writeHead(headers['kindly-hmac'] === computed ? 200 : 401).end('bad signature')
  })
  const server = await startSimulator({ port: 0, webhook: { url: hook.url } })
  onTestFinished(() => server.close())
  const nothing = await result(['diagnose', '--url', server.url])
  expect(nothing).toMatchObject({ code: 2, err: expect.stringContaining('No delivery was refused so far') })
  await (await server.chat()).press('handover')
  const { code, out, err } = await result(['diagnose', '--url', server.url])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(
    /^Your service compares the signature as hexadecimal instead of base64: #\d+ shows it\.\nIts answer to REQUESTING TAKEOVER: 401 "bad signature"\nIt accepted no event so far \(1 refused\)\.\nFix: Encode the digest as base64.*\n\d+ events without effect on a help desk were sent to find out: #\d+ to #\d+\.\n$/,
  )
  const json = await result(['diagnose', '--url', server.url, '--json', '--signature', 'c2lnbmF0dXJl'])
  expect(JSON.parse(json.out)).toMatchObject({ code: 'wrong-length', probes: [] })
  expect(json.code).toBe(0)
})

it('diagnose exits with 1 when no trial explains the refusal', async () => {
  const hook = await receiver((_got, response) => response.writeHead(401).end())
  const server = await startSimulator({ port: 0, webhook: { url: hook.url } })
  onTestFinished(() => server.close())
  await (await server.chat()).press('handover')
  const { code, out } = await result(['diagnose', '--url', server.url])
  expect([code, out]).toEqual([1, expect.stringContaining('no usual mistake explains')])
})
