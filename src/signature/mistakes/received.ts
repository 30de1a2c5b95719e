/** What can be wrong with the header as it was received, whatever was signed. */
import type { Words } from './row.ts'

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
} as const satisfies Record<string, Words>
