/** The right bytes, written the wrong way. */
import { toBase64, toHex } from '../encoding.ts'
import { type Bytes, utf8 } from '../hmac.ts'
import { type Mistake, variant } from './row.ts'

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
] as const satisfies readonly Mistake<Bytes, string>[]
