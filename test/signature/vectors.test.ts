/** Tests every published vector: valid or invalid, with its mistake. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { explain, verify } from '../../src/platform/signature/index.ts'
import { FILE_URL, type Vector } from './vectors.ts'

const { vectors } = JSON.parse(readFileSync(FILE_URL, 'utf8')) as { vectors: Vector[] }
const bodyOf = ({ body_base64 }: Vector) => Buffer.from(body_base64, 'base64')

/** Vectors whose body or signature differs in a way that is no known mistake. */
const UNKNOWN = [
  'the body cut short after signing',
  'one word of the body changed',
  'the signature of another event',
  'the end of the signature replaced',
]

test('the table has the same vectors, and the first one is the public example', () => {
  const rows = vectors.map(({ name, valid, key, body_base64, signature }) =>
    [name, valid, Buffer.from(key).toString('base64'), body_base64, signature ?? ''].join('\t'),
  )
  const table = ['name\tvalid\tkey_base64\tbody_base64\tsignature', ...rows, '']
  expect(readFileSync(new URL('vectors.tsv', FILE_URL), 'utf8').split('\n')).toEqual(table)
  for (const { body_utf8, body_base64, headers, signature } of vectors) {
    if (body_utf8 !== undefined) expect(Buffer.from(body_utf8).toString('base64')).toBe(body_base64)
    const sent = Object.entries(headers).find(([header]) => header.toLowerCase() === 'kindly-hmac')?.[1]
    expect(signature).toBe(sent ?? null)
  }
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
