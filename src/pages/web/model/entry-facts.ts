/** Says what was checked about a call or a delivery, and how: the key, the fields, the signature, the faults. */
import { isMap } from '../../../base/objects.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { ApiContent, Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { effectText } from '../../../platform/wording/faults.ts'
import { errorIn, isInvalidSign } from '../../../platform/wording/hints.ts'
import { byteSize } from './formats.ts'

export interface EntryFact {
  readonly label: string
  readonly text: string
  /** How it turned out, for what can be right or wrong. */
  readonly outcome?: 'pass' | 'fail' | 'warn'
}

const KEY_TEXTS = {
  valid: 'Valid.',
  missing: 'There is no Authorization header. Send “Authorization: Bearer” and the key.',
  malformed: 'The Authorization header is not “Bearer” and one key.',
  unknown: 'No bot has this key. The platform column shows the keys.',
  wrong_scope: 'The key is for other endpoints: transcripts of chats need the bot API key, all others the API key.',
} satisfies Readonly<Record<Exclude<ApiContent['auth'], 'not_checked'>, string>>

const SIGN_TEXTS = {
  none: 'Left out on purpose: the webhook must refuse the event.',
  'wrong-key': 'Made with another key on purpose: the webhook must refuse the event.',
  tampered: 'One byte of the body was changed after signing, on purpose: the webhook must refuse the event.',
  truncated: 'Its end was cut off on purpose: the webhook must refuse the event.',
  hex: 'In the other encoding on purpose: the webhook must refuse the event.',
}

/** `effects` are the entries that this one caused: faults say there what they did. */
export function factsOf(entry: Entry, effects: readonly Entry[]): EntryFact[] {
  if (entry.kind === 'api') return [...keyFacts(entry), ...faultFacts(entry, effects), ...callFacts(entry)]
  if (entry.kind === 'delivery')
    return [...attemptFacts(entry), ...signatureFacts(entry), ...faultFacts(entry, effects), tookFact(entry)]
  return []
}

function keyFacts({ auth }: EntryOf<'api'>): EntryFact[] {
  const text = auth === 'not_checked' ? undefined : KEY_TEXTS[auth]
  if (text === undefined) return []
  return [{ label: 'Key', text, outcome: auth === 'valid' ? 'pass' : 'fail' }]
}

const callFacts = (entry: EntryOf<'api'>): EntryFact[] => [
  tookFact(entry),
  ...(entry.request.bytes === 0 ? [] : [{ label: 'Body', text: byteSize(entry.request.bytes) }]),
]

const tookFact = ({ duration_ms }: { readonly duration_ms: number }): EntryFact => ({
  label: 'Duration',
  text: formatMs(duration_ms),
})

function faultFacts({ faults = [] }: EntryOf<'api' | 'delivery'>, effects: readonly Entry[]): EntryFact[] {
  if (faults.length === 0) return []
  const texts = faults.map(name => {
    const hit = effects.find(one => one.kind === 'fault' && one.fault === name)
    return hit?.kind === 'fault' ? `${name}: ${effectText(hit.effect)}` : name
  })
  return [{ label: 'Faults', text: `${texts.join('; ')}.`, outcome: 'warn' }]
}

function attemptFacts({ attempt, triggered, resent, duplicate, retry_in_ms }: EntryOf<'delivery'>): EntryFact[] {
  const number = attempt === 1 ? 'The first one.' : `Number ${attempt}.`
  const how = duplicate
    ? 'A copy of the same bytes, on purpose.'
    : resent
      ? 'A past delivery, sent again manually.'
      : triggered
        ? 'Sent manually.'
        : null
  const retry = retry_in_ms === undefined ? null : `The next one follows after ${formatMs(retry_in_ms)}.`
  return [{ label: 'Attempt', text: [number, how, retry].filter(Boolean).join(' ') }]
}

/** Signatures are masked in the journal; `sign` says whether one was wrong on purpose. */
function signatureFacts({ request, sign, status, outcome }: EntryOf<'delivery'>): EntryFact[] {
  if (outcome === 'skipped') return []
  const headers = Object.entries(request.headers)
  const header = headers.find(([name, value]) => value === MASKED && name.toLowerCase() !== 'authorization')
  const algorithm = headers.find(([, value]) => /^HMAC-SHA/.test(value))?.[1] ?? ''
  const bytes = byteSize(new TextEncoder().encode(request.body).length)
  const how =
    header === undefined
      ? `No signature header, ${bytes} of body.`
      : `Header ${header[0]}, ${algorithm}, over ${bytes} of body.`
  if (!isInvalidSign(sign)) return [{ label: 'Signature', text: how, ...(header && { outcome: 'pass' as const }) }]
  const isAccepted = status !== null && status < 300
  const text = [
    how,
    SIGN_TEXTS[sign],
    isAccepted ? 'The webhook accepted it: it does not check signatures as it must.' : null,
  ]
    .filter(Boolean)
    .join(' ')
  return [{ label: 'Signature', text, outcome: isAccepted ? 'fail' : 'warn' }]
}

/** As entries show what is secret. */
const MASKED = '***'

/** Which field of a call is wrong: what the platform expects, and what the body has. */
export interface FieldRefusal {
  readonly field: string
  readonly expected: string
  /** As JSON; null when it is absent. */
  readonly received: string | null
}

export function fieldProblemOf(entry: Entry): FieldRefusal | null {
  if (entry.kind !== 'api' || entry.status < 400 || entry.auth !== 'valid') return null
  const { field, message } = errorIn(entry.response)
  if (typeof field !== 'string' || typeof message !== 'string') return null
  const value = valueAt(entry.request.body, field)
  return { field, expected: message, received: value === undefined ? null : JSON.stringify(value) }
}

/** The value at `sender.name` or `buttons[0].label`. */
function valueAt(body: unknown, path: string): unknown {
  let value = body
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) {
    if (Array.isArray(value)) value = value[Number(name)]
    else if (isMap(value)) value = value[name]
    else return undefined
  }
  return value
}
