/** Describes what a user of the simulator sees with each value of a knob. */

import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { KnobName } from '../../src/platform/contract/knobs.ts'
import type { ReceivedEvent } from '../support/receiver.ts'
import type { World } from '../support/test-simulator.ts'

/** What `probe` returns for each value as a flag has it; `*` marks the default. */
export interface Behaviour {
  readonly values: Readonly<Record<string, unknown>>
  /** Uses the simulator, and returns what the API, the webhook or the chat shows. */
  readonly probe: (world: World) => unknown
}

export const behaviour = (values: Behaviour['values'], probe: Behaviour['probe']): Behaviour => ({ values, probe })

/** The behaviours of some knobs. */
export type Behaviours<Names extends KnobName = KnobName> = Readonly<Record<Names, Behaviour>>

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const matching = (form: RegExp) => expect.stringMatching(form)

/** Describes the signature of a delivery, such as `sha256, base64, of the body`; `invalid` when no form fits. */
export function signatureOf(
  { url, text, headers }: ReceivedEvent,
  { header = 'Kindly-HMAC', key = 'sim-handover-key' } = {},
): string | null {
  const signature = headers.get(header)
  if (signature === null) return null
  for (const algorithm of ['sha256', 'sha1', 'sha512'])
    for (const encoding of ['base64', 'hex'] as const)
      for (const [content, signed] of [
        ['the body', text],
        ['the URL and the body', url + text],
      ] as const) {
        const expected = createHmac(algorithm, key).update(signed).digest(encoding)
        if (signature === expected) return `${algorithm}, ${encoding}, of ${content}`
      }
  return 'invalid'
}
