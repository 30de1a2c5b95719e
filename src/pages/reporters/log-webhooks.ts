/** Describes webhook events and the answers of the receiver for the log. */

import { counted, formatDuration } from '../../base/text/quantities.ts'
import { faultNames, formatMs, shorten, visible } from '../../base/text/terminal-text.ts'
import { defineTexts } from '../../base/text/texts.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import { failureBesideStatus, failureText } from '../../platform/wording/failures.ts'
import { isInvalidSign } from '../../platform/wording/hints.ts'
import { isWronglyAccepted } from './log-filter.ts'

const TEXTS = defineTexts({
  files: (count: number) => ` with ${counted(count, 'file')}`,
  copy: ' (copy)',
  attempt: (attempt: number) => ` (attempt ${attempt})`,
  triggered: 'triggered',
  resent: 'resent',
  accepted: 'accepted',
  invalidAccepted: 'although the signature is invalid: does the receiver verify it?',
  notSent: 'not sent',
  failed: 'failed',
  answer: (status: number) => `answer ${status}`,
  nextAttempt: (delay: string) => `, next attempt in ${delay}`,
  lateAnswer: (status: number | null, event: string, duration: string) => `answer ${status} to ${event}, ${duration}`,
  to: (event: string) => `to ${event}`,
  sentTo: 'sent to',
  body: 'body',
})

type Delivery = EntryOf<'delivery'>

export function describeEvent({ event, payload }: EntryOf<'event'>): LogLine {
  const quoted = 'message' in payload ? payload.message : undefined
  const files = 'attachments' in payload && payload.attachments?.length ? TEXTS.files(payload.attachments.length) : ''
  return { direction: 'platform -> webhook', what: `${event}${files}`, quoted }
}

export function describeDelivery(entry: Delivery): LogLine {
  const copy = entry.duplicate ? TEXTS.copy : entry.attempt > 1 ? TEXTS.attempt(entry.attempt) : ''
  return {
    direction: isManual(entry) ? 'manual -> webhook' : 'platform -> webhook',
    what: `${visible(entry.event)}${copy}${deliberateChanges(entry)}`,
    details: [outcome(entry), ...receiverResponse(entry), ...(isWronglyAccepted(entry) ? [WRONGLY_ACCEPTED] : [])],
  }
}

/** Triggered or resent by a user, not sent by the platform. */
export const isManual = ({ triggered, resent }: Delivery): boolean => triggered === true || resent === true

function deliberateChanges({ triggered, resent, sign, faults }: Delivery): string {
  const by = faults === undefined ? '' : faultNames(faults)
  const made = [triggered ? TEXTS.triggered : '', resent ? TEXTS.resent : '']
  const how = [...made, by, isInvalidSign(sign) ? INVALID_SIGNS[sign] : ''].filter(Boolean)
  return how.length === 0 ? '' : `, ${how.join(', ')}`
}

const INVALID_SIGNS = defineTexts({
  none: 'not signed on purpose',
  'wrong-key': 'signed with a wrong key on purpose',
  tampered: 'changed after signing on purpose',
  truncated: 'signature cut short on purpose',
  hex: 'signature encoded wrong on purpose',
} satisfies Record<Exclude<SignMode, 'valid'>, string>)

const WRONGLY_ACCEPTED: LogDetail = { label: TEXTS.accepted, text: TEXTS.invalidAccepted, level: 'warn' }

function outcome(entry: Delivery): LogDetail {
  const { status, duration_ms, failure, outcome: how } = entry
  if (how === 'skipped') return { label: TEXTS.notSent, text: visible(failureText(failure)), level: 'warn' }
  const label = status === null ? TEXTS.failed : TEXTS.answer(status)
  const shortLabel = status === null ? label : String(status)
  if (how === 'delivered') return { label, shortLabel, text: formatMs(duration_ms), level: 'good' }
  const next = entry.retry_in_ms === undefined ? '' : TEXTS.nextAttempt(formatDuration(entry.retry_in_ms))
  return {
    label,
    shortLabel,
    text: `${visible(failureBesideStatus(failure))}, ${formatMs(duration_ms)}${next}`,
    level: 'bad',
  }
}

const LONGEST_BODY = 160

/** Describes an answer whose event is further up in the log; one line when the event was delivered. */
export function describeLateAnswer(entry: Delivery): LogLine {
  const line = describeDelivery(entry)
  const direction = 'webhook -> platform'
  if (entry.outcome !== 'delivered') return { ...line, direction, what: TEXTS.to(line.what) }
  return {
    ...line,
    direction,
    what: TEXTS.lateAnswer(entry.status, line.what, formatMs(entry.duration_ms)),
    details: [],
  }
}

/** Shows the URL and the body of a refusal, which holds the receiver's own explanation. */
function receiverResponse({ outcome: how, response, url }: Delivery): LogDetail[] {
  if (how !== 'failed') return []
  const quoted: LogDetail[] = [{ label: TEXTS.sentTo, text: shorten(visible(url ?? ''), 120), level: 'plain' }]
  if (response && response.body.trim() !== '')
    quoted.push({ label: TEXTS.body, text: shorten(visible(response.body.trim()), LONGEST_BODY), level: 'plain' })
  return quoted
}

export type Level = 'plain' | 'good' | 'warn' | 'bad' | 'hint'

export interface LogDetail {
  /** `answer 200`, `failed`, `finding R-BTN`, `hint`. */
  readonly label: string
  /** In the compact style, in place of `label`: `200`. */
  readonly shortLabel?: string
  readonly text: string
  readonly level: Level
}

export interface LogLine {
  /** `intermediary -> platform`. */
  readonly direction: string
  readonly what: string
  /** Words of a person, shown quoted and shortened behind `what`. */
  readonly quoted?: string | undefined
  readonly details?: readonly LogDetail[]
}
