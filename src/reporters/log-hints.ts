/** Suggests what to try when a delivery fails. The first rule that matches decides. */

import type { EntryOf } from '../journal/entry.ts'
import { visible } from '../text/terminal-text.ts'
import { isInvalidSign, isTruncated } from './log-webhooks.ts'

export interface LogHint {
  /** Hints of the same cause are given once. */
  readonly cause: string
  readonly text: string
}

type Delivery = EntryOf<'delivery'>

interface HintRule {
  readonly cause: string
  matches(entry: Delivery): boolean
  advice(entry: Delivery): string
}

type Code = NonNullable<Delivery['failure']>['code']
const failedWith =
  (...codes: Code[]) =>
  ({ failure }: Delivery) =>
    failure !== undefined && codes.includes(failure.code)
const answered = (matches: (status: number) => boolean) => (entry: Delivery) =>
  entry.status !== null && matches(entry.status)

function parts(url: string | null): { host: string; path: string; protocol: string; hostname: string } {
  if (url === null || !URL.canParse(url)) return { host: '', path: '', protocol: '', hostname: '' }
  const { host, pathname, protocol, hostname } = new URL(url)
  return { host: visible(host), path: visible(pathname), protocol, hostname }
}

const swapped = (url: string | null) =>
  url === null ? '' : visible(/^https:/i.test(url) ? url.replace(/^https/i, 'http') : url.replace(/^http/i, 'https'))

const HINT_RULES: readonly HintRule[] = [
  {
    cause: 'no url',
    matches: entry => entry.outcome === 'skipped',
    advice: () => 'Say where events go: --webhook-url URL, webhook.url in the config file, or PATCH /_sim/config.',
  },
  {
    cause: 'https to http',
    matches: failedWith('no_tls'),
    advice: ({ url }) => `The address says https but a plain http server answers there; try ${swapped(url)}.`,
  },
  {
    cause: 'certificate',
    matches: failedWith('tls'),
    advice: () => 'The certificate is not trusted: use http on this machine, or start with NODE_EXTRA_CA_CERTS=ca.pem.',
  },
  {
    cause: 'http to https',
    matches: entry =>
      parts(entry.url).protocol === 'http:' &&
      (failedWith('not_http', 'connection_reset', 'connection_closed')(entry) ||
        /plain HTTP request was sent to HTTPS/i.test(entry.response?.body ?? '')),
    advice: ({ url }) =>
      `Does the receiver expect https? Then try ${swapped(url)}. Otherwise it closed the connection before answering: see its log.`,
  },
  {
    cause: 'refused',
    matches: failedWith('connection_refused'),
    advice: ({ url }) =>
      `Is the intermediary running, and on that port?${parts(url).hostname === 'localhost' ? ' localhost may mean ::1 here: try 127.0.0.1.' : ''}`,
  },
  {
    cause: 'host',
    matches: failedWith('dns_not_found', 'dns_no_answer'),
    advice: ({ url }) =>
      `Check the spelling of ${parts(url).host}, and that the name is known where the simulator runs.`,
  },
  {
    cause: 'slow',
    matches: failedWith('timeout', 'connect_timeout'),
    advice: () => 'Answer 200 first and work afterwards: the platform waits no longer than the knob webhook.timeout.',
  },
  {
    cause: 'redirect',
    matches: answered(status => status >= 300 && status < 400),
    advice: entry =>
      `Set the address it leads to${entry.response?.headers.location ? ` (${visible(entry.response.headers.location)})` : ''}; often only a final slash or http/https differs.`,
  },
  {
    cause: 'wrong on purpose',
    matches: ({ sign, status }) => isInvalidSign(sign) && (status === 401 || status === 403),
    advice: () => 'Refused as it should be: this signature was wrong on purpose.',
  },
  {
    cause: 'cut on purpose',
    matches: entry => isTruncated(entry) && entry.status !== null,
    advice: ({ faults = [] }) => `The fault ${visible(faults.join(', '))} cut the body short: a refusal is right.`,
  },
  {
    cause: 'old signature',
    matches: ({ resent, triggered, status }) =>
      resent === true && triggered !== true && (status === 401 || status === 403),
    advice: () =>
      'It went out with the headers of the first time; after a change of key, resend with resign=true or --re-sign.',
  },
  {
    cause: 'signature',
    matches: answered(status => status === 401 || status === 403),
    advice: () =>
      'Signature refused? Compute the HMAC over the raw body bytes, before any JSON parsing, with the handover key, and compare as the header is encoded.',
  },
  {
    cause: 'path',
    matches: answered(status => status === 404 || status === 410),
    advice: ({ url }) =>
      `Something runs at ${parts(url).host} but has no ${parts(url).path}; check the path of the webhook URL.`,
  },
  {
    cause: 'method',
    matches: answered(status => status === 405),
    advice: ({ url }) => `The route ${parts(url).path} must take POST.`,
  },
  {
    cause: 'crash',
    matches: answered(status => status >= 500),
    advice: () => 'The receiver failed: its own log has the reason.',
  },
  {
    cause: 'not 200',
    matches: answered(status => status > 200 && status < 300),
    advice: () => 'Answer exactly 200: no other status acknowledges this event.',
  },
]

export function logHintFor(entry: Delivery): LogHint | null {
  if (entry.outcome === 'delivered') return null
  const sign = HINT_RULES.find(one => one.matches(entry))
  return sign ? { cause: `${sign.cause} ${entry.url}`, text: sign.advice(entry) } : null
}
