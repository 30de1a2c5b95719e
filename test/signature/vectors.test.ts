/** Tests every published vector: valid or invalid, with its mistake. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_URL, type Vector } from '../../scripts/signature-vectors.ts'
import { explain, type MistakeId, verify } from '../../src/platform/signature/index.ts'

const { vectors } = JSON.parse(readFileSync(FILE_URL, 'utf8')) as { vectors: Vector[] }
const bodyOf = ({ body_base64 }: Vector) => Buffer.from(body_base64, 'base64')

const NAMES: Record<string, MistakeId> = {
  're-stringified: spaces lost': 'restringified-json',
  're-stringified: escapes of letters lost': 'restringified-json',
  're-stringified: escapes of slashes lost': 'restringified-json',
  're-stringified: digits of a large number lost': 'restringified-json',
  're-stringified: keys in another order': 'restringified-json',
  'hex instead of base64': 'hex',
  'base64 of the hex text': 'doubled',
  'signed with another key': 'other-key',
  'signed with an empty key': 'key-unset',
  'a newline behind the key': 'key-whitespace',
  'the body read as Latin-1': 'latin1',
  'UTF-8 encoded twice': 'latin1',
  'the last newline left out': 'newline',
  'a newline added': 'newline',
  'the body cut short after signing': 'unknown',
  'the signature cut short': 'truncated',
  'an empty signature': 'empty-signature',
  'the signature of an empty body': 'empty-body',
  'SHA-1': 'other-algorithm',
  'SHA-512': 'other-algorithm',
  'a hash without a key': 'plain-hash',
  'key and body exchanged': 'swapped',
  'letters composed before signing': 'unicode-form',
  'one word of the body changed': 'unknown',
  'the signature in lower case': 'letter-case',
  'the signature of another event': 'unknown',
  'the end of the signature replaced': 'unknown',
  'the signature without its =': 'unpadded',
  'base64url instead of base64': 'base64url',
  'the algorithm in front of the signature': 'prefix',
  'the signature written twice': 'extra-text',
  'no signature header': 'missing-header',
}

test.each(vectors)('$name', async vector => {
  expect(await verify(bodyOf(vector), vector.headers, vector.key)).toBe(vector.valid)
  const result = await explain(bodyOf(vector), vector.headers, vector.key, { otherKeys: { bot: 'sim-bot-key' } })
  expect(result).toMatchObject({ ok: vector.valid, mistake: vector.valid ? 'right' : NAMES[vector.name], also: [] })
  expect(`${result.message} ${result.fix}`).not.toContain(vector.key)
})
