/** Lists the known mistakes of signing code: their ids, their texts, and the form of a variant. */
import { defineTexts } from '../../../base/text/texts.ts'

/** What is wrong: a sentence without its full stop, because a detail may follow. */
export const MISTAKE_TEXTS = /* @__PURE__ */ defineTexts({
  right: 'The signature is valid',
  'missing-header': 'The Kindly-HMAC header is missing',
  'repeated-header': 'The Kindly-HMAC header occurs more than once',
  'empty-signature': 'The signature is empty',
  'too-long': 'The signature is much longer than the 44 characters of a valid one',
  'key-as-signature': 'The signature header contains the key itself',
  'not-base64': 'The signature is not base64',
  'wrong-length': 'The signature is base64 of a wrong length',
  whitespace: 'The signature contains white space',
  quoted: 'The signature is enclosed in quotation marks',
  prefix: 'The signature has a prefix',
  'extra-text': 'The header has other text beside the signature',
  'letter-case': 'The letter case of the signature was changed',
  truncated: 'The signature is truncated',
  unknown: 'The signature does not match this body and key, and no known mistake explains it',
  hex: 'The signature is hexadecimal instead of base64',
  unpadded: 'The signature lacks the = at its end',
  base64url: 'The signature is base64url (with - and _) instead of base64 (with + and /)',
  doubled: 'The signature was encoded twice',
  'url-encoding': 'The signature was URL-encoded or URL-decoded',
  'other-key': 'The signature was made with another key',
  'key-whitespace': 'The signature was made with a key that differs in white space at its start or end',
  'key-prefix': 'The signature was made with a key that differs in the prefix Bearer',
  'key-quotes': 'The signature was made with a key that differs in quotation marks around it',
  'key-url-encoding': 'The signature was made with a URL-encoded or URL-decoded key',
  'key-encoding': 'The signature was made with an encoded or decoded key',
  'key-unset': 'The signature was made without a key',
  'empty-body': 'The signature was made over an empty body',
  'stringified-object': 'The signature was made over a parsed body that was converted to text',
  newline: 'The signature was made over a body with other white space at its start or end',
  'byte-order-mark': 'The signature was made over a body that differs in the byte order mark',
  'line-endings': 'The signature was made over a body with other line endings',
  'restringified-json': 'The signature was made over the same JSON, parsed and serialized again',
  'not-utf-8': 'The body is not valid UTF-8, and the signature was made over the text it was decoded to',
  latin1: 'The signature was made over the body in Latin-1',
  ascii: 'The signature was made over the body in ASCII',
  'utf-16': 'The signature was made over the body in UTF-16',
  'unicode-form': 'The signature was made over the body in another Unicode normalization form',
  'base64-body': 'The signature was made over the body encoded or decoded as base64',
  'url-and-body': 'The signature was made over URL and body instead of the body alone',
  'other-algorithm': 'The signature was made with another algorithm',
  'plain-hash': 'The signature is a plain hash, not an HMAC',
  swapped: 'The signature was made with key and body swapped',
})

/** The id of a mistake; `right` when there is none. */
export type MistakeId = keyof typeof MISTAKE_TEXTS

const RAW = 'Sign and verify the raw bytes of the request, before any parsing or decoding.'

/** How to fix a mistake. */
export const FIX_TEXTS: Readonly<Record<MistakeId, string>> = /* @__PURE__ */ defineTexts({
  right: '',
  'missing-header':
    "Read the header without regard to case: request.headers['kindly-hmac'] in Node, request.headers.get('Kindly-HMAC') elsewhere. If it is still missing, a proxy or gateway in front of your server removes it.",
  'repeated-header':
    'A proxy or gateway in front of your server duplicates headers: configure it to pass each header once. Do not select one of the values.',
  'empty-signature':
    'The sender must set Kindly-HMAC to the base64 of the HMAC. If it does, find out what overwrites the header on the way.',
  'too-long': 'Check whether the code reads another header, or the body, as the signature.',
  'key-as-signature':
    'Never send the key. Send the base64 of HMAC-SHA256 over the raw body, computed with the key. Replace the key, because it was sent.',
  'not-base64':
    'Send 44 characters from A-Z, a-z, 0-9, + and /, of which the last is =. Check that no code decodes, shortens or converts the header.',
  'wrong-length':
    'An HMAC-SHA256 has 32 bytes, which are 44 characters of base64. Encode the whole digest as bytes, not as text, and use SHA-256.',
  whitespace:
    'Remove it where the signature is made: command line tools add a newline (use echo -n or printf), and encoders break long lines (use base64 -w0).',
  quoted: 'Send the bare base64. Check whether the value is written as JSON, or a shell passes the quotes on.',
  prefix: 'Send the bare base64, without sha256=, a header name or other text in front.',
  'extra-text': 'Send only the bare base64.',
  'letter-case':
    'Base64 is case-sensitive. Apply toLowerCase or toUpperCase only to the name of a header, not to its value.',
  truncated: 'Keep all 44 characters. Check whether a database column, a buffer or a log cuts the value.',
  unknown:
    'Check that the key is the one of the handover settings (not the bot API key, not the key of another workspace), and that body and signature are complete and belong to the same request.',
  hex: "Encode the digest as base64: digest('base64') in Node, base64.b64encode(mac.digest()) in Python.",
  unpadded: 'Use the standard base64 encoder, with padding.',
  base64url:
    "Use the standard base64 encoder: 'base64', not 'base64url', in Node; b64encode, not urlsafe_b64encode, in Python.",
  doubled: "Encode the bytes of the digest once: digest('base64') in Node, without another encoding after it.",
  'url-encoding': 'Send the value of the header without URL encoding or decoding.',
  'other-key': 'Use the key of the handover settings of this workspace on both sides.',
  'key-whitespace': 'Trim the key where it is read: files end with a newline, and copied text may have spaces.',
  'key-prefix': 'Sign with the bare key. Only the Authorization header of calls to the platform has the prefix Bearer.',
  'key-quotes':
    'Remove the quotes from the env file or the shell command, or read the file with a parser that removes them.',
  'key-url-encoding': 'Use the key exactly as the settings show it, without percent encoding or decoding.',
  'key-encoding': 'Sign with the UTF-8 bytes of the key, even if it looks like base64 or hexadecimal.',
  'key-unset': 'Find out why the variable of the key is not set, and end the program when it is missing.',
  'empty-body':
    'Compute the HMAC over the raw body. Check whether a body parser read it before, or an await is missing.',
  'stringified-object': `${RAW} Pass bytes, not an object.`,
  newline:
    'Do not trim the body, and add nothing: echo and text editors add a newline, trim() and templates remove it.',
  'byte-order-mark':
    'Use the bytes as they are: decoders such as response.text() remove the mark, and some editors add one.',
  'line-endings': 'Handle the body as bytes: text mode, git and form encoders change line endings.',
  'restringified-json': `${RAW} Serializing parsed JSON gives other bytes.`,
  'not-utf-8': `${RAW} Text cannot represent such bytes.`,
  latin1: `${RAW} If your code needs text, use UTF-8: check the encoding passed to setEncoding, toString or getBytes.`,
  ascii: `${RAW} If your code needs text, use UTF-8: ASCII has no letters beyond a to z.`,
  'utf-16': 'Encode the body as UTF-8: Encoding.UTF8, not Encoding.Unicode, in .NET.',
  'unicode-form': 'Do not normalize the body before signing or verifying: é may be one character or two.',
  'base64-body': 'Gateways pass bodies as base64 (isBase64Encoded): decode the body first, then verify the bytes.',
  'url-and-body': 'Sign the body alone. If a simulator signs the URL too, check its knob webhook.signedContent.',
  'other-algorithm':
    "Use HMAC with SHA-256: createHmac('sha256', key) in Node, hmac.new(key, body, hashlib.sha256) in Python.",
  'plain-hash': "Use an HMAC: createHmac('sha256', key) instead of createHash('sha256').",
  swapped: 'Check the order of the arguments: most languages take the key first; PHP takes the content before the key.',
})

/** A mistake that was found. The detail follows the text of the mistake and never contains a key. */
export interface FoundMistake {
  readonly id: MistakeId
  readonly detail: string
}

export const foundMistake = (id: MistakeId, detail = ''): FoundMistake => ({ id, detail })

/** One way to make a mistake, and the value that it gives. */
export interface Variant<Value> {
  readonly value: Value
  readonly detail: string
}

export const variant = <Value>(value: Value, detail = ''): Variant<Value> => ({ value, detail })

/** By mistake: the values it gives for an input. A value may equal the input. */
export type Variants<Input, Value, Id extends MistakeId = MistakeId> = Readonly<
  Record<Id, (input: Input) => Iterable<Variant<Value>>>
>

/** A value that a mistake gives. */
export type Candidate<Value> = Variant<Value> & FoundMistake

/**
 * Yields all variants. The list of a mistake ends at the first variant that fails: for JSON nested too deeply, or a
 * character set that the runtime lacks.
 */
export function* candidatesOf<Input, Value, Id extends MistakeId>(
  variants: Variants<Input, Value, Id>,
  input: Input,
): Iterable<Candidate<Value>> {
  for (const id in variants)
    try {
      for (const { value, detail } of variants[id](input)) yield { id, value, detail }
    } catch {
      // The variants before the failure are enough.
    }
}
