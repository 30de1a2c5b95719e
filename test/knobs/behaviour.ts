/** Describes what a user of the simulator sees with each value of a knob. */

import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { KnobName } from '../../src/platform/contract/knobs.ts'
import type { Delivered, World } from './support.ts'

export interface Behaviour {
  readonly initial: string
  readonly values: Readonly<Record<string, unknown>>
  readonly probe: (world: World) => unknown
}

/**
 * Describes a knob by its default, by what the probe returns for each value as a flag has it, and by the probe: it uses
 * the simulator and returns what the API, the webhook or the chat shows.
 */
export const behaviour = (initial: string, values: Behaviour['values'], probe: Behaviour['probe']): Behaviour => ({
  initial,
  values,
  probe,
})

/** The behaviours of some knobs. */
export type Behaviours<Names extends KnobName = KnobName> = Readonly<Record<Names, Behaviour>>

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
export const HEX24 = /^[0-9a-f]{24}$/
export const matching = (form: RegExp) => expect.stringMatching(form)

/** Describes the signature of a delivery, such as `sha256, base64, of the body`; `invalid` when no form fits. */
export function signatureOf(
  { url, text, headers }: Delivered,
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
