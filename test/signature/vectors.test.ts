/** Tests every published vector: valid or invalid, with its mistake. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_URL, type Vector } from '../../scripts/signature-vectors.ts'
import { explain, verify } from '../../src/platform/signature/index.ts'

const { vectors } = JSON.parse(readFileSync(FILE_URL, 'utf8')) as { vectors: Vector[] }
const bodyOf = ({ body_base64 }: Vector) => Buffer.from(body_base64, 'base64')

/** Vectors whose body or signature differs in a way that is no known mistake. */
const UNKNOWN = [
  'the body cut short after signing',
  'one word of the body changed',
  'the signature of another event',
  'the end of the signature replaced',
]

test.each(vectors)('$name', async vector => {
  expect(await verify(bodyOf(vector), vector.headers, vector.key)).toBe(vector.valid)
  const result = await explain(bodyOf(vector), vector.headers, vector.key, { otherKeys: { bot: 'sim-bot-key' } })
  expect(result).toMatchObject({ ok: vector.valid, also: [] })
  expect(result.mistake === 'unknown').toBe(UNKNOWN.includes(vector.name))
  expect(`${result.message} ${result.fix}`).not.toContain(vector.key)
})
