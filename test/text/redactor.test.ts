/** Which values are redacted, in which forms, and at which cost. */
import { describe, expect, it } from 'vitest'
import { createRedactor, withoutCredentials } from '../../src/base/text/redactor.ts'

const SECRET = `p4ß "w\\rd/+&1'x`

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor(['public-key'])
  redactor.add(...secrets)
  return redactor
}

describe('a secret', () => {
  it.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify(SECRET)],
    ['in an address', `x?a=${encodeURIComponent(SECRET)}`],
    ['in a form', new URLSearchParams({ a: SECRET }).toString()],
    [
      'in an address of PHP',
      encodeURIComponent(SECRET)
        .replaceAll("'", '%27')
        .replace(/%../g, code => code.toLowerCase()),
    ],
    ['in JSON of PHP', JSON.stringify(SECRET).replaceAll('/', '\\/').replaceAll('ß', '\\u00df')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(JSON.stringify(SECRET)))],
    ['in JSON in an address', encodeURIComponent(JSON.stringify(SECRET))],
    ['in an address in an address', encodeURIComponent(encodeURIComponent(SECRET))],
    ['in HTML', SECRET.replace(/["'&]/g, sign => ({ '"': '&quot;', "'": '&#39;', '&': '&amp;' })[sign]!)],
  ])('is found %s', (_form, text) => {
    const shown = redactorOf(SECRET).redact(`before ${text} after`)
    expect(shown).toContain('***')
    expect(shown.startsWith('before ') && shown.endsWith(' after')).toBe(true)
    expect(shown).not.toMatch(/rd|p4/)
  })

  it.each([
    ['before an ellipsis', 'is hk-live-Q7w8\\/e…', 'is ***…'],
    ['before an ellipsis within a form', 'is hk-live-Q7w8%2…', 'is ***…'],
    ['behind an ellipsis', '…-Q7w8/e9%2Br0t1 is', '…*** is'],
    ['between two', '…live-Q7w8…', '…***…'],
    ['but not seven characters of it', 'hk-live… and …/e9+r0t', 'hk-live… and …/e9+r0t'],
    ['but not without an ellipsis', 'hk-live-Q7 and …', 'hk-live-Q7 and …'],
  ])('of which a text was cut is found %s', (_, text, shown) => {
    expect(redactorOf('hk-live-Q7w8/e9+r0t1').redact(text)).toBe(shown)
  })

  it('is replaced before a shorter one that it contains', () => {
    expect(redactorOf('secret-1', 'secret-1-long').redact('secret-1-long secret-1')).toBe('*** ***')
  })

  it('in a number is found as a whole only', () => {
    const redactor = redactorOf('12345678')
    expect(redactor.redact('12345678 and 1234567890123')).toBe('*** and 1234567890123')
    expect(redactor.redactDeep({ a: 12345678, b: 123456789 })).toEqual({ a: '***', b: 123456789 })
  })
})

it.each(['short', 'true', 'false', '1234567', 'http://127.0.0.1:3000/webhook', 'public-key', '      ', '***'])(
  '%j is no secret',
  value => {
    expect(redactorOf(value).redact(`a ${value} b`)).toBe(`a ${value} b`)
  },
)

describe('an address', () => {
  const redactor = createRedactor()
  redactor.addUrl('https://me:pw@host.test/hook?token=abc&page=2&x_signature=0123456789')

  it('loses its credentials, also short ones', () => {
    const url = 'https://me:pw@host.test/hook?token=abc&page=2&x_signature=0123456789'
    const expected = 'https://***@host.test/hook?token=***&page=2&x_signature=***'
    expect([redactor.redact(url), withoutCredentials(url)]).toEqual([expected, expected])
  })

  const secret = ['sessionId', 'session_id', 'APIKey', 'api-key', 'accessToken', 'sig', 'X-Amz-Signature', 'code']
  it.each([...secret, 'client_secret'])('has a secret in the parameter %s', name =>
    expect(withoutCredentials(`http://a/?b=1&${name}=xyz#c`)).toBe(`http://a/?b=1&${name}=***#c`),
  )

  const ordinary = ['author', 'design', 'language_code', 'postcode', 'passenger', 'monkey', 'keyboard', 'authority']
  it.each(ordinary)('has an ordinary word in the parameter %s', name =>
    expect(withoutCredentials(`http://a/?${name}=xyz`)).toBe(`http://a/?${name}=xyz`),
  )

  it('has short credentials replaced nowhere else', () => {
    expect(redactor.redact('pw and abc stay, 0123456789 does not')).toBe('pw and abc stay, *** does not')
  })
})

describe('a JSON value', () => {
  const redactor = redactorOf('delivery', 'k-1 value', 'timeout')

  it('keeps its structure: field names and codes of one word', () => {
    const value = { kind: 'delivery', delivery: { code: 'timeout' }, 'k-1 value': ['delivery', 1, null, true] }
    const expected = { kind: 'delivery', delivery: { code: 'timeout' }, '***': ['***', 1, null, true] }
    expect(redactor.redactDeep(value)).toEqual(expected)
  })

  it('is the same object when it has no secret', () => {
    const value = { a: [{ b: 'nothing' }], pattern: /delivery/, at: new Date(0) }
    expect(redactor.redactDeep(value)).toBe(value)
  })
})

it('ends for many secrets and hostile text', () => {
  const redactor = redactorOf(...Array.from({ length: 500 }, (_, index) => `${'a'.repeat(30)}${index}-key`))
  const text = `${'a'.repeat(29)}b`.repeat(10_000)
  expect(redactor.redact(text)).toBe(text)
  redactor.addUrl(`${'key'.repeat(100_000)}://${'@'.repeat(100_000)}?${'token'.repeat(100_000)}`)
})
