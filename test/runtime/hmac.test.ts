import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base64ToHex, hexToBase64 } from '../../src/base/runtime/encoding.ts'
import { hmac as inBrowser } from '../../src/base/runtime/node.browser.ts'
import { hmac } from '../../src/base/runtime/node.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 300 })

it('the hashes for browsers equal the hashes of Node', () => {
  const hash = fc.constantFrom('sha256', 'sha1', 'sha512')
  fc.assert(
    fc.property(hash, text, text, fc.constantFrom('base64', 'hex'), (name, key, content, encoding) => {
      expect(inBrowser(name, key, content, encoding)).toBe(hmac(name, key, content, encoding))
    }),
  )
})

it('hexadecimal and base64 are converted both ways', () => {
  fc.assert(
    fc.property(text, text, (key, content) => {
      const [base64, hex] = [hmac('sha256', key, content, 'base64'), hmac('sha256', key, content, 'hex')]
      expect([hexToBase64(hex), base64ToHex(base64)]).toEqual([base64, hex])
    }),
  )
})
