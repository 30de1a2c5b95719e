/** Renders every failure of a delivery. */
import { expect, test } from 'vitest'
import type { DeliveryFailure } from '../../src/platform/journal/entry.ts'
import { failureBesideStatus, failureText } from '../../src/platform/wording/failures.ts'

const target = '127.0.0.1:3000'

/** Failures, as code and details, and the essential part of their text. */
const TEXTS: readonly (readonly [code: DeliveryFailure['code'] | 'new_code', details: object, text: RegExp])[] = [
  ['connection_refused', { target, system_code: 'ECONNREFUSED' }, /^nothing listens at 127.*:3000 \(ECONNREFUSED\)$/],
  ['connection_reset', { target, system_code: 'ECONNRESET' }, /^connection reset by 127.* \(ECONNRESET\)$/],
  ['connection_closed', { target, system_code: 'EPIPE' }, /^connection closed by 127.* \(EPIPE\)$/],
  ['connect_timeout', { target, system_code: 'ETIMEDOUT' }, /no connection to 127.* \(ETIMEDOUT\)$/],
  ['no_route', { target, system_code: 'EHOSTUNREACH' }, /^no route to 127.* \(EHOSTUNREACH\)$/],
  ['dns_not_found', { target, system_code: 'ENOTFOUND' }, /no such host for 127.* \(ENOTFOUND\)$/],
  ['dns_no_answer', { target, system_code: 'EAI_AGAIN' }, /^DNS: no answer for 127.* \(EAI_AGAIN\)$/],
  ['no_tls', { target, system_code: 'EPROTO' }, /does not speak HTTPS \(EPROTO\)$/],
  ['too_many_open_files', { target, system_code: 'EMFILE' }, /too many open files \(EMFILE\).*ulimit -n$/],
  ['headers_too_long', { target, system_code: 'UND_ERR_HEADERS_OVERFLOW' }, /too many or too long headers/],
  ['tls', { detail: 'self-signed certificate', system_code: 'X' }, /^TLS: self-signed certificate \(X\)$/],
  ['not_http', { target, detail: 'Expected HTTP/' }, /^not HTTP: 127.*\(Expected HTTP\/\)$/],
  ['network', { target, detail: 'broken' }, /^127\.0\.0\.1:3000: broken$/],
  ['network', { target, detail: 'broken', system_code: 'EIO' }, /: broken \(EIO\)$/],
  ['sender_closed', {}, /closed the connection before the answer was complete/],
  ['timeout', { timeout_ms: 100 }, /no complete answer within 100 ms$/],
  ['timeout', { timeout_ms: 10_000 }, /no complete answer within 10s$/],
  ['queue_full', { limit_bytes: 1024 }, /take 1024 bytes \(memoryLimit\)/],
  ['cancelled', {}, /cancelled by a reset/],
  ['no_sockets', {}, /needs Node/],
  ['function_threw', { detail: 'no chat', place: 'a.js:1:2' }, /the webhook function threw: no chat at a\.js:1:2/],
  ['function_returned_no_response', {}, /did not return a Response/],
  ['function_reused_response', {}, /body was read before/],
  ['lambda_answer_invalid', { detail: 'no status' }, /the Lambda handler gave no usable answer: no status/],
  ['no_url', {}, /^no webhook URL is set$/],
  ['internal_error', {}, /internal error of handover-sim/],
  ['redirect', { status: 302, followed: false }, /redirect \(302\); redirects are not followed/],
  ['redirect', { status: 302, followed: true }, /redirect \(302\); it has no Location/],
  ['not_acknowledged', { status: 204, event: 'X' }, /^answered 204; only 200 acknowledges X$/],
  ['new_code', {}, /^no cause is recorded$/],
]

test.each(TEXTS)('%s %j', (code, details, text) => {
  expect(failureText({ code, ...details } as DeliveryFailure)).toMatch(text)
})

test('beside a status, the text does not repeat it', () => {
  expect(failureBesideStatus({ code: 'not_acknowledged', status: 204, event: 'X' })).toBe('only 200 acknowledges X')
  expect(failureBesideStatus({ code: 'no_url' })).toBe('no webhook URL is set')
})
