/**
 * Says what the journal shows about a webhook that refuses signatures, what mistakes fit, and what to try. The sender
 * sees only which events are refused, so this narrows the mistake down; `handover-sim verify` names it.
 */

import { counted } from '../../base/text/quantities.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { isInvalidSign, isTruncated } from './hints.ts'

type Delivery = EntryOf<'delivery'>

/** Characters that many programs write in another way when they serialize JSON again. */
const CHARACTERS = {
  letters: /[\u0080-\uffff]/,
  html: /[<>&\u2028\u2029]/,
  slashes: /\//,
} as const
type Characters = keyof typeof CHARACTERS

/** What the journal shows, as a code with parameters. */
export type SignatureEvidence =
  /** It accepted an event whose signature was hexadecimal where the header says base64. */
  | { readonly code: 'accepts_hex'; readonly seq: number }
  /** Its answer has a hexadecimal digest. */
  | { readonly code: 'answers_hex'; readonly digest: string }
  /** It accepted events until these settings were changed. */
  | { readonly code: 'settings_changed'; readonly seq: number; readonly names: readonly string[] }
  /** It refuses the events of this bot and accepts those of others. */
  | { readonly code: 'bot'; readonly bot_id: number }
  /** It refuses exactly the bodies with such characters. */
  | {
      readonly code: 'characters'
      readonly characters: Characters
      readonly refused: number
      readonly accepted: number
    }
  /** It refuses only bodies that are longer than all it accepts. */
  | { readonly code: 'longer'; readonly refused_from: number; readonly accepted_to: number }
  | { readonly code: 'some_refused'; readonly refused: number; readonly accepted: number }
  /** `same_json`: JSON.parse and JSON.stringify give the same bytes for all of them. */
  | { readonly code: 'all_refused'; readonly refused: number; readonly same_json: boolean }

/** An experiment that decides between mistakes. */
export type SignatureTry = 'verify' | 'verify_digest' | 'send_hex' | 'swap_key'

export interface SignatureAdvice {
  readonly evidence: SignatureEvidence
  /** The evidence in words. */
  readonly known: string
  /** Mistakes that fit, the most likely first. */
  readonly likely: readonly string[]
  readonly tries: readonly { readonly code: SignatureTry; readonly text: string }[]
  /** Digests in the answer, often what the webhook has computed: `explain` of `signature/` says with what mistake. */
  readonly digests: readonly string[]
}

/** Null unless `entry` is a correctly signed event that its webhook refused. `entries`: the journal up to the moment in question. */
export function signatureAdvice(entry: Entry, entries: readonly Entry[]): SignatureAdvice | null {
  if (entry.kind !== 'delivery' || !isComparable(entry) || !isRefused(entry)) return null
  const sent = entries.filter(one => one.kind === 'delivery' && one.url === entry.url) as readonly Delivery[]
  const evidence = evidenceFor(entry, sent, entries)
  const { likely, tries } = ADVICE[evidence.code]
  const digests = digestsIn(entry)
  const codes: readonly SignatureTry[] = digests.length === 0 ? tries : ['verify_digest', ...tries]
  return {
    evidence,
    known: (KNOWN[evidence.code] as (evidence: SignatureEvidence) => string)(evidence),
    likely: likely.map(code => MISTAKES[code]),
    tries: codes.map(code => ({ code, text: TRIES[code] })),
    digests,
  }
}

const HEX_DIGEST = /^[0-9a-f]{64}$/i
const DIGESTS = /(?<![\w+/=])(?:[0-9a-f]{64}|[A-Za-z0-9+/]{43}=)(?![\w+/=])/gi
const MOST_DIGESTS = 4

/** SHA-256 digests in the answer. They are data of the receiver, not a text of this project. */
const digestsIn = ({ response }: Delivery): string[] =>
  [...new Set(response?.body.match(DIGESTS) ?? [])].slice(0, MOST_DIGESTS)

/** Whether the event has a valid signature of the whole body, made when it was sent. */
const isComparable = (entry: Delivery): boolean =>
  !isInvalidSign(entry.sign) && !isTruncated(entry) && (entry.resent !== true || entry.triggered === true)
const isRefused = ({ status }: Delivery) => status === 401 || status === 403
const isAccepted = ({ status }: Delivery) => status !== null && status >= 200 && status < 300

function evidenceFor(entry: Delivery, sent: readonly Delivery[], entries: readonly Entry[]): SignatureEvidence {
  const hex = sent.find(one => one.sign === 'hex' && isAccepted(one))
  if (hex !== undefined) return { code: 'accepts_hex', seq: hex.seq }
  const digest = digestsIn(entry).find(one => HEX_DIGEST.test(one))
  if (digest !== undefined) return { code: 'answers_hex', digest }
  const comparable = sent.filter(isComparable)
  const refused = [...new Set([...comparable.filter(isRefused), entry])]
  const accepted = comparable.filter(isAccepted)
  if (accepted.length === 0)
    return { code: 'all_refused', refused: refused.length, same_json: refused.every(isSameJson) }
  return (
    changedBetween(refused, accepted, entries) ??
    ofOneBot(refused, accepted, entries) ??
    byCharacters(refused, accepted) ??
    byLength(refused, accepted) ?? { code: 'some_refused', refused: refused.length, accepted: accepted.length }
  )
}

type Partition = readonly [refused: readonly Delivery[], accepted: readonly Delivery[]]

const DECIDING = [
  'keys.handover',
  'keys.more',
  'webhook.signature',
  'webhook.signatureHeader',
  'webhook.algorithm',
  'webhook.signedContent',
  'webhook.json',
]

/** The first change of a deciding setting after which nothing was accepted, and before which nothing was refused. */
function changedBetween(...[refused, accepted, entries]: [...Partition, readonly Entry[]]): SignatureEvidence | null {
  const first = Math.min(...refused.map(({ seq }) => seq))
  const last = Math.max(...accepted.map(({ seq }) => seq))
  for (const entry of entries) {
    if (entry.kind !== 'note' || entry.note !== 'config' || entry.seq < last || entry.seq > first) continue
    const names = Object.keys(entry.changed ?? {}).filter(name => DECIDING.includes(name))
    if (names.length > 0) return { code: 'settings_changed', seq: entry.seq, names }
  }
  return null
}

function ofOneBot(...[refused, accepted, entries]: [...Partition, readonly Entry[]]): SignatureEvidence | null {
  const bots = new Map<string, number>()
  for (const entry of entries)
    if (entry.kind === 'note' && entry.note === 'chat_created' && typeof entry.bot_id === 'number')
      bots.set(entry.chat_id ?? '', entry.bot_id)
  const botOf = ({ chat_id }: Delivery) => bots.get(chat_id ?? '')
  const [bot_id, ...others] = new Set(refused.map(botOf))
  if (bot_id === undefined || others.length > 0 || accepted.some(one => botOf(one) === bot_id)) return null
  return { code: 'bot', bot_id }
}

function byCharacters(...[refused, accepted]: Partition): SignatureEvidence | null {
  for (const [name, pattern] of Object.entries(CHARACTERS)) {
    const has = ({ request }: Delivery) => pattern.test(request.body)
    if (refused.every(has) && !accepted.some(has))
      return { code: 'characters', characters: name as Characters, refused: refused.length, accepted: accepted.length }
  }
  return null
}

/** Less of a difference says nothing. */
const MUCH_LONGER = 2

function byLength(...[refused, accepted]: Partition): SignatureEvidence | null {
  const refused_from = Math.min(...refused.map(lengthOf))
  const accepted_to = Math.max(...accepted.map(lengthOf))
  return refused_from >= MUCH_LONGER * accepted_to ? { code: 'longer', refused_from, accepted_to } : null
}

const lengthOf = ({ request }: Delivery) => request.body.length

function isSameJson({ request: { body } }: Delivery): boolean {
  try {
    return JSON.stringify(JSON.parse(body)) === body
  } catch {
    return false
  }
}

const KNOWN = {
  accepts_hex: ({ seq }) => `The webhook accepted #${seq}, whose signature was hexadecimal instead of base64.`,
  answers_hex: () => 'The answer of the webhook has a hexadecimal digest; the signature of an event is base64.',
  settings_changed: ({ seq, names }) => `The webhook accepted events until #${seq} changed ${names.join(', ')}.`,
  bot: ({ bot_id }) => `The webhook refuses the events of bot ${bot_id} and accepts those of other bots.`,
  characters: ({ characters, refused, accepted }) =>
    `The webhook refuses exactly the bodies with ${CHARACTER_TEXTS[characters]}: ${refused} refused, ${accepted} accepted without them.`,
  longer: ({ refused_from, accepted_to }) =>
    `The webhook refuses bodies from ${refused_from} characters on, and accepts bodies up to ${accepted_to}.`,
  some_refused: ({ refused, accepted }) =>
    `The webhook refused ${counted(refused, 'event')} and accepted ${accepted}; their bodies do not show why.`,
  all_refused: ({ refused, same_json }) =>
    `The webhook has accepted no event so far (${refused} refused).${same_json ? ' JSON.stringify of the parsed body would give the same bytes here, so in JavaScript that alone is not the cause.' : ''}`,
} satisfies { [Code in SignatureEvidence['code']]: (evidence: Extract<SignatureEvidence, { code: Code }>) => string }

const CHARACTER_TEXTS = {
  letters: 'letters beyond ASCII',
  html: '< > or &',
  slashes: 'slashes',
} satisfies Record<Characters, string>

const MISTAKES = {
  hex: 'It compares a hexadecimal digest: encode the digest as base64.',
  old_settings:
    'It still has the setting from before the change: the key, the header name, the algorithm or the encoding.',
  key_of_bot: 'It has no key for this bot, or that of another one.',
  key: 'It has another key: often the bot API key instead of the handover key, or a key with a space or newline at its end.',
  reserialized:
    'It computes the HMAC over JSON that was parsed and written again, instead of the raw bytes of the request.',
  charset: 'It decodes the body with another charset than UTF-8 before it computes the HMAC.',
  header: 'It reads the signature from another header, or with regard to the case of its name.',
  cut: 'It reads only the beginning of a long body, or a body limit cuts it.',
  parsed: 'A body parser consumed the request before, and the HMAC is made over an empty body or over [object Object].',
  other_reason: 'It refuses for another reason than the signature: its log or its answer says why.',
}

const TRIES = {
  verify:
    'Log the signature that your code computes and the raw body it computes it over. handover-sim verify --body FILE --signature COMPUTED names the mistake.',
  verify_digest:
    'The answer has a digest. When your code has computed it, handover-sim verify --body FILE --signature DIGEST names the mistake.',
  send_hex:
    'Send an event with a hexadecimal signature (sign: hex). When the webhook accepts it, it compares the wrong encoding.',
  swap_key:
    'Set keys.handover to the value of the bot API key and send the event again with new headers. When the webhook accepts it, it has the bot API key.',
} satisfies Record<SignatureTry, string>

interface Advice {
  readonly likely: readonly (keyof typeof MISTAKES)[]
  readonly tries: readonly SignatureTry[]
}

const ADVICE: Readonly<Record<SignatureEvidence['code'], Advice>> = {
  accepts_hex: { likely: ['hex'], tries: ['verify'] },
  answers_hex: { likely: ['hex'], tries: ['send_hex', 'verify'] },
  settings_changed: { likely: ['old_settings'], tries: ['verify'] },
  bot: { likely: ['key_of_bot'], tries: ['verify'] },
  characters: { likely: ['reserialized', 'charset'], tries: ['verify'] },
  longer: { likely: ['cut', 'reserialized'], tries: ['verify'] },
  some_refused: { likely: ['reserialized', 'other_reason'], tries: ['verify'] },
  all_refused: {
    likely: ['key', 'reserialized', 'parsed', 'hex', 'header'],
    tries: ['verify', 'send_hex', 'swap_key'],
  },
}
