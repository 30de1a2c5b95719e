/** Tests every published vector: valid or invalid, with its mistake. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_URL, fileText, tableText, type Vector } from '../../scripts/signature-vectors.ts'
import { explain, verify } from '../../src/platform/signature/index.ts'

const text = readFileSync(FILE_URL, 'utf8')
const { vectors } = JSON.parse(text) as { vectors: Vector[] }
const bodyOf = ({ body_base64 }: Vector) => Buffer.from(body_base64, 'base64')

/** Vectors whose body or signature differs in a way that is no known mistake. */
const UNKNOWN = [
  'the body cut short after signing',
  'one word of the body changed',
  'the signature of another event',
  'the end of the signature replaced',
]

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

test.each(vectors)('$name', async vector => {
  expect(await verify(bodyOf(vector), vector.headers, vector.key)).toBe(vector.valid)
  const result = await explain(bodyOf(vector), vector.headers, vector.key, { otherKeys: { bot: 'sim-bot-key' } })
  expect(result).toMatchObject({ ok: vector.valid, also: [] })
  expect(result.mistake === 'unknown').toBe(UNKNOWN.includes(vector.name))
  expect(`${result.message} ${result.fix}`).not.toContain(vector.key)
})
