/** Keeps a call for the journal, which builds its entry when it is first read. */
import type { AssumptionName } from '../contract/assumptions.ts'
import { formatKnob, isKnob, type Knobs } from '../contract/knobs.ts'
import type { AppliedApiFaults } from '../faults/registry.ts'
import { bytesOfStored, type StoredBytes } from '../journal/byte-store.ts'
import type { ApiContent } from '../journal/entry.ts'
import { type CallOutline, EntrySource } from '../journal/entry-source.ts'
import { longRequest, SHOWN_BODY_BYTES, sizeOfCall, sizeOfParsed } from '../journal/long-bodies.ts'
import { maskSetting } from '../journal/mask.ts'
import { elapsedMs } from '../runtime/clock.ts'
import { decodeUtf8 } from '../runtime/encoding.ts'
import { type ApiCall, chatIdOf } from './call.ts'
import type { ApiResponse } from './messages.ts'
import { TranscriptSource } from './transcripts.ts'

type Assumed = ApiContent['unspecified']

const NOTHING_ASSUMED: Assumed = Object.freeze({})
const NO_FINDINGS: ApiContent['findings'] = Object.freeze([])
const BROKEN_BODY_BYTES = 2000

/** Refers to nothing of the call but what its entry says, so that the rest can be freed. */
export class CallRecord extends EntrySource implements CallOutline {
  readonly size: number
  readonly chat_id: string | undefined
  readonly endpoint: ApiContent['endpoint']
  readonly status: number
  readonly findings: ApiContent['findings']
  readonly unspecified: Assumed
  readonly #alias: ApiContent['alias']
  readonly #method: string
  readonly #path: string
  readonly #auth: ApiContent['auth']
  readonly #headers: ApiContent['request']['headers']
  /** The JSON of a short body, or what follows from another one. */
  readonly #body: StoredBytes | KeptRequest
  readonly #response: unknown
  /** In microseconds: a whole number takes no memory of its own. */
  readonly #duration: number
  readonly #follows: number | null
  /** Null for nearly every call. */
  readonly #further: Further | null

  constructor(call: ApiCall, answer: ApiResponse) {
    super()
    const { ports, request, route, transaction } = call
    const { findings, assumed } = transaction
    const chatId = chatIdOf(call)
    this.size = sizeOf(call, answer)
    this.chat_id = chatId
    this.endpoint = route === null ? null : route.id
    this.status = answer.status
    this.findings = findings.length === 0 ? NO_FINDINGS : findings
    this.unspecified = assumed.length === 0 ? NOTHING_ASSUMED : valuesOf(assumed, ports.platform.knobs)
    this.#alias = route === null ? null : route.alias
    this.#method = request.method
    this.#path = request.target === route?.canonical ? route.canonical : request.target
    this.#auth = call.auth
    this.#headers = request.headers
    this.#body = bodyOf(call)
    this.#response = call.response ?? null
    this.#duration = Math.round((elapsedMs() - call.started) * 1000)
    this.#follows = chatId === undefined ? null : ports.lastEvent(chatId)
    this.#further = furtherOf(call)
  }

  get kind(): 'api' {
    return 'api'
  }

  get faults(): ApiContent['faults'] {
    return this.#further?.faults
  }

  override content(): ApiContent {
    const entry: ApiContent = {
      kind: 'api',
      ...(this.chat_id === undefined ? {} : { chat_id: this.chat_id }),
      endpoint: this.endpoint,
      method: this.#method,
      path: this.#path,
      alias: this.#alias,
      auth: this.#auth,
      request: this.#request(),
      status: this.status,
      response: this.#response instanceof TranscriptSource ? this.#response.value() : this.#response,
      findings: this.findings,
      unspecified: this.unspecified,
      duration_ms: this.#duration / 1000,
      follows: this.#follows,
    }
    return this.#further === null ? entry : { ...entry, ...this.#further }
  }

  #request(): ApiContent['request'] {
    if ('request' in this.#body) return this.#body.request
    const body: unknown = JSON.parse(decodeUtf8(bytesOfStored(this.#body)))
    return { headers: this.#headers, body, bytes: this.#body.length }
  }
}

/** The values of a longer body are kept, because the chat refers to its long texts too. */
const SHORT_BYTES = 1024

type KeptRequest = Pick<ApiContent, 'request'>

/** The JSON of a short body is parsed again when the entry is first read: it takes a fraction of the memory of its values. */
function bodyOf({ ports, body, request: { headers, body: bytes } }: ApiCall): StoredBytes | KeptRequest {
  const { length } = bytes
  if (body === undefined) return { request: { headers, body: brokenBody(bytes), bytes: length } }
  if (length <= SHORT_BYTES) return ports.bodies.add(bytes)
  return { request: length > SHOWN_BODY_BYTES ? longRequest(headers, bytes) : { headers, body, bytes: length } }
}

const brokenBody = (bytes: Uint8Array): string | null =>
  bytes.length === 0 ? null : new TextDecoder().decode(bytes.subarray(0, BROKEN_BODY_BYTES))

let latest: { readonly names: readonly AssumptionName[]; readonly raw: readonly unknown[]; readonly values: Assumed } =
  {
    names: [],
    raw: [],
    values: NOTHING_ASSUMED,
  }

/** The value of the knob of each assumption. Calls in a row often assume the same, and share it. */
function valuesOf(names: readonly AssumptionName[], knobs: Knobs): Assumed {
  const isLatest =
    names.length === latest.names.length &&
    names.every((name, at) => name === latest.names[at] && knobValue(name, knobs) === latest.raw[at])
  if (!isLatest) {
    const values = Object.freeze(Object.fromEntries(names.map(name => [name, shownValue(name, knobs)])))
    latest = { names, raw: names.map(name => knobValue(name, knobs)), values }
  }
  return latest.values
}

const knobValue = (name: AssumptionName, knobs: Knobs): unknown => (isKnob(name) ? knobs[name] : null)

/** As it is written in a configuration; null without a knob. */
const shownValue = (name: AssumptionName, knobs: Knobs): unknown =>
  isKnob(name) ? maskSetting(name, formatKnob(name, knobs[name])) : null

type Further = Pick<ApiContent, 'shown_to_user' | 'faults' | 'answer_lost'>

function furtherOf({ shownToUser, faults }: ApiCall): Further | null {
  if (faults === null && shownToUser === null) return null
  return { ...(shownToUser && { shown_to_user: shownToUser }), ...(faults && faultFields(faults)) }
}

function faultFields({ faults, answer }: AppliedApiFaults): Pick<ApiContent, 'faults' | 'answer_lost'> {
  if (answer?.kind !== 'drop') return { faults }
  return { faults, answer_lost: answer.processed ? 'after' : 'before' }
}

function sizeOf(call: ApiCall, answer: ApiResponse): number {
  const { body, valueCount, request, response, shownToUser, transaction } = call
  const { length } = request.body
  const stored = body === undefined ? Math.min(length, BROKEN_BODY_BYTES) : length
  const answerSize = response === undefined ? 0 : answer.body.length
  const shownSize = shownToUser?.text?.length ?? 0
  const bodySize = answerSize + shownSize + (length > SHOWN_BODY_BYTES ? stored : sizeOfParsed(stored, valueCount))
  return sizeOfCall(request.target, request.headers, transaction.findings, bodySize)
}
