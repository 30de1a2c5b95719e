/**
 * Turns what passed the proxy into entries of the journal. `Masked` is the one type that the journal of a proxy takes, and
 * only this file makes it: a value in it has no key, no signature, no header that is not listed, and with an anonymiser
 * no personal value.
 */

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { isSuccess } from '../../base/http-status.ts'
import { isDeeperThan } from '../../base/nesting.ts'
import { jsonOr } from '../../base/objects.ts'
import { sha256 } from '../../base/runtime/node.ts'
import { createRedactor, REDACTED, type Redactor, withoutCredentials } from '../../base/text/redactor.ts'
import { keyIn } from '../../platform/api/access.ts'
import { chatIdOf, findApiRoute, pathOf } from '../../platform/api/call.ts'
import type { Knobs } from '../../platform/contract/knobs.ts'
import type { ApiContent, DeliveryContent, EntryContent, NoteContent } from '../../platform/journal/entry.ts'
import type { Journal } from '../../platform/journal/journal.ts'
import { acknowledgementFailure } from '../../platform/webhooks/request.ts'
import type { Anonymiser } from './anonymise.ts'
import {
  COPIED_BYTES,
  type CopiedBody,
  type ExchangeOutcome,
  headerIn,
  type PassedRequest,
  type RawHeaders,
} from './relay.ts'

class MaskedContent<Content> {
  readonly #content: Content
  constructor(content: Content) {
    this.#content = content
  }
  get content(): Content {
    return this.#content
  }
  /** What follows from masked values is masked as well. */
  map<Other>(derive: (content: Content) => Other): MaskedContent<Other> {
    return new MaskedContent(derive(this.#content))
  }
}
/** Has passed through the mask. Its class is not exported, so nothing else can be one. */
export type Masked<Content> = MaskedContent<Content>

export const appendMasked = (
  journal: Journal,
  { content }: Masked<EntryContent>,
  cause: number | null,
): EntryContent & { readonly seq: number } => journal.append(content, cause)

/** The header with the signature of a delivery, in lower case, and what it is. */
export interface Signed {
  readonly header: string
  readonly status: 'valid' | 'invalid' | 'missing' | 'not checked'
}

export interface Mask {
  call(request: PassedRequest & { readonly target: string }, outcome: ExchangeOutcome): Masked<ApiContent>
  /** The request of a delivery, before it is answered. */
  delivery(request: PassedRequest, about: DeliveryFacts): Masked<DeliveryContent>
  /** The delivery with its outcome. */
  withOutcome(
    delivery: Masked<DeliveryContent>,
    request: PassedRequest,
    outcome: ExchangeOutcome,
  ): Masked<DeliveryContent>
  note(name: string, details: Readonly<Record<string, string | number>>, message: string): Masked<NoteContent>
}

export interface DeliveryFacts {
  readonly url: string
  readonly signed: Signed
  /** The id of a delivery without a header that has one. */
  readonly id: string
}

export interface MaskOptions {
  readonly knobs: Knobs
  /** Known secrets, and those that calls bring. */
  readonly secrets: Redactor
  readonly anonymiser: Anonymiser | null
}

/** Values of these headers are protocol. */
const SHOWN_HEADERS = new Set(
  'accept accept-encoding allow cache-control connection content-encoding content-length content-type retry-after server transfer-encoding user-agent'.split(
    ' ',
  ),
)
const SCHEME = /^(Bearer|Basic|Digest|Token|ApiKey)(?= )/i
/** The values of such headers are secrets wherever else they occur. */
const SECRET_NAME = /authorization|cookie|token|key|secret|hmac|signature|password/

/** Deeper bodies are shown as text. */
const MAX_DEPTH = 200

export function createMask({ knobs, secrets, anonymiser }: MaskOptions): Mask {
  const names = {
    algorithm: knobs['webhook.algorithmHeader'].toLowerCase(),
    id: knobs['webhook.idHeader'].toLowerCase(),
  }

  const isSecretHeader = (name: string): boolean => SECRET_NAME.test(name) && name !== names.algorithm

  /** The headers by name in lower case. */
  function maskHeaders(raw: RawHeaders, signed?: Signed): Record<string, string> {
    const masked = new Map<string, string>()
    for (let at = 0; at < raw.length; at += 2) {
      const [name = '', value = ''] = raw.slice(at, at + 2)
      const lower = name.toLowerCase()
      let shown = REDACTED
      if (SHOWN_HEADERS.has(lower) || lower === names.algorithm) shown = secrets.redact(value)
      else if (lower === signed?.header) shown = `${REDACTED} (${signed.status})`
      else if (lower === names.id) shown = text(value, secrets)
      else if (lower === 'authorization') shown = `${SCHEME.exec(value)?.[0] ?? ''} ${REDACTED}`.trim()
      const earlier = masked.get(lower)
      masked.set(lower, earlier === undefined ? shown : `${earlier}, ${shown}`)
    }
    return Object.fromEntries(masked)
  }

  let latest: { readonly values: string; readonly redactor: Redactor } | null = null
  /** What texts of this exchange do not show: also the keys, the cookies and the signature that it has itself, in both directions. */
  function collectSecrets(raw: RawHeaders): Redactor {
    const secret = raw.flatMap((value, at) => {
      const name = at % 2 === 1 ? (raw[at - 1]?.toLowerCase() ?? '') : ''
      if (!isSecretHeader(name)) return []
      // What follows are attributes, such as `HttpOnly`.
      return name === 'set-cookie' ? (value.split(';')[0] ?? []) : value
    })
    const values = secret.join('\n')
    // Most calls in a row have one key.
    if (latest?.values === values) return latest.redactor
    const exchangeRedactor = createRedactor()
    for (const value of secret)
      exchangeRedactor.add(
        value,
        value.replace(/^[A-Za-z]+ +/, ''),
        ...value.split(/; */).map(pair => pair.replace(/^[^=]*=/, '')),
      )
    // Keys stay secret in later exchanges, such as those of another key's refusal.
    secrets.add(keyIn(headerIn(raw, 'authorization')))
    const redactor: Redactor = {
      ...exchangeRedactor,
      redact: value => secrets.redact(exchangeRedactor.redact(value)),
      redactDeep: value => secrets.redactDeep(exchangeRedactor.redactDeep(value)),
    }
    latest = { values, redactor }
    return redactor
  }

  const text = (value: string, { redact }: Pick<Redactor, 'redact'>): string =>
    anonymiser === null ? redact(value) : anonymiser.text(redact(value))

  /** A body as text and, if it is JSON, as value; both null when it is too long or no text. */
  function readBody(body: CopiedBody, raw: RawHeaders, redactor: Redactor) {
    const cut = body.whole === null ? null : decodedText(body.whole, headerIn(raw, 'content-encoding'))
    if (cut === null) {
      const digest = body.sha256 ?? sha256(body.whole ?? Buffer.alloc(0))
      const truncated_from = { bytes: body.bytes, sha256: anonymiser?.text(digest) ?? digest }
      return { text: null, value: null, truncated_from }
    }
    const parsed = jsonOr(cut, undefined)
    const isJson = parsed !== undefined && !isDeeperThan(parsed, MAX_DEPTH)
    if (!isJson) return { text: text(cut, redactor), value: cut === '' ? null : text(cut, redactor) }
    if (anonymiser === null) return { text: redactor.redact(cut), value: redactor.redactDeep(parsed) }
    const anonymised = anonymiser.json(cut)
    return { text: redactor.redact(anonymised), value: redactor.redactDeep(JSON.parse(anonymised) as unknown) }
  }

  return {
    call({ method, target, headers, body }, { response, durationMs, failure }) {
      const redactor = collectSecrets([...headers, ...(response?.headers ?? [])])
      const path = anonymiser?.path(target) ?? redactor.redact(withoutCredentials(target))
      const route = findApiRoute(pathOf(path), knobs)
      const sent = readBody(body, headers, redactor)
      const received =
        response === null || failure !== null ? null : readBody(response.body, response.headers, redactor)
      const status = received === null ? 0 : (response?.status ?? 0)
      const chatId = chatIdOf({ route, body: sent.value })
      return new MaskedContent<ApiContent>({
        kind: 'api',
        ...(chatId !== undefined && { chat_id: chatId }),
        endpoint: route?.id ?? null,
        method,
        path,
        alias: route?.alias ?? null,
        auth: authOf(status, headerIn(headers, 'authorization')),
        request: {
          headers: maskHeaders(headers),
          body: sent.value,
          bytes: body.bytes,
          ...(sent.truncated_from && { truncated_from: sent.truncated_from }),
        },
        status,
        response: received?.value ?? null,
        ...(received?.truncated_from && { response_truncated_from: received.truncated_from }),
        findings: [],
        unspecified: {},
        duration_ms: durationMs,
        follows: null,
        observed: true,
      })
    },

    delivery({ headers, body }, { url, signed, id }) {
      const sent = readBody(body, headers, collectSecrets(headers))
      const fields: Readonly<Record<string, unknown>> = Object(sent.value)
      const chat: Readonly<Record<string, unknown>> = Object(fields.chat)
      const chatId = [fields.chat_id, chat.id].find(id => typeof id === 'string' && id !== '')
      const idHeader = headerIn(headers, names.id)
      return new MaskedContent<DeliveryContent>({
        kind: 'delivery',
        ...(typeof chatId === 'string' && { chat_id: chatId }),
        delivery_id: idHeader === undefined ? id : text(idHeader, secrets),
        event: typeof fields.event === 'string' ? fields.event : '',
        attempt: 1,
        outcome: 'failed',
        url: withoutCredentials(url),
        request: {
          headers: maskHeaders(headers, signed),
          body: sent.text ?? '',
          ...(sent.truncated_from && { truncated_from: sent.truncated_from }),
        },
        status: null,
        response: null,
        duration_ms: 0,
        observed: true,
      })
    },

    withOutcome(delivery, request, { response, failure, durationMs }) {
      const received =
        response === null
          ? null
          : readBody(response.body, response.headers, collectSecrets([...request.headers, ...response.headers]))
      return delivery.map((content): DeliveryContent => {
        const why =
          failure ?? acknowledgementFailure(content.event, { status: response?.status ?? 0, headers: {} }, knobs)
        return {
          ...content,
          duration_ms: durationMs,
          outcome: why === null ? 'delivered' : 'failed',
          status: failure === null ? (response?.status ?? null) : null,
          response: received && {
            headers: maskHeaders(response?.headers ?? []),
            body: received.text ?? '',
            truncated: received.text === null,
            ...(received.truncated_from && { truncated_from: received.truncated_from }),
          },
          ...(why !== null && { failure: why }),
        }
      })
    },

    note: (name, details, message) =>
      new MaskedContent({ kind: 'note', note: `proxy_${name}`, ...details, message: secrets.redact(message) } as const),
  }
}

/** What the answer of the platform says about the key. */
function authOf(status: number, header: string | undefined): ApiContent['auth'] {
  if (isSuccess(status)) return 'valid'
  if (status === 403) return 'wrong_scope'
  if (status !== 401) return 'not_checked'
  if (header === undefined || header === '') return 'missing'
  return keyIn(header) === null ? 'malformed' : 'unknown'
}

/** The bytes as text, decompressed; null when they are no text, or are too long then. */
export function decodedText(bytes: Buffer, encoding = 'identity'): string | null {
  const decode = DECODERS[encoding.toLowerCase()]
  try {
    return decode === undefined ? null : new TextDecoder('utf-8', { fatal: true }).decode(decode(bytes))
  } catch {
    return null
  }
}

const LIMIT = { maxOutputLength: COPIED_BYTES }
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: bytes => bytes,
  gzip: bytes => gunzipSync(bytes, LIMIT),
  'x-gzip': bytes => gunzipSync(bytes, LIMIT),
  deflate: bytes => inflateSync(bytes, LIMIT),
  br: bytes => brotliDecompressSync(bytes, LIMIT),
}
