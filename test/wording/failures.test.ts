/** Renders every failure of a delivery. */
import { describe, expect, test } from 'vitest'
import { type DeliveryFailure, FAILURE_CODES } from '../../src/platform/journal/entry.ts'
import { failureBesideStatus, failureText } from '../../src/platform/wording/failures.ts'

const target = '127.0.0.1:3000'
const at = (system_code: string) => ({ target, system_code })

const TEXTS: readonly (readonly [DeliveryFailure, string])[] = [
  [{ code: 'connection_refused', ...at('ECONNREFUSED') }, `nothing listens at ${target} (ECONNREFUSED)`],
  [
    { code: 'connection_reset', ...at('ECONNRESET') },
    `connection reset by ${target} before a complete answer (ECONNRESET)`,
  ],
  [{ code: 'connection_closed', ...at('EPIPE') }, `connection closed by ${target} before a complete answer (EPIPE)`],
  [{ code: 'connect_timeout', ...at('ETIMEDOUT') }, `timeout: no connection to ${target} (ETIMEDOUT)`],
  [{ code: 'no_route', ...at('EHOSTUNREACH') }, `no route to ${target} (EHOSTUNREACH)`],
  [{ code: 'dns_not_found', ...at('ENOTFOUND') }, `DNS: no such host for ${target} (ENOTFOUND)`],
  [{ code: 'dns_no_answer', ...at('EAI_AGAIN') }, `DNS: no answer for ${target} (EAI_AGAIN)`],
  [{ code: 'no_tls', ...at('EPROTO') }, `TLS: ${target} does not speak HTTPS (EPROTO)`],
  [
    { code: 'too_many_open_files', ...at('EMFILE') },
    `no connection to ${target}: handover-sim has too many open files (EMFILE); raise the limit with ulimit -n`,
  ],
  [
    { code: 'headers_too_long', ...at('UND_ERR_HEADERS_OVERFLOW') },
    `the answer of ${target} has too many or too long headers (UND_ERR_HEADERS_OVERFLOW)`,
  ],
  [
    { code: 'tls', detail: 'self-signed certificate', system_code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    'TLS: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  ],
  [
    { code: 'not_http', target, detail: 'Expected HTTP/' },
    `not HTTP: ${target} answered something else (Expected HTTP/)`,
  ],
  [{ code: 'network', target, detail: 'broken' }, `${target}: broken`],
  [{ code: 'sender_closed' }, 'the sender of the request closed the connection before the answer was complete'],
  [{ code: 'network', target, detail: 'broken', system_code: 'EIO' }, `${target}: broken (EIO)`],
  [{ code: 'timeout', timeout_ms: 100 }, 'timeout: no complete answer within 100 ms'],
  [{ code: 'timeout', timeout_ms: 10_000 }, 'timeout: no complete answer within 10s'],
  [
    { code: 'queue_full', limit_bytes: 1024 },
    'the events that wait for the webhook take 1024 bytes (memoryLimit), so this one is not sent',
  ],
  [{ code: 'cancelled' }, 'cancelled by a reset'],
  [{ code: 'no_sockets' }, 'a browser has no sockets: this fault needs Node'],
  [{ code: 'function_threw', detail: 'no chat', place: 'a.js:1:2' }, 'the webhook function threw: no chat at a.js:1:2'],
  [{ code: 'function_returned_no_response' }, 'the webhook function did not return a Response'],
  [
    { code: 'function_reused_response' },
    'the webhook function returned a Response whose body was read before: it has to make a new one each time',
  ],
  [{ code: 'no_url' }, 'no webhook URL is set'],
  [
    { code: 'queue_full', limit_bytes: 1000 },
    'the events that wait for the webhook take 1000 bytes (memoryLimit), so this one is not sent',
  ],
  [{ code: 'internal_error' }, 'internal error of handover-sim; the entry internal_error before has the details'],
  [{ code: 'redirect', status: 302, followed: false }, 'answered with a redirect (302); redirects are not followed'],
  [
    { code: 'redirect', status: 302, followed: true },
    'answered with a redirect (302); it has no Location, or is one too many in a row',
  ],
  [{ code: 'not_acknowledged', status: 204, event: 'X' }, 'answered 204; only 200 acknowledges X'],
]

test.each(TEXTS)('%o', (failure, text) => {
  expect(failureText(failure)).toBe(text)
})

test('the table of this test has every code', () => {
  expect([...new Set(TEXTS.map(([{ code }]) => code))].sort()).toEqual(Object.keys(FAILURE_CODES).sort())
})

describe('in a file of another version', () => {
  test.each([undefined, { code: 'new_code' }, { code: 'constructor' }])('%o has no text', failure => {
    expect(failureText(failure as DeliveryFailure | undefined)).toBe('no cause is recorded')
  })
})

test('a status is shown once', () => {
  expect(failureBesideStatus({ code: 'not_acknowledged', status: 204, event: 'X' })).toBe('only 200 acknowledges X')
  expect(failureBesideStatus({ code: 'no_url' })).toBe('no webhook URL is set')
})
