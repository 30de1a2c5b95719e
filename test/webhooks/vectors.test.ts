/** Checks the published signature vectors with node:crypto and with the signing of webhook requests. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_URL, fileText, tableText, type Vector } from '../../scripts/signature-vectors.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { signingHeaders } from '../../src/platform/webhooks/request.ts'

const text = readFileSync(FILE_URL, 'utf8')
const { vectors } = JSON.parse(text) as { vectors: Vector[] }

test('the files are the output of the script, and the first vector is the public example', () => {
  expect(text).toBe(fileText())
  expect(readFileSync(new URL('vectors.tsv', FILE_URL), 'utf8')).toBe(tableText())
  expect(vectors[0]).toMatchObject({
    key: 'examplekey',
    body_utf8: '{"foo":1,"bar":2}',
    headers: { 'Kindly-HMAC': 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=' },
    valid: true,
  })
})

test.each(vectors)('$name', ({ key, body_base64, body_utf8, headers, signature, valid }) => {
  const body = Buffer.from(body_base64, 'base64')
  expect(new Headers(headers).get('kindly-hmac')).toBe(signature)
  // Compares text as a receiver does, because decoders of base64 forgive.
  expect(signature === createHmac('sha256', Buffer.from(key, 'utf8')).update(body).digest('base64')).toBe(valid)
  if (body_utf8 === undefined) return
  expect(body.toString('utf8')).toBe(body_utf8)
  const isSigned = signingHeaders(key, body_utf8, '', defaultKnobs())['Kindly-HMAC'] === signature
  expect(isSigned).toBe(valid)
})
