/** Compares and combines the parts of knobs that have several: pairs, words, and delays. */
import type { Behaviour } from '../../platform/contract/assumptions.ts'
import { formatKnob, type Knobs } from '../../platform/contract/knobs.ts'

/** A knob with several parts: what the knob in force says about one, and the knob that says the values of these parts. */
interface Parts {
  readonly inForce: (knobs: Knobs, part: string) => unknown
  readonly combined: (knobs: Knobs, values: ReadonlyMap<string, unknown>) => unknown
}

const pairIn = (pairs: readonly string[], part: string) =>
  pairs.find(pair => pair.startsWith(`${part}=`))?.slice(part.length + 1)

/** A list of `part=value`; `absent` is the value of a part that the list does not have. */
const pairs = (
  name: 'transcript.state' | 'transcript.source' | 'transcript.extra',
  absent: (part: string) => string,
): Parts => ({
  inForce: (knobs, part) => pairIn(knobs[name], part) ?? absent(part),
  combined(knobs, values) {
    const merged = new Map(
      knobs[name].map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    )
    for (const [part, value] of values) value === absent(part) ? merged.delete(part) : merged.set(part, String(value))
    const list = [...merged].filter(([part]) => part !== '').map(([part, value]) => `${part}=${value}`)
    return list.length === 0 ? 'off' : list
  },
})

/** A list of words; a part is one of them. */
const words = (name: 'api.versions' | 'translation.aliases'): Parts => ({
  inForce: (knobs, part) => (knobs[name].includes(part) ? 'on' : 'off'),
  combined(knobs, values) {
    const kept = knobs[name].filter(part => values.get(part) !== 'off')
    const added = [...values].flatMap(([part, value]) => (value === 'on' && !kept.includes(part) ? [part] : []))
    return kept.length + added.length === 0 ? 'off' : [...kept, ...added]
  },
})

const EXTRA_FIELDS = pairs('transcript.extra', part => (part === '' ? 'none' : 'absent'))

export const KNOB_PARTS: Readonly<Partial<Record<Behaviour, Parts>>> = {
  'transcript.state': pairs('transcript.state', () => 'chatting'),
  'transcript.source': pairs('transcript.source', part => part),
  // `client` is a word beside the pairs.
  'transcript.extra': {
    inForce(knobs, part) {
      if (part === 'client') return knobs['transcript.extra'].includes(part) ? 'on' : 'off'
      return EXTRA_FIELDS.inForce(knobs, part)
    },
    combined(knobs, values) {
      const client = values.get('client') ?? (knobs['transcript.extra'].includes('client') ? 'on' : 'off')
      const others = { ...knobs, 'transcript.extra': knobs['transcript.extra'].filter(item => item !== 'client') }
      const list = EXTRA_FIELDS.combined(others, new Map([...values].filter(([part]) => part !== 'client')))
      return client === 'on' ? [...(Array.isArray(list) ? list : []), 'client'] : list
    },
  },
  'api.versions': words('api.versions'),
  'translation.aliases': words('translation.aliases'),
  'webhook.retry': {
    inForce: (knobs, part) => knobs['webhook.retry'][Number(part) - 1] ?? Number.POSITIVE_INFINITY,
    combined(knobs, values) {
      const delays = [...knobs['webhook.retry']]
      for (const [part, value] of [...values].sort()) delays[Number(part) - 1] = Number(value)
      return formatKnob('webhook.retry', delays.filter(Number.isFinite))
    },
  },
}
