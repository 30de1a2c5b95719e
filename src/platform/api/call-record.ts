/** Keeps a call for the journal, which builds its entry when it is first read. */

import { elapsedMs } from '../../base/runtime/clock.ts'
import { decodeUtf8 } from '../../base/runtime/encoding.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import { formatKnob, isKnob, type Knobs } from '../contract/knobs.ts'
import type { AppliedApiFaults } from '../faults/registry.ts'
import { type Block, type ByteStore, createByteStore } from '../journal/byte-store.ts'
import type { ApiContent } from '../journal/entry.ts'
import { type CallOutline, EntrySource } from '../journal/entry-source.ts'
import { longRequest, SHOWN_BODY_BYTES, sizeOfCall, sizeOfParsed } from '../journal/long-bodies.ts'
import { maskSetting } from '../journal/mask.ts'
import { type ApiCall, chatIdOf } from './call.ts'
import type { ApiResponse } from './messages.ts'
import { TranscriptSource } from './transcripts.ts'

type Assumed = ApiContent['unspecified']

const NOTHING_ASSUMED: Assumed = Object.freeze({})
const NO_FINDINGS: ApiContent['findings'] = Object.freeze([])
const BROKEN_BODY_BYTES = 2000

const NO_HEADERS: ApiContent['request']['headers'] = Object.freeze({})

/** Creates the records of calls. A record that the journal needs no more is used again, with its part of the store. */
export interface CallRecords {
  create(call: ApiCall, answer: ApiResponse): CallRecord
}

/** Enough for calls whose entries are dropped one by one. Further records are left to the garbage collector. */
const MOST_FREE = 64

export function createCallRecords(): CallRecords {
  const store = createByteStore()
  const free: CallRecord[] = []
  const onRelease = (record: CallRecord) => void (free.length < MOST_FREE && free.push(record))
  return {
    create(call, answer) {
      const record = free.pop() ?? new CallRecord(store, onRelease)
      record.keep(call, answer)
      return record
    },
  }
}

/**
 * Refers to nothing of the call but what its entry says, so that the rest can be freed. The garbage collector moves what
 * outlives some milliseconds, and a journal drops most calls unread some seconds later: so records are used again, short
 * bodies are bytes in the store, and the other values are those of the route, the chat or the connection.
 */
class CallRecord extends EntrySource implements CallOutline {
  size = 0
  chat_id: string | undefined
  endpoint: ApiContent['endpoint'] = null
  status = 0
  findings: ApiContent['findings'] = NO_FINDINGS
  unspecified: Assumed = NOTHING_ASSUMED
  #alias: ApiContent['alias'] = null
  #method = ''
  #path = ''
  #auth: ApiContent['auth'] = 'not_checked'
  #headers = NO_HEADERS
  /** A request that is not in the store. */
  #request: ApiContent['request'] | null = null
  /** Has the JSON of the request, and behind it that of the response, which is empty when `#response` is the value. */
  #block: Block | null = null
  #requestStart = 0
  #requestBytes = 0
  #responseStart = 0
  #responseBytes = 0
  #response: unknown = null
  /** In microseconds: a whole number takes no memory of its own. */
  #duration = 0
  #follows: number | null = null
  /** Null for nearly every call. */
  #further: Further | null = null
  readonly #store: ByteStore
  readonly #onRelease: (record: CallRecord) => void

  constructor(store: ByteStore, onRelease: (record: CallRecord) => void) {
    super()
    this.#store = store
    this.#onRelease = onRelease
  }

  keep(call: ApiCall, answer: ApiResponse): void {
    const { ports, request, route, transaction } = call
    const { findings, assumed } = transaction
    const chatId = chatIdOf(call)
    this.size = sizeOf(call, answer)
    this.chat_id = chatId === undefined ? undefined : (ports.platform.state.chats.get(chatId)?.id ?? chatId)
    this.endpoint = route === null ? null : route.id
    this.status = answer.status
    this.findings = findings.length === 0 ? NO_FINDINGS : findings
    this.unspecified = assumed.length === 0 ? NOTHING_ASSUMED : valuesOf(assumed, ports.platform.knobs)
    this.#alias = route === null ? null : route.alias
    this.#method = request.method
    this.#path = request.target === route?.canonical ? route.canonical : request.target
    this.#auth = call.auth
    this.#headers = request.headers
    this.#keepBodies(call)
    this.#duration = Math.round((elapsedMs() - call.started) * 1000)
    this.#follows = chatId === undefined ? null : ports.lastEvent(chatId)
    this.#further = furtherOf(call)
  }

  #keepBodies(call: ApiCall): void {
    const request = hasShortRequest(call) ? call.request.body : NO_BYTES
    const response = call.responseText !== null && call.responseText.length <= SHORT_BYTES ? call.responseText : ''
    const block = this.#store.take(request.length + response.length * BYTES_OF_CHARACTER)
    this.#block = block
    this.#requestStart = block.add(request)
    this.#requestBytes = request.length
    this.#request = request.length === call.request.body.length ? null : otherRequest(call)
    this.#responseStart = block.used
    this.#responseBytes = block.addText(response)
    this.#response = response === '' ? (call.response ?? null) : null
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
      request: this.#readRequest(),
      status: this.status,
      response: this.#readResponse(),
      findings: this.findings,
      unspecified: this.unspecified,
      duration_ms: this.#duration / 1000,
      follows: this.#follows,
    }
    return this.#further === null ? entry : { ...entry, ...this.#further }
  }

  #readRequest(): ApiContent['request'] {
    if (this.#request !== null) return this.#request
    const bytes = this.#requestBytes
    return { headers: this.#headers, body: this.#read(this.#requestStart, bytes), bytes }
  }

  #readResponse(): unknown {
    if (this.#responseBytes > 0) return this.#read(this.#responseStart, this.#responseBytes)
    return this.#response instanceof TranscriptSource ? this.#response.value() : this.#response
  }

  #read(start: number, length: number): unknown {
    return length === 0 ? null : JSON.parse(decodeUtf8(this.#block!.bytes.subarray(start, start + length)))
  }

  override release(): void {
    if (this.#block !== null) this.#store.release(this.#block)
    this.#block = null
    this.#request = null
    this.#response = null
    this.#further = null
    this.#onRelease(this)
  }
}

/** The values of a longer body are kept, because the chat refers to its long texts too. */
const SHORT_BYTES = 1024
/** Of UTF-8, at most. */
const BYTES_OF_CHARACTER = 3
const NO_BYTES = new Uint8Array(0)

/** The JSON of a short body is parsed again when the entry is first read: it takes a fraction of the memory of its values. */
const hasShortRequest = ({ body, request }: ApiCall): boolean =>
  body !== undefined && request.body.length <= SHORT_BYTES

function otherRequest({ body, request: { headers, body: bytes } }: ApiCall): ApiContent['request'] {
  const { length } = bytes
  if (body === undefined)
    return { headers, body: new TextDecoder().decode(bytes.subarray(0, BROKEN_BODY_BYTES)), bytes: length }
  return length > SHOWN_BODY_BYTES ? longRequest(headers, bytes) : { headers, body, bytes: length }
}

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
