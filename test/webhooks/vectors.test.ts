/** Checks the published signature vectors with node:crypto and with the signing of webhook requests. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_URL, fileText, tableText, type Vector } from '../../scripts/signature-vectors.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { signingHeaders } from '../../src/platform/webhooks/request.ts'

const text = readFileSync(FILE_URL, 'utf8')
const { about, vectors } = JSON.parse(text) as { about: string; vectors: Vector[] }
const positive = vectors.filter(vector => vector.valid)
const negative = vectors.filter(vector => !vector.valid)

/** Verifies as a receiver does: compares text, because decoders of base64 forgive. */
function accepts({ key, body_base64, signature }: Vector): boolean {
  const expected = createHmac('sha256', Buffer.from(key, 'utf8')).update(Buffer.from(body_base64, 'base64'))
  return signature === expected.digest('base64')
}

test('the files are the output of the script', () => {
  expect(text).toBe(fileText())
  expect(readFileSync(new URL('vectors.tsv', FILE_URL), 'utf8')).toBe(tableText())
})

test.each(vectors)('signature is the value of the header: $name', ({ headers, signature }) => {
  expect(new Headers(headers).get('kindly-hmac')).toBe(signature)
})

test('has enough valid and invalid vectors with unique names', () => {
  expect(positive.length).toBeGreaterThanOrEqual(20)
  expect(negative.length).toBeGreaterThanOrEqual(15)
  expect(new Set(vectors.map(vector => vector.name)).size).toBe(vectors.length)
  expect(about).toContain('base64 HMAC-SHA256')
})

test('the first vector is the public example', () => {
  expect(vectors[0]).toMatchObject({
    key: 'examplekey',
    body_utf8: '{"foo":1,"bar":2}',
    headers: { 'Kindly-HMAC': 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=' },
    valid: true,
  })
})

test.each(positive)('accepted: $name', vector => {
  expect(accepts(vector)).toBe(true)
  expect(vector).not.toHaveProperty('mistake')
})

test.each(negative)('refused: $name', vector => {
  expect(accepts(vector)).toBe(false)
  expect(vector.mistake).toMatch(/\S/)
})

test('has the common mistakes', () => {
  const named = new Set(negative.map(vector => vector.mistake))
  const wanted = ['re-stringified', 'hex', 'wrong key', 'latin1', 'trimmed newline', 'truncated', 'empty']
  expect(wanted.filter(mistake => !named.has(mistake))).toEqual([])
})

test.each(positive.filter(vector => vector.body_utf8 !== undefined))('signs: $name', vector => {
  const { key, body_utf8, headers, body_base64 } = vector
  expect(Buffer.from(body_base64, 'base64').toString('utf8')).toBe(body_utf8)
  const ours = signingHeaders(key, body_utf8!, '', defaultKnobs())
  const theirs = headers['Kindly-HMAC'] ?? headers['kindly-hmac']
  expect(ours['Kindly-HMAC']).toBe(theirs)
})
