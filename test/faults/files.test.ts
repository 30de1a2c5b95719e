/** Applies faults to attachment links: an event can come before its file can be opened. */
import { expect, test } from 'vitest'
import { FAULT_HEADER } from '../../src/platform/contract/errors.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { call, post, takenOver, world } from '../support/test-simulator.ts'
import { hitsOf } from './support.ts'

const FILE = { name: 'receipt.pdf', type: 'application/pdf', size_kb: 2 }

async function setUp(spec: FaultSpec) {
  const { sim, inbox } = world()
  const chat = await takenOver(sim, { supports_attachment: true })
  sim.faults.add(spec)
  await chat.says('Here', { attach: [FILE] })
  const path = new URL(inbox.at(-1)!.json.attachments[0].url).pathname
  const open = async (options: object = {}) => (await call(sim, path, { key: null, ...options })).status
  return { sim, chat, path, open }
}

test.each([403, 404] as const)('a file is refused with %i while it is new, and then opens', async status => {
  const { sim, path, open } = await setUp({ name: 'upload', on: { api: 'file' }, respond: { status }, while_new: '5s' })
  expect([await open(), await open()]).toEqual([status, status])
  await sim.clock.advance('4999ms')
  const { headers } = await call(sim, path, { key: null })
  expect(headers.get(FAULT_HEADER)).toBe('upload')
  await sim.clock.advance('1ms')
  const opened = await sim.fetch(`${sim.baseUrl}${path}`)
  expect([opened.status, (await opened.arrayBuffer()).byteLength]).toEqual([200, 2048])
  expect(hitsOf(sim)).toMatchObject(Array(3).fill({ fault: 'upload', effect: { respond: { status } } }))
})

test('a later file is new again, for its own time', async () => {
  const { sim, chat, open } = await setUp({ on: { api: 'file' }, respond: { status: 404 }, while_new: '5s' })
  await sim.clock.advance('5s')
  await chat.says('One more', { attach: [FILE] })
  const { url } = sim.journal.query({ kind: 'user' }).at(-1)!.attachments![0]!
  expect([await open(), (await sim.fetch(url)).status]).toEqual([200, 404])
})

test('a count, the other effects, and the chat of a file work as for calls', async () => {
  const counted = await setUp({ on: { api: 'file' }, respond: { status: 404 }, times: 2 })
  expect([await counted.open(), await counted.open(), await counted.open()]).toEqual([404, 404, 200])
  const late = await setUp({ on: { api: ['file', 'end'] }, latency: '10ms', malformed: true })
  const half = await late.sim.fetch(`${late.sim.baseUrl}${late.path}`)
  expect([half.status, (await half.arrayBuffer()).byteLength]).toEqual([200, 1024])
  const { sim, chat, open } = await setUp({ on: { api: 'start' }, respond: { status: 404 } })
  sim.faults.add({ on: { api: 'file' }, chat_id: (await sim.chat()).id, respond: { status: 404 } })
  expect(await open()).toBe(200)
  sim.faults.add({ on: { api: 'file' }, chat_id: chat.id, respond: { status: 404 } })
  expect([await open(), await open({ method: 'OPTIONS' })]).toEqual([404, 204])
})

test('any call and the fault of an endpoint leave files alone', async () => {
  const { sim, chat, open } = await setUp({ on: { api: 'any' }, respond: { status: 503 } })
  expect([await open(), (await post(sim, 'end', chat)).status]).toEqual([200, 503])
})

test.each([
  [{ on: 'api', respond: { status: 404 }, while_new: '5s' }],
  [{ on: { api: ['file', 'start'] }, respond: { status: 404 }, while_new: '5s' }],
  [{ on: 'webhook', delay: '5s', while_new: '5s' }],
] as [FaultSpec][])('%j: while_new is about files', async spec => {
  const { sim } = world()
  expect(() => sim.faults.add(spec)).toThrow(
    'while_new is about the links of files: write on: { api: file }, or remove it',
  )
})
