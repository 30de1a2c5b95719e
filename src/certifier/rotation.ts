/** Varies what the platform's description leaves open, so that an intermediary does not rely on the simulator's defaults. */
import { formatKnob, KNOB_NAMES, type KnobName, type KnobSettings, parseKnob } from '../contract/knobs.ts'
import { keysOf } from '../contract/objects.ts'
import { hashWords } from '../runtime/random.ts'

/** Knobs whose values a correct intermediary accepts all, each with the values to choose from. */
export const ROTATED = {
  'webhook.json': ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'],
  'webhook.idHeader': ['off', 'X-Delivery-Id'],
  'typing.webhook': ['echo', 'off'],
  'typing.response': ['empty', 'event'],
  'errors.body': ['json', 'empty', 'html', 'text'],
  'errors.validation': ['400', '422'],
  'time.format': ['iso', 'epoch', 'offset'],
  'attachments.whenEmpty': ['empty', 'absent'],
  'ids.chat': ['uuid', 'hex24'],
  'ids.message': ['hex24', 'uuid'],
  'ids.user': ['hex24', 'hex32'],
  'transcript.takenOver': ['time', 'null', 'true'],
  'transcript.handover': ['record', 'minimal'],
  'api.contentType': ['accept', '415'],
  'api.unknownFields': ['accept', '400'],
} as const satisfies { readonly [Name in KnobName]?: readonly string[] }

export type Rotation = KnobSettings

/** The values of one check: they depend on the seed and its id, not on other checks. */
export function rotationFor(seed: number, checkId: string, fixed: Rotation): Rotation {
  const names = keysOf(ROTATED).filter(name => !(name in fixed))
  return Object.fromEntries(names.map(name => [name, chosen(ROTATED[name], `${checkId} ${name}`, seed)]))
}

const chosen = (values: readonly string[], label: string, seed: number): string =>
  values[hashWords(label, seed)[0] % values.length]!

/** The knobs of a rotation that differ from their defaults, as text. */
export function changedKnobs(rotation: Rotation, initial: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = KNOB_NAMES.filter(name => rotation[name] !== undefined)
  const spelled = names.map(name => [name, formatKnob(name, parseKnob(name, rotation[name]))] as const)
  return Object.fromEntries(spelled.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(initial[name])))
}
