/** Shows faults in the terminal log as faults, not as behaviour of the platform or the receiver. */

import { expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { createLog } from '../../src/pages/reporters/log.ts'
import type { LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { post } from '../support/test-simulator.ts'

async function logOf(style: LogStyle, faults: readonly FaultSpec[], status: number) {
  const fetch = () => new Response(null, { status })
  await using sim = createSimulator({ webhook: { fetch }, knobs: { 'typing.webhook': 'off' } })
  const log = createLog({ style, colorLevel: 0 })
  const chat = await sim.chat()
  let text = ''
  sim.journal.subscribe(entry => {
    text += log(entry)
  })
  for (const fault of faults) sim.faults.add(fault)
  for (let count = 0; count < 2; count++) await post(sim, 'typing_start', chat).catch(() => {})
  await chat.press('handover')
  await sim.settled()
  sim.faults.clear()
  return text.replace(/\s+/g, ' ')
}

const FLAKY: FaultSpec = { name: 'flaky', on: { api: 'typing_start' }, respond: { status: 503 }, times: 1 }
const LOST: FaultSpec = { name: 'lost', on: { api: 'typing_start' }, drop: 'after', times: 1 }
const TWICE: FaultSpec = { name: 'twice', on: 'webhook', duplicate: 2, sign: 'none' }

const CUT: FaultSpec = { on: 'webhook', truncate: true }

const ALL = [
  'fault flaky is set: respond 503',
  ' ms, fault flaky ',
  'no answer processed (200), its answer lost, ',
  'fault lost: drop the answer after processing (1 of 1)',
  'REQUESTING TAKEOVER, a copy, fault twice, not signed on purpose',
  'Refused as it should be: this signature was wrong on purpose.',
  'fault twice is cleared after 1 hit',
]
const HITS = [
  'fault flaky: respond 503 (1 of 1)',
  'fault lost: drop the answer after processing (1 of 1)',
  'fault twice: sign none, duplicate, sent 2 times (hit 1)',
]

test.each<[style: LogStyle, faults: FaultSpec[], status: number, shown: string[]]>([
  ['pretty', [FLAKY, LOST, TWICE], 401, ALL],
  ['pretty', [CUT], 400, ['The fault fault-1 cut the body short: a refusal']],
  ['compact', [FLAKY, LOST, TWICE], 200, HITS],
  // The quiet log shows no failure that a fault explains.
  ['quiet', [FLAKY, LOST], 200, []],
  ['quiet', [TWICE], 401, []],
  ['quiet', [CUT], 400, []],
  ['quiet', [TWICE], 200, ['although the signature is wrong on purpose']],
  ['quiet', [{ on: 'webhook', duplicate: 2 }], 500, ['a copy, fault fault-1']],
])('the %s log of the faults %j and the status %i shows %j', async (style, faults, status, shown) => {
  const text = await logOf(style, faults, status)
  if (shown.length === 0) expect(text).toBe('')
  for (const expected of shown) expect(text).toContain(expected)
})
