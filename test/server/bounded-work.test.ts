/** Checks that hostile names, lists and texts take little work to refuse. */
import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { startTestServer } from '../support/test-server.ts'
import { call } from '../support/test-simulator.ts'

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

/** Calls an endpoint with these fields, as JSON, beside those that every call has. */
async function callWith(endpoint: string, fields: string, knobs: KnobSettings = {}) {
  await using sim = createSimulator({ knobs })
  const body = `{"bot_id":${sim.botId},"chat_id":"${(await sim.chat()).id}",${fields}}`
  const { status, json } = await bounded(() => call(sim, `/api/v2/handover/${endpoint}`, { body }))
  return { status, message: json.error?.message, findings: sim.journal.query({ kind: 'api' })[0]!.findings }
}

const unknownFields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join()
const LONG_NAME = 'n'.repeat(900_000)
const buttons = (valid: number, wrong: number) =>
  `"message":"Hi","buttons":[${[...Array(valid).fill('{}'), ...Array(wrong).fill(1)]}]`

test.each<[what: string, endpoint: string, fields: string, message: RegExp]>([
  ['500,000 wrong buttons', 'message/', buttons(0, 500_000), /buttons\[19\] must be .* There are more problems\.$/],
  ['a wrong button after many valid ones', 'message/', buttons(3000, 1), /^buttons\[3000\] must be an object/],
  [
    '400,000 wrong language codes inside of sender',
    'start',
    `"sender":{"language_codes":[${Array(400_000).fill(1)}]}`,
    /^sender\.language_codes\[0\] must be .* There are more problems\.$/,
  ],
  ['30 unknown fields', 'typing_stop', unknownFields(30), /^k0, k1, .*, k19 and 10 more: not a known field\.$/],
])('%s: at most 20 problems are named', async (_, endpoint, fields, message) => {
  const refused = await callWith(endpoint, fields, { 'api.unknownFields': '400' })
  expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(message) })
})

test('60,000 unknown fields give 20 findings and their number, and a long name is shortened', async () => {
  const { findings } = await callWith('typing_stop', unknownFields(60_000))
  expect(findings).toHaveLength(21)
  expect(findings[0]!.message).toBe('k0 is not a known field; it was ignored.')
  expect(findings[20]!.message).toContain('And 59980 more unknown fields')
  const long = await callWith('typing_stop', `"${LONG_NAME}":1`)
  expect(long.findings[0]!.message).toBe(`${'n'.repeat(64)}… is not a known field; it was ignored.`)
})

test.each([
  ['9,000 unknown knobs', 'PATCH', '/config', 9_000, 'typing.webhoo'],
  ['9,000 unknown fields', 'POST', '/chats', 9_000, 'languag'],
  ['a long name', 'POST', '/chats', 1, LONG_NAME.repeat(4)],
  ['a long knob', 'PATCH', '/config', 1, LONG_NAME.repeat(4)],
] as const)('%s of a control request give at most 20 problems', async (_, method, path, count, name) => {
  const { control } = await startTestServer()
  const fields = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 'off']))
  const { status, body } = await bounded(() => control(method, path, { body: fields }))
  expect([status, body.error.issues.length]).toEqual([422, Math.min(count, 21)])
  expect(body.error.issues.at(-1).message).toMatch(count === 1 ? /n…/ : /^There are more problems\.$/)
  if (count === 1) expect(JSON.stringify(body).length).toBeLessThan(20_000)
})

/** The most processor time between two turns of the event loop while something is done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = processorMs()
  let isOver = false
  const turn = () => {
    longest = Math.max(longest, processorMs() - before)
    before = processorMs()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return longest
}

test('writing a large snapshot never stops the process as long as reading and writing its text once', async () => {
  const { server, call } = await startTestServer()
  const { id: chat_id } = await server.chat()
  for (let count = 0; count < 2000; count++) await call('message/', { chat_id, message: `${count}`.padEnd(3000, 'x ') })
  let text = ''
  const longest = await longestTurn(async () => {
    text = await (await fetch(`${server.url}/_sim/snapshot?journal=true`)).text()
  })
  const started = processorMs()
  JSON.stringify(JSON.parse(text))
  expect(longest).toBeLessThan(processorMs() - started)
})

test('an expectation compares calls of 900 KB', async () => {
  await using sim = createSimulator()
  const chat = await sim.chat()
  const text = '<ø x="&amp;">[..] '.repeat(45_000)
  for (let count = 0; count < 10; count++) {
    const body = { bot_id: sim.botId, chat_id: chat.id, message: `${text}${count}` }
    await call(sim, '/api/v2/handover/message/', { body })
  }
  const started = processorMs()
  const expected = chat.expectCall('message', { message: `${text}x` }, { within: '1ms' })
  await expect(expected).rejects.toThrow(/differs from character \d+ on/)
  expect(processorMs() - started).toBeLessThan(1000)
})
