/**
 * Generates fixtures/signatures/: webhook bodies with valid signatures, and with signatures that result from common
 * mistakes. The output is deterministic: `npm run generate` writes it.
 */
import { createHash, createHmac } from 'node:crypto'
import { encodePayload } from '../src/platform/webhooks/request.ts'

export interface Vector {
  readonly name: string
  readonly key: string
  readonly body_base64: string
  /** The body as text, where it is text. */
  readonly body_utf8?: string
  readonly headers: Readonly<Record<string, string>>
  /** The value of the signature header; null when it is missing. */
  readonly signature: string | null
  readonly valid: boolean
  /** The mistake that gives this invalid signature. */
  readonly mistake?: string
}

const KEY = 'sim-handover-key'
const SIGNATURE = 'Kindly-HMAC'
const ALGORITHM = 'Kindly-HMAC-algorithm'

type Body = string | Buffer
const bytesOf = (body: Body): Buffer => (typeof body === 'string' ? Buffer.from(body, 'utf8') : body)
const hmac = (key: string, body: Body, hash = 'sha256') => createHmac(hash, key).update(bytesOf(body)).digest()
const base64 = (key: string, body: Body, hash = 'sha256') => hmac(key, body, hash).toString('base64')

const base64Url = (body: Body) => base64(KEY, body).replaceAll('+', '-').replaceAll('/', '_')

const headersWith = (signature: string, algorithm = 'HMAC-SHA-256 (base64 encoded)') => ({
  'Content-Type': 'application/json',
  [SIGNATURE]: signature,
  [ALGORITHM]: algorithm,
})

function vector(name: string, key: string, body: Body, rest: Pick<Vector, 'headers' | 'valid' | 'mistake'>): Vector {
  const text = typeof body === 'string' ? { body_utf8: body } : {}
  const { headers, ...result } = rest
  const signature = Object.entries(headers).find(([header]) => header.toLowerCase() === SIGNATURE.toLowerCase())?.[1]
  const body_base64 = bytesOf(body).toString('base64')
  return { name, key, body_base64, ...text, headers, signature: signature ?? null, ...result }
}

const good = (name: string, body: Body, key = KEY): Vector =>
  vector(name, key, body, { headers: headersWith(base64(key, body)), valid: true })

const bad = (mistake: string, name: string, body: Body, signature: string): Vector =>
  vector(name, KEY, body, { headers: headersWith(signature), valid: false, mistake })

const about = {
  bot: { id: 1042, name: 'Nora' },
  chat: {
    _links: { self: 'https://bot.example.test/api/v1/chats/c394b674-c865-4926-9541-db8f3c7cb8b6' },
    id: 'c394b674-c865-4926-9541-db8f3c7cb8b6',
    language: 'nb',
    source: 'web',
  },
  user: { id: '9752a3c4477ef0acbc9bf02e' },
}
const saying = (message: string) => ({ event: 'MESSAGE FROM USER', ...about, message })
const says = (message: string) => JSON.stringify(saying(message))
const FILE = {
  name: 'kvittering æ.png',
  url: 'https://bot.example.test/files/7316e39676b90f0ff1b8bede/kvittering%20%C3%A6.png',
  type: 'image/png',
  size_kb: 12,
}

const EVENTS: Vector[] = [
  good('public example', '{"foo":1,"bar":2}', 'examplekey'),
  good('event REQUESTING TAKEOVER', JSON.stringify({ event: 'REQUESTING TAKEOVER', ...about })),
  good('event MESSAGE FROM USER', says('Hei, pakken min er borte')),
  good('event with attachments', JSON.stringify({ ...saying(''), attachments: [FILE] })),
  good('event AGENT TYPING START', JSON.stringify({ event: 'AGENT TYPING START', chat_id: about.chat.id })),
  good('event AGENT TYPING STOP', JSON.stringify({ event: 'AGENT TYPING STOP', chat_id: about.chat.id })),
]

const TEXTS: [name: string, text: string][] = [
  ['text: Norwegian letters', 'Blåbærsyltetøy på brødskiva'],
  ['text: Arabic, right to left', 'مرحبًا، أين طلبي رقم ٤٢؟'],
  ['text: bidirectional marks', 'abc \u200fשלום\u200e def \u202etxt.exe\u202c'],
  ['text: emoji with joiners and a flag', '👩‍👩‍👧‍👦 🇳🇴 ❤️'],
  ['text: a lone surrogate, escaped', 'half \ud83d emoji'],
  ['text: line and paragraph separators', 'one\u2028two\u2029three'],
  ['text: control characters', 'nul \u0000 bell \u0007 escape \u001b delete \u007f'],
  ['text: quotes, backslashes and slashes', 'He said "C:\\new/old" </script>'],
  ['text: composed and decomposed é', '\u00e9 e\u0301'],
  ['text: a byte order mark inside', '\ufeffstarts with it'],
  ['text: newlines and tabs', 'one\r\ntwo\n\tthree'],
  ['text: nothing', ''],
  ['text: four thousand characters', 'Æøå? '.repeat(800)],
]

const AWKWARD = saying('Blåbær/🫐 på https://www.example.test/ordre?id=7')
const FORMS = ['spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'] as const

const OTHERS: Vector[] = [
  good('numbers beyond what a double holds', '{"id":9007199254740993,"price":1.10,"tiny":1e-7}'),
  good('a key given twice', '{"event":"A","event":"B"}'),
  good('an empty object', '{}'),
  good('an empty body', ''),
  good('bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  good('a key longer than a hash block', '{"foo":1}', 'k'.repeat(100)),
  good('a key with punctuation', '{"foo":1}', 'a+b/c==!"#%'),
  good('a key that is not ASCII', '{"foo":1}', 'nøkkel🗝'),
  {
    ...good('header names in lower case', says('Hei')),
    headers: { 'content-type': 'application/json', 'kindly-hmac': base64(KEY, says('Hei')) },
  },
]

function mistakes(): Vector[] {
  const plain = says('Hei på deg 🫐')
  const spaced = encodePayload(AWKWARD, 'spaced')
  const ascii = encodePayload(AWKWARD, 'ascii')
  const slashes = encodePayload(AWKWARD, 'slashes')
  const reordered = encodePayload(AWKWARD, 'reordered')
  const big = '{"id":9007199254740993}'
  const again = (body: string) => base64(KEY, JSON.stringify(JSON.parse(body)))
  const composed = says('e\u0301')
  const signature = base64(KEY, plain)
  const withBothLetters = says('Hei igjen')
  return [
    bad('re-stringified', 're-stringified: spaces lost', spaced, again(spaced)),
    bad('re-stringified', 're-stringified: escapes of letters lost', ascii, again(ascii)),
    bad('re-stringified', 're-stringified: escapes of slashes lost', slashes, again(slashes)),
    bad('re-stringified', 're-stringified: digits of a large number lost', big, again(big)),
    bad('re-stringified', 're-stringified: keys in another order', reordered, base64(KEY, JSON.stringify(AWKWARD))),
    bad('hex', 'hex instead of base64', plain, hmac(KEY, plain).toString('hex')),
    bad('hex', 'base64 of the hex text', plain, Buffer.from(hmac(KEY, plain).toString('hex')).toString('base64')),
    bad('wrong key', 'signed with another key', plain, base64('sim-bot-key', plain)),
    bad('wrong key', 'signed with an empty key', plain, base64('', plain)),
    bad('wrong key', 'a newline behind the key', plain, base64(`${KEY}\n`, plain)),
    bad('latin1', 'the body read as Latin-1', plain, base64(KEY, Buffer.from(plain, 'latin1'))),
    bad('latin1', 'UTF-8 encoded twice', plain, base64(KEY, Buffer.from(plain, 'utf8').toString('latin1'))),
    bad('trimmed newline', 'the last newline left out', `${plain}\n`, base64(KEY, plain)),
    bad('trimmed newline', 'a newline added', plain, base64(KEY, `${plain}\n`)),
    bad('truncated', 'the body cut short after signing', plain.slice(0, -20), signature),
    bad('truncated', 'the signature cut short', plain, signature.slice(0, 20)),
    bad('empty', 'an empty signature', plain, ''),
    bad('empty', 'the signature of an empty body', plain, base64(KEY, '')),
    bad('wrong algorithm', 'SHA-1', plain, base64(KEY, plain, 'sha1')),
    bad('wrong algorithm', 'SHA-512', plain, base64(KEY, plain, 'sha512')),
    bad('wrong algorithm', 'a hash without a key', plain, createHash('sha256').update(plain).digest('base64')),
    bad('wrong algorithm', 'key and body exchanged', plain, base64(plain, KEY)),
    bad('normalized', 'letters composed before signing', composed, base64(KEY, composed.normalize('NFC'))),
    bad('altered', 'one word of the body changed', plain.replace('Hei', 'Hoi'), signature),
    bad('altered', 'the signature in lower case', plain, signature.toLowerCase()),
    bad('altered', 'the signature of another event', plain, base64(KEY, says('Hei'))),
    bad('truncated', 'the end of the signature replaced', plain, `${signature.slice(0, 32)}AAAAAAAAAAA=`),
    bad('truncated', 'the signature without its =', plain, signature.slice(0, -1)),
    bad('base64url', 'base64url instead of base64', withBothLetters, base64Url(withBothLetters)),
    bad('prefix', 'the algorithm in front of the signature', plain, `sha256=${signature}`),
    bad('doubled', 'the signature written twice', plain, signature + signature),
    {
      ...bad('missing', 'no signature header', plain, ''),
      headers: { 'Content-Type': 'application/json' },
      signature: null,
    },
  ]
}

function signatureVectors(): { about: string; vectors: Vector[] } {
  return {
    about:
      'Webhook bodies and their signature headers. The signature is the base64 HMAC-SHA256 of the raw body bytes ' +
      '(body_base64), keyed with the UTF-8 bytes of key; header names have no case. A receiver accepts those with ' +
      'valid true and refuses the others; mistake says what went wrong there. signature repeats the value of the ' +
      'signature header, null when it is missing. Made by scripts/signature-vectors.ts.',
    vectors: [
      ...EVENTS,
      ...TEXTS.map(([name, text]) => good(name, says(text))),
      ...FORMS.map(form => good(`form: ${form}`, encodePayload(AWKWARD, form))),
      ...OTHERS,
      ...mistakes(),
    ],
  }
}

export const FILE_URL = new URL('../fixtures/signatures/vectors.json', import.meta.url)
export const fileText = (): string => `${JSON.stringify(signatureVectors(), null, 2)}\n`

const COLUMNS = ['name', 'valid', 'key_base64', 'body_base64', 'signature']

/** The same vectors as lines with tabs, for languages without JSON. A missing signature is an empty column. */
export function tableText(): string {
  const rows = signatureVectors().vectors.map(({ name, valid, key, body_base64, signature }) =>
    [name, valid, Buffer.from(key).toString('base64'), body_base64, signature ?? ''].join('\t'),
  )
  return `${[COLUMNS.join('\t'), ...rows].join('\n')}\n`
}
