/** Checks that hostile names, lists and texts take little work to refuse. */
import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { call } from '../knobs/support.ts'
import { startTestServer } from '../support/test-server.ts'

/** Without its bound, each of these takes between 5 and 80 seconds of the processor. */
const BOUND_MS = 4000

/** Of this thread where Node can tell, because other test files run in other threads of the process. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

async function bounded<T>(work: () => Promise<T>): Promise<T> {
  const started = processorMs()
  const result = await work()
  expect(processorMs() - started).toBeLessThan(BOUND_MS)
  return result
}

const unknownFields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join()
const LONG_NAME = 'n'.repeat(900_000)

test.each<[what: string, endpoint: string, fields: string, message: RegExp]>([
  [
    '500,000 wrong buttons give 20 problems',
    'message/',
    `"message":"Hi","buttons":[${'1,'.repeat(500_000)}1]`,
    /buttons\[19\] must be an object, got the number 1\. There are more problems\.$/,
  ],
  [
    'a wrong button after many valid ones is found',
    'message/',
    `"message":"Hi","buttons":[${'{},'.repeat(3000)}1]`,
    /^buttons\[3000\] must be an object, got the number 1\.$/,
  ],
  [
    '400,000 wrong language codes inside of sender give 20 problems',
    'start',
    `"sender":{"language_codes":[${'1,'.repeat(400_000)}1]}`,
    /^sender\.language_codes\[0\] must be .* There are more problems\.$/,
  ],
  [
    '30 unknown fields are named up to the twentieth',
    'typing_stop',
    unknownFields(30),
    /^k0, k1, .*, k19 and 10 more: not a known field\.$/,
  ],
])('%s', async (_, endpoint, fields, message) => {
  await using sim = createSimulator({ knobs: { 'api.unknownFields': '400' } })
  const body = `{"bot_id":${sim.botId},"chat_id":"${(await sim.chat()).id}",${fields}}`
  const { status, json } = await bounded(() => call(sim, `/api/v2/handover/${endpoint}`, { body }))
  expect(status).toBe(400)
  expect(json.error.message).toMatch(message)
})

test.each<[what: string, fields: string, first: string, last: string]>([
  [
    '60,000 unknown fields give 20 findings and their number',
    unknownFields(60_000),
    'k0',
    'And 59980 more unknown fields',
  ],
  ['a long name is shortened', `"${LONG_NAME}":1`, `${'n'.repeat(64)}…`, `${'n'.repeat(64)}…`],
])('%s', async (_, fields, first, last) => {
  await using sim = createSimulator()
  const body = `{"bot_id":${sim.botId},"chat_id":"${(await sim.chat()).id}",${fields}}`
  await bounded(() => call(sim, '/api/v2/handover/typing_stop', { body }))
  const { findings } = sim.journal.query({ kind: 'api' })[0]!
  expect(findings[0]!.message).toBe(`${first} is not a known field; it was ignored.`)
  expect(findings.at(-1)!.message).toContain(last)
  expect(findings.length).toBeLessThanOrEqual(21)
})

test.each([
  ['20,000 unknown knobs', 'PATCH', '/config', 20_000, 'typing.webhoo'],
  ['50,000 unknown fields', 'POST', '/chats', 50_000, 'languag'],
  ['a long name', 'POST', '/chats', 1, LONG_NAME.repeat(11)],
  ['a long knob', 'PATCH', '/config', 1, LONG_NAME.repeat(11)],
] as const)('%s of a control request give at most 20 problems', async (_, method, path, count, name) => {
  const { control } = await startTestServer()
  const fields = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 'off']))
  const { status, body } = await bounded(() => control(method, path, { body: fields }))
  expect([status, body.error.issues.length]).toEqual([422, Math.min(count, 21)])
  expect(body.error.issues.at(-1).message).toMatch(count === 1 ? /n…/ : /^There are more problems\.$/)
  if (count === 1) expect(JSON.stringify(body).length).toBeLessThan(20_000)
})

test('an expectation compares calls of 900 KB', async () => {
  await using sim = createSimulator()
  const chat = await sim.chat()
  const text = '<ø x="&amp;">[..] '.repeat(45_000)
  const CALLS = 10
  for (let count = 0; count < CALLS; count++) {
    const body = { bot_id: sim.botId, chat_id: chat.id, message: `${text}${count}` }
    await call(sim, '/api/v2/handover/message/', { body })
  }
  const started = processorMs()
  const expected = chat.expectCall('message', { message: `${text}x` }, { within: '1ms' })
  await expect(expected).rejects.toThrow(/differs from character \d+ on/)
  expect((processorMs() - started) / CALLS).toBeLessThan(100)
})
