/** Shows faults in the terminal log as faults, not as behaviour of the platform or the receiver. */

import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { createLog } from '../../src/pages/reporters/log.ts'
import type { LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { post } from '../support/test-simulator.ts'

/** Replaces measured durations. */
const steady = (text: string) => text.replace(/\d+(\.\d+)? ms/g, 'N ms').replaceAll(/ +$/gm, '')

async function logOf(style: LogStyle, specs: readonly FaultSpec[], status = 200) {
  const fetch = () => new Response(null, { status })
  const sim = createSimulator({ webhook: { fetch }, knobs: { 'typing.webhook': 'off' } })
  const log = createLog({ style, colorLevel: 0 })
  const chat = await sim.chat({ id: 'chat-one' })
  let text = ''
  sim.journal.subscribe(entry => {
    text += log(entry)
  })
  for (const spec of specs) sim.faults.add(spec)
  for (let count = 0; count < 2; count++) await post(sim, 'typing_start', chat).catch(() => {})
  await chat.press('handover')
  await sim.settled()
  sim.faults.clear()
  await sim.close()
  return steady(`\n${text}`)
}

const FLAKY: FaultSpec = { name: 'flaky', on: { api: 'typing_start' }, respond: { status: 503 }, times: 1 }
const LOST: FaultSpec = { name: 'lost', on: { api: 'typing_start' }, drop: 'after', times: 1 }
const TWICE: FaultSpec = { name: 'twice', on: 'webhook', duplicate: 2, sign: 'none' }

test('pretty: each fault and its effect', async () => {
  const text = (await logOf('pretty', [FLAKY, LOST, TWICE], 401)).replace(/\s+/g, ' ')
  for (const line of [
    'fault flaky is set: respond 503',
    'answer 503 by fault flaky',
    'no answer processed (200), the answer lost, by fault lost',
    'fault lost: drop the answer after processing (1 of 1)',
    'REQUESTING TAKEOVER (copy), fault twice, not signed on purpose',
    'Refused as it should be: this signature was wrong on purpose.',
    'fault twice is cleared after 1 hit',
  ])
    expect(text).toContain(line)
})

test('compact: one line for each hit', async () => {
  const text = await logOf('compact', [FLAKY, LOST, TWICE])
  expect(text).toContain('fault flaky: respond 503 (1 of 1)\n')
  expect(text).toContain('fault lost: drop the answer after processing (1 of 1)\n')
  expect(text).toContain('fault twice: sign none, duplicate, sent 2 times (hit 1)\n')
  expect(text).toContain('fault twice is cleared after 1 hit\n')
})

test('quiet: shows no failure that a fault caused', async () => {
  expect(await logOf('quiet', [FLAKY, LOST])).toBe('\n')
  expect(await logOf('quiet', [TWICE], 401)).toBe('\n')
  expect(await logOf('quiet', [{ on: 'webhook', truncate: true }], 400)).toBe('\n')
})

test('quiet: shows an accepted event with an invalid signature, and a refused valid copy', async () => {
  expect(await logOf('quiet', [TWICE], 200)).toContain('although the signature is invalid')
  expect(await logOf('quiet', [{ on: 'webhook', duplicate: 2 }], 500)).toContain('(copy), fault fault-1')
})

test('a refused truncated body has a hint', async () => {
  const text = await logOf('pretty', [{ on: 'webhook', truncate: true }], 400)
  expect(text).toContain('The fault fault-1 cut the body short: a refusal')
})
