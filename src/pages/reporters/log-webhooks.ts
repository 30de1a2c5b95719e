/** Describes webhook events and the answers of the receiver for the log. */

import { counted, formatDuration } from '../../base/text/quantities.ts'
import { faultNames, formatMs, shorten, visible } from '../../base/text/terminal-text.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import { failureBesideStatus, failureText } from '../../platform/wording/failures.ts'
import { isInvalidSign } from '../../platform/wording/hints.ts'
import { isWronglyAccepted } from './log-filter.ts'

type Delivery = EntryOf<'delivery'>

export function describeEvent({ event, payload }: EntryOf<'event'>): LogLine {
  const quoted = 'message' in payload ? payload.message : undefined
  const files =
    'attachments' in payload && payload.attachments?.length
      ? ` with ${counted(payload.attachments.length, 'file')}`
      : ''
  return { direction: 'platform -> webhook', what: `${event}${files}`, quoted }
}

export function describeDelivery(entry: Delivery): LogLine {
  const copy = entry.duplicate ? ' (copy)' : entry.attempt > 1 ? ` (attempt ${entry.attempt})` : ''
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
  const made = [triggered ? 'triggered' : '', resent ? 'resent' : '']
  const how = [...made, by, isInvalidSign(sign) ? INVALID_SIGNS[sign] : ''].filter(Boolean)
  return how.length === 0 ? '' : `, ${how.join(', ')}`
}

const INVALID_SIGNS = {
  none: 'not signed on purpose',
  'wrong-key': 'signed with a wrong key on purpose',
  tampered: 'changed after signing on purpose',
  truncated: 'signature cut short on purpose',
  hex: 'signature encoded wrong on purpose',
} satisfies Record<Exclude<SignMode, 'valid'>, string>

const WRONGLY_ACCEPTED: LogDetail = {
  label: 'accepted',
  text: 'although the signature is invalid: does the receiver verify it?',
  level: 'warn',
}

function outcome(entry: Delivery): LogDetail {
  const { status, duration_ms, failure, outcome: how } = entry
  if (how === 'skipped') return { label: 'not sent', text: visible(failureText(failure)), level: 'warn' }
  const label = status === null ? 'failed' : `answer ${status}`
  const shortLabel = status === null ? label : String(status)
  if (how === 'delivered') return { label, shortLabel, text: formatMs(duration_ms), level: 'good' }
  const next = entry.retry_in_ms === undefined ? '' : `, next attempt in ${formatDuration(entry.retry_in_ms)}`
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
  if (entry.outcome !== 'delivered') return { ...line, direction, what: `to ${line.what}` }
  return {
    ...line,
    direction,
    what: `answer ${entry.status} to ${line.what}, ${formatMs(entry.duration_ms)}`,
    details: [],
  }
}

/** Shows the URL and the body of a refusal, which holds the receiver's own explanation. */
function receiverResponse({ outcome: how, response, url }: Delivery): LogDetail[] {
  if (how !== 'failed') return []
  const quoted: LogDetail[] = [{ label: 'sent to', text: shorten(visible(url ?? ''), 120), level: 'plain' }]
  if (response && response.body.trim() !== '')
    quoted.push({ label: 'body', text: shorten(visible(response.body.trim()), LONGEST_BODY), level: 'plain' })
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
