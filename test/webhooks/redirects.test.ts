/** Refuses redirects by default, and follows them by knob. */
import { expect, test } from 'vitest'
import { failureText } from '../../src/platform/wording/failures.ts'
import { answering, deliveredTo, receiver } from './receiver.ts'

test.each([302, 307])('%i: followed by knob, to another server, with the same bytes and headers', async status => {
  const target = await receiver()
  const { url, got } = await receiver(answering(status, { location: target.url }))
  expect(await deliveredTo(url, { 'webhook.redirect': 'follow' })).toMatchObject({ outcome: 'delivered', status: 200 })
  expect(target.got).toHaveLength(1)
  expect(target.got[0]!.method).toBe('POST')
  expect(target.got[0]!.bytes).toEqual(got[0]!.bytes)
  expect(target.got[0]!.headers['kindly-hmac']).toBe(got[0]!.headers['kindly-hmac'])
})

test.each([
  ['/again', undefined, 6],
  [undefined, undefined, 1],
  ['http://[', 'http://[', 1],
  ['file:///etc/passwd', 'file:///etc/passwd', 1],
  ['javascript:alert(1)', 'javascript:alert(1)', 1],
])('a redirect to %s fails, names %s, and makes %i requests', async (location, named, requests) => {
  const { url, got } = await receiver(answering(307, location === undefined ? {} : { location }))
  const { outcome, failure } = await deliveredTo(url, { 'webhook.redirect': 'follow' })
  const cause = named === undefined ? {} : { location: named }
  expect([outcome, failure]).toEqual(['failed', { code: 'redirect', status: 307, followed: true, ...cause }])
  if (named !== undefined) expect(failureText(failure)).toContain(`its Location "${named}" is no http or https URL`)
  expect(got).toHaveLength(requests)
})

test('a timeout after a redirect', async () => {
  const { url, got } = await receiver((_got, response, index) => {
    if (index === 0) response.writeHead(307, { location: '/next' }).end()
  })
  const delivery = await deliveredTo(url, { 'webhook.redirect': 'follow', 'webhook.timeout': '1s' })
  expect(delivery.failure).toEqual({ code: 'timeout', timeout_ms: 1000 })
  expect(got).toHaveLength(2)
})
