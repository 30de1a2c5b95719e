// @ts-check
// Verifies that the platform has sent a webhook.

import { createHmac, timingSafeEqual } from 'node:crypto'

export const SIGNATURE_HEADER = 'kindly-hmac'
export const ALGORITHM_HEADER = 'kindly-hmac-algorithm'
/** What `isSigned` verifies. */
export const ALGORITHM = 'HMAC-SHA-256 (base64 encoded)'

/**
 * @param {Buffer} body the bytes as they arrived
 * @param {string} secret
 */
function sign(body, secret) {
  return createHmac('sha256', secret).update(body).digest('base64')
}

/**
 * Compares the signatures as text. To decode the header first would let truncated or decorated
 * base64 through, because decoders forgive both. `timingSafeEqual` keeps an attacker from measuring
 * how many characters were right; it wants equal lengths, and the length is no secret.
 * @param {Buffer} body
 * @param {string} secret
 * @param {unknown} signature the header's value, whatever it is
 */
export function isSigned(body, secret, signature) {
  if (typeof signature !== 'string') return false
  const given = Buffer.from(signature)
  const expected = Buffer.from(sign(body, secret))
  return given.length === expected.length && timingSafeEqual(given, expected)
}
