/** Lists the mistakes in the header value: the right signature in a wrong form, or no signature at all. */
import { type Bytes, toBase64, toHex, utf8 } from '../hmac.ts'
import { type MistakeText, type SignatureMistake, variant } from './mistake.ts'

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_')
const unpadded = (base64: string) => base64.replace(/=+$/, '')
const ofText = (text: string) => toBase64(utf8(text))

export const FORMS = [
  {
    id: 'hex',
    says: 'The signature is written in hexadecimal instead of base64',
    fix: "Encode the digest as base64: digest('base64') in Node, base64.b64encode(mac.digest()) in Python.",
    variants: mac => [variant(toHex(mac)), variant(toHex(mac).toUpperCase())],
  },
  {
    id: 'unpadded',
    says: 'The = at the end of the signature is missing',
    fix: 'Use the ordinary base64 encoder, with padding.',
    variants: mac => [variant(unpadded(toBase64(mac)))],
  },
  {
    id: 'base64url',
    says: 'The signature is written in base64url (with - and _) instead of base64 (with + and /)',
    fix: "Use the ordinary base64 encoder: 'base64', not 'base64url', in Node; b64encode, not urlsafe_b64encode, in Python.",
    variants: mac => [variant(urlSafe(toBase64(mac))), variant(unpadded(urlSafe(toBase64(mac))))],
  },
  {
    id: 'doubled',
    says: 'The signature was encoded twice',
    fix: "Encode the bytes of the digest, not a text of it: digest() or digest('base64'), and nothing behind it.",
    variants: mac => [
      variant(ofText(toHex(mac)), 'base64 of the hexadecimal text'),
      variant(ofText(toBase64(mac)), 'base64 of the base64 text'),
      variant(toHex(utf8(toBase64(mac))), 'hexadecimal of the base64 text'),
    ],
  },
  {
    id: 'url-encoding',
    says: 'The signature was encoded or decoded as part of a URL',
    fix: 'It is the value of a header: neither encode nor decode it.',
    variants: mac => [
      variant(encodeURIComponent(toBase64(mac)), 'percent signs were put in'),
      variant(toBase64(mac).replaceAll('+', ' '), 'each + became a space'),
    ],
  },
] as const satisfies readonly SignatureMistake<Bytes, string>[]

export const RECEIVED = {
  right: {
    says: 'The signature is right',
    fix: '',
  },
  'missing-header': {
    says: 'There is no Kindly-HMAC header',
    fix: "Read it without regard to case: request.headers['kindly-hmac'] in Node, request.headers.get('Kindly-HMAC') elsewhere. If it is not there either, something between the platform and you removes it.",
  },
  'repeated-header': {
    says: 'The Kindly-HMAC header was given more than once',
    fix: 'Something between the platform and you copies headers: let it pass them on once. Do not pick one of them yourself.',
  },
  'empty-signature': {
    says: 'The signature is empty',
    fix: 'The sender must put the base64 of the HMAC into Kindly-HMAC. If it did, see what overwrites the header on its way.',
  },
  'too-long': {
    says: 'The signature is far too long; the right one has 44 characters',
    fix: 'See whether another header, or the body, was taken for the signature.',
  },
  'key-as-signature': {
    says: 'The signature header holds the key itself',
    fix: 'The key must never be sent. Send the base64 of HMAC-SHA256 over the raw body, made with the key; and change the key, because it was sent.',
  },
  'not-base64': {
    says: 'The signature is not base64',
    fix: 'It must be 44 characters from A-Z, a-z, 0-9, + and /, the last one =. See that nothing decodes, cuts or converts the header.',
  },
  'wrong-length': {
    says: 'The signature is base64, but not of 32 bytes',
    fix: 'HMAC-SHA256 has 32 bytes, which are 44 characters of base64. Encode the digest itself (not text of it), all of it, made with SHA-256.',
  },
  whitespace: {
    says: 'There is white space in or around the signature',
    fix: 'Remove it where the signature is made: command line tools end with a newline (echo -n, printf), and encoders break long lines (base64 -w0).',
  },
  quoted: {
    says: 'There are quotation marks around the signature',
    fix: 'The header holds the bare base64. It was probably written as JSON, or a shell kept the quotes.',
  },
  prefix: {
    says: 'Something stands in front of the signature',
    fix: 'The header holds the bare base64: no sha256=, no name of the header, nothing else.',
  },
  'extra-text': {
    says: 'There is other text around the signature',
    fix: 'The header holds the bare base64 and nothing else.',
  },
  'letter-case': {
    says: 'The upper and lower case of the signature was changed',
    fix: 'Base64 tells them apart. Do not apply toLowerCase or toUpperCase to the value of a header, only to its name.',
  },
  truncated: {
    says: 'The signature is cut short',
    fix: 'Keep all 44 characters of it. See whether a column, a buffer or a log is shorter than that.',
  },
  unknown: {
    says: 'The signature is not of this body with this key, and no known mistake gives it either',
    fix: 'Check that the key is that of the handover settings (not the bot API key, not that of another workspace), and that body and signature are of the same request, and complete.',
  },
} as const satisfies Record<string, MistakeText>
