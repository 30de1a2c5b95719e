/** Makes each mistake independently of the code under test: with node:crypto, Buffer and plain text. */
import { createHash, createHmac } from 'node:crypto'
import type { MistakeId } from '../../src/platform/signature/index.ts'

type Sign = (body: string, key: string) => string

/** A mistake of signing code: the signature with it, and whether it changes the signature of this body and key. */
export interface Slip {
  readonly id: MistakeId
  readonly how: string
  readonly sign: Sign
  readonly needs?: ((body: string, key: string) => boolean) | undefined
}

const mac = (body: string | Buffer, key: string | Buffer, hash = 'sha256') =>
  createHmac(hash, key).update(body).digest('base64')

const slip = (id: MistakeId, how: string, sign: Sign, needs?: Slip['needs']): Slip => ({ id, how, sign, needs })

const form = (id: MistakeId, how: string, write: (base64: string) => string, needs = /./): Slip =>
  slip(
    id,
    how,
    (text, secret) => write(mac(text, secret)),
    (text, secret) => needs.test(mac(text, secret)),
  )

/** Only a body that changes has the mistake. */
const body = (id: MistakeId, how: string, change: (body: string) => string | Buffer): Slip =>
  slip(
    id,
    how,
    (text, secret) => mac(change(text), secret),
    text => !Buffer.from(change(text)).equals(Buffer.from(text)),
  )

const key = (id: MistakeId, how: string, change: (key: string) => string): Slip =>
  slip(id, how, (text, secret) => mac(text, change(secret)))

/** A difference only in white space at the end is the mistake `newline`. */
const json = (how: string, change: (body: string) => string): Slip => ({
  ...body('restringified-json', how, change),
  needs: text => change(text).trim() !== text.trim(),
})

const again = (text: string) => JSON.stringify(JSON.parse(text))
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const escaped = (text: string) => text.replace(/[\u0080-\uffff]/g, unicode)
const go = (text: string) => text.replace(/[<>&\u2028\u2029]/g, unicode)
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}
const FORMS: Slip[] = [
  form('hex', 'lower case', base64 => Buffer.from(base64, 'base64').toString('hex')),
  form('hex', 'upper case', base64 => Buffer.from(base64, 'base64').toString('hex').toUpperCase()),
  form('unpadded', 'no =', base64 => base64.slice(0, -1)),
  form('base64url', 'unpadded', base64 => Buffer.from(base64, 'base64').toString('base64url'), /[+/]/),
  form('base64url', 'padded', base64 => base64.replace(/\+/g, '-').replace(/\//g, '_'), /[+/]/),
  form('doubled', 'base64 of hex', base64 => btoa(Buffer.from(base64, 'base64').toString('hex'))),
  form('doubled', 'base64 of base64', btoa),
  form('url-encoding', 'encoded', encodeURIComponent),
  form('url-encoding', 'plus as space', base64 => base64.replace(/\+/g, ' '), /\+/),
  form('whitespace', 'newline behind', base64 => `${base64}\n`),
  form('whitespace', 'spaces around', base64 => `  ${base64} `),
  form('whitespace', 'broken into lines', base64 => `${base64.slice(0, 20)}\r\n${base64.slice(20)}`),
  form('quoted', 'double', base64 => `"${base64}"`),
  form('prefix', 'sha256=', base64 => `sha256=${base64}`),
  form('prefix', 'header name', base64 => `Kindly-HMAC: ${base64}`),
  form('prefix', 'anything', base64 => `my key is ${base64}`),
  form('repeated-header', 'joined by a proxy', base64 => `${base64}, ${base64}`),
  form('extra-text', 'behind', base64 => `${base64};v=1`),
  form('letter-case', 'lower', base64 => base64.toLowerCase()),
  form('truncated', 'to 33 characters', base64 => base64.slice(0, 33)),
]

const JSON_FORMS: Slip[] = [
  json('JSON.stringify', again),
  json('indented by 2', text => JSON.stringify(JSON.parse(text), null, 2)),
  json('indented by 4 and a newline', text => `${JSON.stringify(JSON.parse(text), null, 4)}\n`),
  json('sorted', text => JSON.stringify(sorted(JSON.parse(text)))),
  json('letters escaped', text => escaped(again(text))),
  json('slashes escaped', text => again(text).replaceAll('/', '\\/')),
  json('both escaped, as PHP', text => escaped(again(text)).replaceAll('/', '\\/')),
  json('as Go', text => `${go(again(text))}\n`),
  json('a string of JSON', text => JSON.stringify(text)),
]

const BODIES: Slip[] = [
  ...JSON_FORMS,
  body('newline', 'trimmed', text => text.trim()),
  body('newline', 'added', text => `${text}\n`),
  body('newline', 'added as in DOS', text => `${text}\r\n`),
  body('byte-order-mark', 'added', text => `\ufeff${text}`),
  body('latin1', 'read so', text => Buffer.from(text).toString('latin1')),
  body('latin1', 'written so', text => Buffer.from(text, 'latin1')),
  body('latin1', 'read as Windows-1252', text => new TextDecoder('windows-1252').decode(Buffer.from(text))),
  body('ascii', 'read so', text => Buffer.from(text).toString('ascii')),
  body('ascii', 'question marks', text => text.replace(/[^\0-\x7f]/gu, '?')),
  body('ascii', 'left out', text => text.replace(/[^\0-\x7f]/gu, '')),
  body('utf-16', 'little endian', text => Buffer.from(text, 'utf16le')),
  body('utf-16', 'big endian', text => Buffer.from(text, 'utf16le').swap16()),
  body('unicode-form', 'NFC', text => text.normalize('NFC')),
  body('unicode-form', 'NFD', text => text.normalize('NFD')),
  body('empty-body', 'nothing', () => ''),
  body('empty-body', '{}', () => '{}'),
  body('stringified-object', 'String(body)', () => String({})),
  body('base64-body', 'encoded', text => Buffer.from(text).toString('base64')),
  body('url-and-body', 'URL first', text => `https://desk.example.test/webhook${text}`),
]

const KEYS: Slip[] = [
  key('other-key', 'by its name', () => 'another-key-of-ours'),
  key('key-whitespace', 'newline', secret => `${secret}\n`),
  key('key-whitespace', 'newline as in DOS', secret => `${secret}\r\n`),
  key('key-whitespace', 'space behind', secret => `${secret} `),
  key('key-prefix', 'Bearer', secret => `Bearer ${secret}`),
  key('key-quotes', 'double', secret => `"${secret}"`),
  key('key-encoding', 'as base64', secret => Buffer.from(secret).toString('base64')),
  key('key-unset', 'empty', () => ''),
  key('key-unset', 'undefined', () => 'undefined'),
]

const plain = (hash: string, text: string) => createHash(hash).update(text).digest('base64')
const HASHES: Slip[] = [
  ...['sha1', 'sha384', 'sha512'].map(hash => slip('other-algorithm', hash, (text, secret) => mac(text, secret, hash))),
  slip('plain-hash', 'no key', text => plain('sha256', text)),
  slip('plain-hash', 'key in front', (text, secret) => plain('sha256', secret + text)),
  slip('plain-hash', 'SHA-1, key behind', (text, secret) => plain('sha1', text + secret)),
  slip('swapped', 'key as content', (text, secret) => mac(secret, text)),
]

export const SLIPS: readonly Slip[] = [...FORMS, ...BODIES, ...KEYS, ...HASHES]
