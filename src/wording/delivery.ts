/** Renders why a delivery or a connection failed. */
import type { DeliveryFailure } from '../journal/entry.ts'
import type { ConnectionFailure } from '../runtime/connection-failure.ts'
import { defineTexts, textFor } from '../text/texts.ts'

type Failure = DeliveryFailure | ConnectionFailure
type Of<Code extends Failure['code']> = Extract<Failure, { code: Code }>
type Texts = { readonly [Code in Failure['code']]: string | ((failure: Of<Code>) => string) }

const FAILURES = {
  connection_refused: ({ target, system_code }: Of<'connection_refused'>) =>
    `connection refused: nothing listens at ${target} (${system_code})`,
  connection_reset: ({ target, system_code }: Of<'connection_reset'>) =>
    `connection reset by ${target} before a complete answer (${system_code})`,
  connection_closed: ({ target, system_code }: Of<'connection_closed'>) =>
    `connection closed by ${target} before a complete answer (${system_code})`,
  connect_timeout: ({ target, system_code }: Of<'connect_timeout'>) =>
    `timeout: no connection to ${target} (${system_code})`,
  no_route: ({ target, system_code }: Of<'no_route'>) => `no route to ${target} (${system_code})`,
  dns_not_found: ({ target, system_code }: Of<'dns_not_found'>) => `DNS: no such host for ${target} (${system_code})`,
  dns_no_answer: ({ target, system_code }: Of<'dns_no_answer'>) => `DNS: no answer for ${target} (${system_code})`,
  no_tls: ({ target, system_code }: Of<'no_tls'>) => `TLS: ${target} does not speak HTTPS (${system_code})`,
  tls: ({ detail, system_code }: Of<'tls'>) => `TLS: ${detail} (${system_code})`,
  not_http: ({ target, detail }: Of<'not_http'>) => `not HTTP: ${target} answered something else (${detail})`,
  network: ({ target, detail, system_code }: Of<'network'>) =>
    `${target}: ${detail}${system_code === undefined ? '' : ` (${system_code})`}`,
  timeout: ({ timeout_ms }: Of<'timeout'>) => `timeout: no complete answer within ${timeout_ms} ms`,
  cancelled: 'cancelled by a reset',
  no_sockets: 'a browser has no sockets: this fault needs Node',
  function_threw: ({ detail, place }: Of<'function_threw'>) =>
    `the webhook function threw: ${detail}${place === undefined ? '' : ` at ${place}`}`,
  function_returned_no_response: 'the webhook function did not return a Response',
  function_reused_response:
    'the webhook function returned a Response whose body was read before: it has to make a new one each time',
  no_url: 'no webhook URL is set',
  redirect: ({ status, followed }: Of<'redirect'>) =>
    followed
      ? `answered with a redirect (${status}); it has no usable Location, or is one too many in a row`
      : `answered with a redirect (${status}); redirects are not followed`,
  not_acknowledged: ({ status, event }: Of<'not_acknowledged'>) => `answered ${status}; only 200 acknowledges ${event}`,
} satisfies Texts

const FAILURE_TEXTS = defineTexts(FAILURES)

const OTHER = defineTexts({
  unknown: 'no cause is recorded',
  acknowledges: (event: string) => `only 200 acknowledges ${event}`,
})

/** `connection refused: nothing listens at 127.0.0.1:3000 (ECONNREFUSED)` */
export const failureText = (failure: { readonly code: string } | undefined): string =>
  (failure && textFor(FAILURE_TEXTS, failure.code, failure)) ?? OTHER.unknown

/** For a place that shows the status already. */
export const failureBesideStatus = (failure: Failure | undefined): string =>
  failure?.code === 'not_acknowledged' ? OTHER.acknowledges(failure.event) : failureText(failure)
