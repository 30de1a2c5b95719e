/** Says why an entry failed and what to try. Of the hints for deliveries, the first whose rule matches is given. */

import { isMap, keysOf } from '../../base/objects.ts'
import { type CertificateProblem, certificateProblem } from '../../base/runtime/connection-failure.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { SignMode } from '../contract/event-names.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { driverFailureText, failureText, TLS_HINTS } from './failures.ts'

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
  const found = error ?? handover_sim
  return isMap(found) ? found : {}
}

type Delivery = EntryOf<'delivery'>

type InvalidSign = Exclude<SignMode, 'valid'>
export const isInvalidSign = (sign: SignMode | undefined): sign is InvalidSign => sign !== undefined && sign !== 'valid'

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

type Matcher = (entry: Delivery) => boolean

const urlOf = ({ url }: Delivery) => (url !== null && URL.canParse(url) ? new URL(url) : null)
const hostOf = (entry: Delivery) => visible(urlOf(entry)?.host ?? '')
const pathOf = (entry: Delivery) => visible(urlOf(entry)?.pathname ?? '')

/** The URL with https for http, and the other way round. */
const swapped = ({ url }: Delivery) =>
  visible((url ?? '').replace(/^http(s?)/i, (_, secure: string) => (secure === '' ? 'https' : 'http')))

const HINTS = {
  'no url': 'Say where events go: --webhook-url URL, webhook.url in the config file, or PATCH /_sim/config.',
  'https to http': (entry: Delivery) =>
    `The address says https but a plain http server answers there; try ${swapped(entry)}.`,
  ...TLS_HINTS,
  'http to https': (entry: Delivery) =>
    `Does the receiver expect https? Then try ${swapped(entry)}. Otherwise it closed the connection before answering: see its log.`,
  refused: (entry: Delivery) =>
    `Is the intermediary running, and on that port?${urlOf(entry)?.hostname === 'localhost' ? ' localhost may mean ::1 here: try 127.0.0.1.' : ''}`,
  host: (entry: Delivery) =>
    `Check the spelling of ${hostOf(entry)}, and that the name is known where the simulator runs.`,
  slow: 'Answer 200 first and work afterwards: the platform waits no longer than the knob webhook.timeout.',
  redirect: ({ response }: Delivery) =>
    `Set the address it leads to${response?.headers.location ? ` (${visible(response.headers.location)})` : ''}; often only a final slash or http/https differs.`,
  'invalid signature': 'Refused as it should be: this signature was wrong on purpose.',
  truncated: ({ faults = [] }: Delivery) =>
    `The fault ${visible(faults.join(', '))} cut the body short: a refusal is right.`,
  'old signature':
    'It was sent with the headers of the first time; after a change of key, resend with resign=true or --re-sign.',
  signature:
    'Signature refused? Compute the HMAC over the raw body bytes, before any JSON parsing, with the handover key, and compare as the header is encoded.',
  path: (entry: Delivery) =>
    `Something runs at ${hostOf(entry)} but has no ${pathOf(entry)}; check the path of the webhook URL.`,
  method: (entry: Delivery) => `The route ${pathOf(entry)} must take POST.`,
  crash: 'The receiver failed: its own log has the reason.',
  'not 200': 'Answer exactly 200: no other status acknowledges this event.',
}

type Code = NonNullable<Delivery['failure']>['code']
const failedWith =
  (...codes: Code[]): Matcher =>
  ({ failure }) =>
    failure !== undefined && codes.includes(failure.code)
const answered =
  (first: number, last = first): Matcher =>
  ({ status }) =>
    status !== null && status >= first && status <= last
const hasCertificate =
  (problem: CertificateProblem): Matcher =>
  ({ failure }) =>
    certificateProblem(failure) === problem
const isRefused: Matcher = ({ status }) => status === 401 || status === 403
const isCutOff = failedWith('not_http', 'connection_reset', 'connection_closed')

/** nginx answers http on its https port with these words. They are data of the receiver, not a text of this project. */
const answersHttpOnHttps: Matcher = ({ response }) => /plain HTTP request was sent to HTTPS/i.test(response?.body ?? '')

const RULES: Readonly<Record<keyof typeof HINTS, Matcher>> = {
  'no url': ({ outcome }) => outcome === 'skipped',
  'https to http': failedWith('no_tls'),
  certificate_untrusted: hasCertificate('certificate_untrusted'),
  certificate_name: hasCertificate('certificate_name'),
  certificate_date: hasCertificate('certificate_date'),
  'http to https': entry => urlOf(entry)?.protocol === 'http:' && (isCutOff(entry) || answersHttpOnHttps(entry)),
  refused: failedWith('connection_refused'),
  host: failedWith('dns_not_found', 'dns_no_answer'),
  slow: failedWith('timeout', 'connect_timeout'),
  redirect: answered(300, 399),
  'invalid signature': entry => isInvalidSign(entry.sign) && isRefused(entry),
  truncated: entry => isTruncated(entry) && entry.status !== null,
  'old signature': entry => entry.resent === true && entry.triggered !== true && isRefused(entry),
  signature: isRefused,
  path: entry => entry.status === 404 || entry.status === 410,
  method: answered(405),
  crash: answered(500, Number.POSITIVE_INFINITY),
  'not 200': answered(201, 299),
}
const CAUSES = keysOf(RULES)

export function deliveryHint(entry: Delivery): DeliveryHint | null {
  const cause = entry.outcome === 'delivered' ? undefined : CAUSES.find(code => RULES[code](entry))
  if (cause === undefined) return null
  const text = HINTS[cause]
  return { cause: `${cause} ${entry.url}`, text: typeof text === 'string' ? text : text(entry) }
}
