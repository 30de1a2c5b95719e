/** Webhook events and what the receiver made of them, in words. */

import type { SignMode } from '../contract/sign-modes.ts'
import type { EntryOf } from '../journal/entry.ts'
import { counted } from '../text/counted.ts'
import { formatDuration } from '../text/duration.ts'
import { faultNames, formatMs, shorten } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import { failureBesideStatus, failureText } from '../wording/delivery.ts'
import type { LogDetail, LogLine } from './log-line.ts'

type Delivery = EntryOf<'delivery'>

export function describeEvent({ event, payload }: EntryOf<'event'>): LogLine {
  const quoted = 'message' in payload ? payload.message : undefined
  const files =
    'attachments' in payload && payload.attachments?.length
      ? ` with ${counted(payload.attachments.length, 'file')}`
      : ''
  return { direction: 'platform -> webhook', what: `${event}${files}`, quoted, details: [], wrong: false, minor: true }
}

export function describeDelivery(entry: Delivery): LogLine {
  const copy = entry.duplicate ? ' (copy)' : entry.attempt > 1 ? ` (try ${entry.attempt})` : ''
  const accepted = wrongAcceptance(entry)
  return {
    direction: isManual(entry) ? 'manual -> webhook' : 'platform -> webhook',
    what: `${visible(entry.event)}${copy}${deliberateChanges(entry)}`,
    details: [outcome(entry), ...receiverResponse(entry), ...accepted],
    wrong: (entry.outcome === 'failed' && !isCorrectRefusal(entry)) || accepted.length > 0,
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

type InvalidSign = Exclude<SignMode, 'valid'>
export const isInvalidSign = (sign: SignMode | undefined): sign is InvalidSign => sign !== undefined && sign !== 'valid'

const INVALID_SIGNS: Record<InvalidSign, string> = {
  none: 'not signed on purpose',
  'wrong-key': 'signed with a wrong key on purpose',
  tampered: 'changed after signing on purpose',
  truncated: 'signature cut short on purpose',
  hex: 'signature encoded wrong on purpose',
}

/** The webhook refused what a fault made invalid. */
const isCorrectRefusal = (entry: Delivery): boolean =>
  entry.faults !== undefined && (entry.status ?? 0) >= 400 && (isInvalidSign(entry.sign) || isTruncated(entry))

/** Whether a fault truncated the body. */
export function isTruncated({ faults, request }: Delivery): boolean {
  if (faults === undefined) return false
  try {
    JSON.parse(request.body)
    return false
  } catch {
    return true
  }
}

/** Some events are acknowledged by a refusal as well. */
function wrongAcceptance({ status, sign }: Delivery): LogDetail[] {
  if (status === null || status < 200 || status > 299 || !isInvalidSign(sign)) return []
  return [{ label: 'accepted', text: 'though the signature does not fit: does the receiver verify it?', level: 'warn' }]
}

function outcome(entry: Delivery): LogDetail {
  const { status, duration_ms, failure, outcome: how } = entry
  if (how === 'skipped') return { label: 'not sent', text: visible(failureText(failure)), level: 'warn' }
  const label = status === null ? 'failed' : `answer ${status}`
  if (how === 'delivered') return { label, text: formatMs(duration_ms), level: 'good' }
  const next = entry.retry_in_ms === undefined ? '' : `, next try in ${formatDuration(entry.retry_in_ms)}`
  return { label, text: `${visible(failureBesideStatus(failure))}, ${formatMs(duration_ms)}${next}`, level: 'bad' }
}

const LONGEST_BODY = 160

/** The answer to an event shown further above: on one line when there is nothing more to say. */
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

/** The body of a refusal is the receiver's own explanation. */
function receiverResponse({ outcome: how, response, url }: Delivery): LogDetail[] {
  if (how !== 'failed') return []
  const quoted: LogDetail[] = [{ label: 'sent to', text: shorten(visible(url ?? ''), 120), level: 'plain' }]
  if (response && response.body.trim() !== '')
    quoted.push({ label: 'it said', text: shorten(visible(response.body.trim()), LONGEST_BODY), level: 'plain' })
  return quoted
}
