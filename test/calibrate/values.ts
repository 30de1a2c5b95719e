/** The values of the knobs that traffic shows. */
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { defaultKnobs, formatKnobs, type KnobName, parseKnob, schemaFor } from '../../src/platform/contract/knobs.ts'

/** Values of knobs that are no choice, beside the default. */
const VALUES: Readonly<Partial<Record<KnobName, readonly unknown[]>>> = {
  'webhook.signatureHeader': ['X-Signature'],
  'webhook.algorithmHeader': ['X-Signature-Algorithm'],
  'webhook.idHeader': ['X-Delivery-Id'],
  'webhook.retry': [['1s', '5s']],
  'typing.clearOn': ['off', ['message'], ['end', 'message']],
  'limits.body': [65_536],
  'limits.rate': ['50/10s'],
  'attachments.ttl': ['10m'],
  'translation.aliases': [['no=nb']],
  'transcript.state': [['agent=taken_over'], ['pending=waiting', 'bot=idle']],
  'transcript.source': ['off', ['web=widget']],
  'transcript.extra': [['channel=widget'], ['client'], ['channel=widget', 'client']],
  'api.versions': [['v3']],
  'chat.idleTimeout': ['10m'],
}

/** Values at which nothing happens. Silence confirms nothing, so that they are not seen. */
export const SILENT: Readonly<Partial<Record<KnobName, unknown>>> = {
  'webhook.retry': 'off',
  'webhook.timeout': '10s',
  'limits.rate': 'off',
  'limits.body': 1_048_576,
  'attachments.ttl': 'off',
  'chat.idleTimeout': 'off',
  'request.repeat': 'ignore',
}

export const SHOWN = ASSUMPTIONS.filter(({ class: its }) => its !== 'never')
export const DEFAULTS = formatKnobs(defaultKnobs())

/** Each knob with each of its values beside the default. */
export const CASES = SHOWN.flatMap(({ knobs }) =>
  knobs.flatMap(knob => {
    const words = schemaFor(knob).enum
    const choices = Array.isArray(words)
      ? words.flatMap(one => (typeof one === 'string' && parseKnob(knob, one) === one ? [one] : []))
      : []
    const values = [...choices, ...(VALUES[knob] ?? [])].filter(
      value => JSON.stringify(value) !== JSON.stringify(DEFAULTS[knob]),
    )
    return values.map(value => [knob, value] as const)
  }),
)

/** Names of headers have no case, and the order of pairs says nothing. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.toSorted()
  return typeof value === 'string' ? value.toLowerCase() : value
}
