/** Says why an entry failed and what to try. Of the hints for deliveries, the first whose rule matches is given. */

import { isSuccess } from '../../base/http-status.ts'
import { isMap } from '../../base/objects.ts'
import { certificateProblem, isCutOff } from '../../base/runtime/connection-failure.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { SignMode } from '../contract/event-names.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { driverFailureText, failureText, httpsHint, TLS_HINTS } from './failures.ts'

export interface DeliveryHint {
  /** Hints of the same cause are given once. */
  readonly cause: string
  readonly text: string
}

/** In words; null where nothing is known. */
export interface EntryExplanation {
  readonly why: string | null
  readonly hint: string | null
}

/** Why an entry failed, and what to try; null for an entry that did not fail. */
export function explainEntry(entry: Entry): EntryExplanation | null {
  if (entry.kind === 'delivery') {
    if (entry.probe !== undefined || isRefusedForgery(entry)) return null
    if (isAcceptedForgery(entry))
      return {
        why: `the webhook accepted a forged event: it answered ${entry.status} although the signature is wrong on purpose`,
        hint: 'Verify the signature before anything else is done with an event, and answer 401 when it does not match.',
      }
    if (entry.outcome === 'delivered') return null
    return { why: failureText(entry.failure), hint: deliveryHint(entry)?.text ?? null }
  }
  if (entry.kind === 'driver')
    return entry.failure === undefined ? null : { why: driverFailureText(entry.failure), hint: null }
  if (entry.kind !== 'api' || entry.status < 400) return null
  const { message, hint } = errorIn(entry.response)
  return { why: textOrNull(message), hint: textOrNull(hint) }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** The error of the platform in the body of a response, or that of handover-sim, which also has a hint. */
export function errorIn(response: unknown): Readonly<Record<string, unknown>> {
  const { error, handover_sim } = isMap(response) ? response : {}
  const body = error ?? handover_sim
  return isMap(body) ? body : {}
}

type Delivery = EntryOf<'delivery'>

type InvalidSign = Exclude<SignMode, 'valid'>
export const isInvalidSign = (sign: SignMode | undefined): sign is InvalidSign => sign !== undefined && sign !== 'valid'

/** A hole: the event has a wrong signature on purpose, and was answered with 2xx. */
export const isAcceptedForgery = ({ sign, status }: Delivery): boolean => isInvalidSign(sign) && isSuccess(status)

/** The event has a wrong signature on purpose, and was answered with 4xx, as it must be. */
export const isRefusedForgery = ({ sign, status }: Delivery): boolean =>
  isInvalidSign(sign) && status !== null && status >= 400 && status < 500

const SIGNATURE_STATUS = /^\*\*\* \((valid|invalid|not checked)\)$/

/** The signature of an observed delivery: its header, and what the proxy thinks of it; null when it has none. */
export function observedSignature({
  request,
  observed,
}: Delivery): { readonly header: string; readonly status: string } | null {
  for (const [header, value] of observed ? Object.entries(request.headers) : []) {
    const status = SIGNATURE_STATUS.exec(value)?.[1]
    if (status !== undefined) return { header, status }
  }
  return null
}

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

/** nginx answers http on its https port with these words. They are data of the receiver, not a text of this project. */
const HTTP_ON_HTTPS = /plain HTTP request was sent to HTTPS/i

/** The first hint that fits; null for a delivered event, and where nothing is known. */
export function deliveryHint(entry: Delivery): DeliveryHint | null {
  if (entry.outcome === 'delivered') return null
  const hint = findHint(entry)
  return hint === null ? null : { cause: `${hint.code} ${entry.url}`, text: hint.text }
}

function findHint(entry: Delivery): { readonly code: string; readonly text: string } | null {
  const { failure, status, response, faults = [] } = entry
  const url = entry.url !== null && URL.canParse(entry.url) ? new URL(entry.url) : null
  const host = visible(url?.host ?? '')
  const path = visible(url?.pathname ?? '')
  const isRefused = status === 401 || status === 403
  const isHttp = url?.protocol === 'http:'
  /** The URL with https for http, and the other way round. */
  const otherUrl = visible((entry.url ?? '').replace(/^https?/i, isHttp ? 'https' : 'http'))

  if (entry.outcome === 'skipped') {
    const text = 'Say where events go: --webhook-url URL, webhook.url in the config file, or PATCH /_sim/config.'
    return { code: 'no url', text }
  }
  if (failure?.code === 'no_tls') {
    const text = `The address says https but a plain http server answers there; try ${otherUrl}.`
    return { code: 'https to http', text }
  }
  const problem = certificateProblem(failure)
  if (problem !== undefined) return { code: problem, text: TLS_HINTS[problem] }
  if (isHttp && (isCutOff(failure) || HTTP_ON_HTTPS.test(response?.body ?? ''))) {
    return {
      code: 'http to https',
      text: `${httpsHint(entry.url)} Otherwise its log says why it closed the connection.`,
    }
  }
  switch (failure?.code) {
    case 'connection_refused': {
      const localhost = url?.hostname === 'localhost' ? ' localhost may mean ::1 here: try 127.0.0.1.' : ''
      return { code: 'refused', text: `Is the intermediary running, and on that port?${localhost}` }
    }
    case 'dns_not_found':
    case 'dns_no_answer': {
      const text = `Check the spelling of ${host}, and that the name is known where the simulator runs.`
      return { code: 'host', text }
    }
    case 'timeout':
    case 'connect_timeout': {
      const text = 'Answer 200 first and work afterwards: the platform waits no longer than the knob webhook.timeout.'
      return { code: 'slow', text }
    }
  }
  if (status === null) return null
  if (status >= 300 && status < 400) {
    const location = response?.headers.location ? ` (${visible(response.headers.location)})` : ''
    const text = `Set the address it leads to${location}; often only a final slash or http/https differs.`
    return { code: 'redirect', text }
  }
  if (isRefused && isInvalidSign(entry.sign))
    return { code: 'invalid signature', text: 'Refused as it should be: this signature was wrong on purpose.' }
  if (isTruncated(entry)) {
    const text = `The fault ${visible(faults.join(', '))} cut the body short: a refusal is right.`
    return { code: 'truncated', text }
  }
  if (isRefused && entry.resent === true && entry.triggered !== true) {
    const text =
      'It was sent with the headers of the first time; after a change of key, resend with resign=true or --re-sign.'
    return { code: 'old signature', text }
  }
  if (isRefused && url !== null && url.username !== '' && entry.request.headers.authorization === undefined) {
    const text =
      'The user and the password in the webhook URL are not sent: the knob webhook.basicAuth=on sends them, and the platform may not.'
    return { code: 'credentials', text }
  }
  if (isRefused) {
    const text =
      'Signature refused? Compute the HMAC over the raw body bytes, before any JSON parsing, with the handover key, and compare as the header is encoded.'
    return { code: 'signature', text }
  }
  if (status === 404 || status === 410) {
    const text = `Something runs at ${host} but has no ${path}; check the path of the webhook URL.`
    return { code: 'path', text }
  }
  if (status === 405) return { code: 'method', text: `The route ${path} must take POST.` }
  if (status >= 500) return { code: 'crash', text: 'The receiver failed: its own log has the reason.' }
  if (status > 200 && status < 300)
    return { code: 'not 200', text: 'Answer exactly 200: no other status acknowledges this event.' }
  return null
}
