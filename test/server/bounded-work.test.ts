/** Checks that hostile names, lists and texts take little time and memory to refuse. */
import { Buffer } from 'node:buffer'
import { expect, onTestFinished, test } from 'vitest'
import { createSimulator, startSimulator } from '../../src/index.ts'
import { createControlClient } from '../support/control-client.ts'

async function setUp() {
  const server = await startSimulator({ port: 0 })
  onTestFinished(() => server.close())
  const chat = await server.chat()
  const ids = `"bot_id":${server.botId},"chat_id":"${chat.id}"`
  const post = async (endpoint: string, body: string) => {
    const response = await fetch(`${server.url}/api/v2/handover/${endpoint}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body,
    })
    return { status: response.status, text: await response.text() }
  }
  return { server, chat, ids, post, ask: createControlClient(server) }
}

/** Of the processor, so that other processes do not count. Without its bound, each takes between 5 and 80 seconds. */
const SOON_MS = 4000

/** Of this thread where Node can tell, because other test files run in other threads of the process. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

async function timed<T>(run: () => Promise<T>): Promise<T> {
  const started = processorMs()
  const result = await run()
  expect(processorMs() - started).toBeLessThan(SOON_MS)
  return result
}

test('500,000 wrong buttons give 20 problems', async () => {
  const { post, ids } = await setUp()
  const body = `{${ids},"message":"Hi","buttons":[${'1,'.repeat(500_000)}1]}`
  const { status, text } = await timed(() => post('message/', body))
  const { error } = JSON.parse(text)
  expect([status, error.field]).toEqual([400, 'buttons[0]'])
  expect(error.message).toMatch(/buttons\[19\] must be an object, got the number 1\. There are more problems\.$/)
})

test('one wrong button after many valid ones is still found', async () => {
  const { post, ids } = await setUp()
  const { text } = await post('message/', `{${ids},"message":"Hi","buttons":[${'{},'.repeat(3000)}1]}`)
  expect(JSON.parse(text).error.message).toBe('buttons[3000] must be an object, got the number 1.')
})

test('wrong language codes inside of sender give 20 problems', async () => {
  const { post, ids } = await setUp()
  const body = `{${ids},"sender":{"language_codes":[${'1,'.repeat(400_000)}1]}}`
  const { text } = await timed(() => post('start', body))
  expect(JSON.parse(text).error.message).toMatch(/^sender\.language_codes\[0\] must be .* There are more problems\.$/)
})

test('100,000 unknown fields give 20 findings and their number', async () => {
  const { server, post, ids } = await setUp()
  const fields = Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`).join()
  expect((await timed(() => post('typing_stop', `{${ids},${fields}}`))).status).toBe(200)
  const { findings } = server.journal.query({ kind: 'api' })[0]!
  expect(findings).toHaveLength(21)
  expect(findings[0]!.message).toBe('k0 is not a known field; it was ignored.')
  expect(findings[20]!.message).toBe('And 59980 more unknown fields; they were ignored.')
})

test('api.unknownFields=400 names 20 fields and the number of the others', async () => {
  const { server, post, ids } = await setUp()
  await server.configure({ 'api.unknownFields': '400' })
  const fields = Array.from({ length: 30 }, (_, at) => `"k${at}":1`).join()
  const { text } = await post('typing_stop', `{${ids},${fields}}`)
  expect(JSON.parse(text).error.message).toMatch(/^k0, k1, .*, k19 and 10 more: not a known field\.$/)
})

test('a long name is shortened in findings and errors', async () => {
  const { server, post, ids, ask } = await setUp()
  const name = 'n'.repeat(900_000)
  await timed(() => post('typing_stop', `{${ids},"${name}":1}`))
  const { findings } = server.journal.query({ kind: 'api' })[0]!
  expect(findings[0]!.message).toBe(`${'n'.repeat(64)}… is not a known field; it was ignored.`)
  for (const [method, path] of [
    ['POST', '/chats'],
    ['PATCH', '/config'],
  ] as const) {
    const { status, body } = await timed(() => ask(method, path, { body: { [name.repeat(11)]: 1 } }))
    expect([status, JSON.stringify(body).length < 20_000]).toEqual([422, true])
  }
})

test('20,000 unknown knobs give 20 problems', async () => {
  const { ask } = await setUp()
  const patch = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`typing.webhoo${at}`, 'off']))
  const { status, body } = await timed(() => ask('PATCH', '/config', { body: patch }))
  expect([status, body.error.issues.length]).toEqual([422, 21])
  expect(body.error.issues[20].message).toBe('There are more problems.')
})

test('50,000 unknown fields of a control request give 20 problems', async () => {
  const { ask } = await setUp()
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`languag${at}`, 'off']))
  const { body } = await timed(() => ask('POST', '/chats', { body: fields }))
  expect(body.error.issues).toHaveLength(21)
})

test('HEAD of a made-up file of 100 MB builds no bytes; GET repeats a generated block', async () => {
  const { chat } = await setUp()
  await chat.says('', { attach: [{ name: 'film.bin', type: 'video/mp4', size_kb: 102_400 }] })
  const { url } = chat.transcript.flatMap(({ attachments }) => attachments ?? [])[0]!
  const head = await timed(() => fetch(url, { method: 'HEAD' }))
  expect(head.status).toBe(200)
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
  expect(bytes).toHaveLength(104_857_600)
  expect(bytes.subarray(-65_536)).toEqual(bytes.subarray(0, 65_536))
})

test('an expectation compares 30 calls of 900 KB', async () => {
  const sim = createSimulator()
  onTestFinished(() => sim.close())
  const chat = await sim.chat()
  const text = '<ø x="&amp;">[..] '.repeat(45_000)
  for (let count = 0; count < 30; count++) {
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: `${text}${count}` })
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    await sim.fetch(`${sim.baseUrl}/api/v2/handover/message/`, { method: 'POST', headers, body: Buffer.from(body) })
  }
  const started = processorMs()
  const expected = chat.expectCall('message', { message: `${text}x` }, { within: '1ms' })
  await expect(expected).rejects.toThrow(/differs from character \d+ on/)
  expect((processorMs() - started) / 30).toBeLessThan(100)
})
