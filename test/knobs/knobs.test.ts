/** Every value of every knob changes what the API, the webhook or the chat shows; the default is the documented one. */

import { describe, expect, test } from 'vitest'
import { defaultKnobs, formatKnobs } from '../../src/platform/contract/knobs.ts'
import { world } from '../support/test-simulator.ts'
import { API_KNOBS } from './api-knobs.ts'
import type { Behaviours } from './behaviour.ts'
import { CHAT_KNOBS } from './chat-knobs.ts'
import { TRANSCRIPT_KNOBS } from './transcript-knobs.ts'
import { WEBHOOK_KNOBS } from './webhook-knobs.ts'

/** Complete by its type: a new knob without values does not compile. */
const BEHAVIOURS: Behaviours = { ...WEBHOOK_KNOBS, ...API_KNOBS, ...CHAT_KNOBS, ...TRANSCRIPT_KNOBS }

const DEFAULTS = formatKnobs(defaultKnobs())

describe.each(Object.entries(BEHAVIOURS))('%s', (knob, { values, probe }) => {
  test.each(Object.entries(values))('%s', async (value, seen) => {
    const w = world()
    if (value.startsWith('*')) expect(value).toBe(`*${DEFAULTS[knob]}`)
    else await w.sim.configure({ [knob]: value })
    expect(await probe(w)).toEqual(seen)
  })
})
