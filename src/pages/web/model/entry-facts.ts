/** Says what was checked about a call or a delivery, the key or the signature, and which field of a call is wrong. */
import { isMap } from '../../../base/objects.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { faultHitText } from '../../../platform/wording/faults.ts'
import {
  errorIn,
  isAcceptedForgery,
  isInvalidSign,
  isRefusedForgery,
  observedSignature,
} from '../../../platform/wording/hints.ts'
import { byteSize } from './formats.ts'

export interface EntryFact {
  readonly label: 'Key' | 'Signature'
  readonly text: string
  /** How it turned out, for what can be right or wrong. */
  readonly outcome?: 'pass' | 'fail' | 'warn'
}

export function factOf(entry: Entry): EntryFact | null {
  if (entry.kind === 'delivery') return entry.outcome === 'skipped' ? null : signatureFact(entry)
  if (entry.kind !== 'api' || entry.auth === 'not_checked' || entry.auth === undefined) return null
  // The refusal says the rest.
  return { label: 'Key', text: entry.auth.replace('_', ' '), outcome: entry.auth === 'valid' ? 'pass' : 'fail' }
}

/** As entries show what is secret. */
const MASKED = '***'

/** Signatures are masked in the journal; `sign` says whether one was wrong on purpose. */
function signatureFact(entry: EntryOf<'delivery'>): EntryFact {
  const headers = Object.entries(entry.request.headers)
  const observed = observedSignature(entry)
  const masked = headers.find(([name, value]) => value === MASKED && name.toLowerCase() !== 'authorization')
  const header = observed?.header ?? masked?.[0]
  const algorithm = headers.find(([, value]) => /^HMAC-SHA/.test(value))?.[1] ?? ''
  const bytes = byteSize(new TextEncoder().encode(entry.request.body).length)
  const sent =
    header === undefined
      ? `No signature header, ${bytes} of body`
      : `Header ${header}, ${algorithm}, over ${bytes} of body`
  const fact = (text: string, outcome: EntryFact['outcome'] | null): EntryFact => ({
    label: 'Signature',
    text,
    ...(outcome && { outcome }),
  })
  if (observed !== null) {
    const outcomes: Readonly<Record<string, 'pass' | 'fail'>> = { valid: 'pass', invalid: 'fail' }
    return fact(`${sent}: ${observed.status}.`, outcomes[observed.status])
  }
  if (entry.observed) return fact(`${sent}.`, 'warn')
  if (!isInvalidSign(entry.sign)) return fact(`${sent}.`, header === undefined ? null : 'pass')
  const wrong = `${sent}. It is wrong on purpose: the webhook must refuse the event.`
  if (isRefusedForgery(entry)) return fact(`${wrong} It did.`, 'pass')
  return isAcceptedForgery(entry) ? fact(`${wrong} It accepted it.`, 'fail') : fact(wrong, 'warn')
}

/** What a fault of the user did to a call or a delivery, and what followed; ends with the entry `seq`, when there is one. */
export function orderedFailureOf(
  entry: Entry,
  effects: readonly Entry[],
  attempts: readonly EntryOf<'api' | 'delivery'>[],
): { readonly text: string; readonly seq: number | null } | null {
  if (entry.kind === 'fault' || problemIn(entry) !== 'ordered') return null
  const hit = effects.find(effect => effect.kind === 'fault')
  const start = hit?.kind === 'fault' ? `Your fault ${faultHitText(hit)}.` : 'Your fault made this fail.'
  const later = attempts.filter(({ seq }) => seq > entry.seq)
  const accepted = later.findIndex(isAccepted)
  const next = later[Math.max(0, accepted)]
  if (next === undefined) return { text: `${start} It was not tried again so far.`, seq: null }
  const times = accepted === -1 ? later.length : accepted + 1
  const again = times === 1 ? `tried again after ${formatMs(next.at_ms - entry.at_ms)}` : `tried again ${times} times`
  return { text: `${start} It was ${again}, and ${accepted === -1 ? 'failed again' : 'accepted'} at `, seq: next.seq }
}

const isAccepted = (entry: EntryOf<'api' | 'delivery'>): boolean =>
  entry.kind === 'api' ? entry.status > 0 && entry.status < 400 : entry.outcome === 'delivered'

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
  // The value at `sender.name` or `buttons[0].label`.
  let value = entry.request.body
  for (const name of field.split(/[.[\]]+/).filter(Boolean)) {
    const parts: unknown = value
    value = isMap(parts) || Array.isArray(parts) ? Reflect.get(parts, name) : undefined
  }
  return { field, expected: message, received: value === undefined ? null : JSON.stringify(value) }
}
