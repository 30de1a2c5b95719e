/** Compares recordings of the platform with its contract and with the assumptions in force, one observation at a time. */

import * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'
import { definitionOf } from '../../base/schemas/definitions.ts'
import { explainIssues, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { cut } from '../../base/text/cut.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import type { AssumptionTier, Behaviour } from '../../platform/contract/assumptions.ts'
import { ASSUMPTIONS, type AssumptionName } from '../../platform/contract/assumptions.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { ERRORS } from '../../platform/contract/errors.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { formatKnob, isKnob, type Knobs, parseKnob } from '../../platform/contract/knobs.ts'
import { leaveOutEmpty } from '../../platform/contract/optional-fields.ts'
import { ChatRecord, ErrorBody, object } from '../../platform/contract/schemas.ts'
import {
  type ChatKnowledge,
  createChatKnowledge,
  hashOf,
  isOnly,
  isRepeated,
  learnFromCall,
  learnFromEvent,
  learnFromLostCall,
  learnFromTranscript,
  settleDeferred,
  statusesAt,
} from './chat-knowledge.ts'
import { addEvidence, allows, type Fit, isDecided, isRange, roundNumber, type Stretch } from './evidence.ts'
import {
  EVIDENCE_READERS,
  HOLDS,
  type KnownCall,
  PARTS,
  pathOf,
  type Question,
  type Reading,
  type RecordingKnowledge,
} from './evidence-readers.ts'
import type { Attempt, Call, LeftOut, Observation, ObservedEvent, Place } from './observation.ts'

export type EvidenceStatus = 'confirmed' | 'contradicted' | 'changed' | 'not seen'

/** What recordings show about one knob, or about an assumption without one. */
export interface BehaviourResult {
  readonly name: Behaviour
  readonly status: EvidenceStatus
  /** The value in force, as the config file writes it; null without a knob. */
  readonly inForce: unknown
  /** The value that fits the recordings; undefined when none is known. */
  readonly fits: unknown
  /** The values or the range that the recordings allow, when they do not decide. */
  readonly allowed: Fit | null
  readonly count: number
  readonly first: Place | null
  readonly last: Place | null
  readonly places: readonly Place[]
  /** Between which entries the platform changed. */
  readonly changes: readonly { readonly from: Place; readonly to: Place }[]
}

export interface AssumptionResult {
  readonly name: AssumptionName
  readonly status: EvidenceStatus
  readonly behaviours: readonly BehaviourResult[]
}

/** Something that the contract does not have, or that differs from it. */
export interface Deviation {
  readonly kind:
    | 'difference'
    | 'unknown field'
    | 'unknown event'
    | 'unknown endpoint'
    | 'unknown error body'
    | 'unexplained refusal'
  readonly what: string
  readonly count: number
  readonly place: Place
  readonly example: string
}

export interface CalibrationResult {
  readonly calls: number
  readonly events: number
  readonly leftOut: Readonly<Record<string, number>>
  /** ISO 8601, of the first and last observation; null without one. */
  readonly from: string | null
  readonly to: string | null
  readonly assumptions: readonly AssumptionResult[]
  readonly findings: readonly Deviation[]
  /** Whether something in the recordings contradicts the contract or a value in force. */
  readonly isContradicted: boolean
}

const MAX_CHATS = 5_000
const MAX_FINDINGS = 200
const EXAMPLE_CHARS = 120

/** Refusals of these statuses say nothing about what the call asked for. */
const BEFORE_QUESTIONS = [401, 413, 429]

/** Refusals whose status is that of a refused parameter. */
const VALIDATED: readonly string[] = [
  'message.allowEmpty',
  'strict.sender',
  'buttons.schema',
  'availability.otherQueues',
  'typing.timeout',
]

export class Calibration {
  readonly #knobs: Knobs
  readonly #stretches = new Map<string, Stretch[]>()
  readonly #findings = new Map<string, { -readonly [Key in keyof Deviation]: Deviation[Key] }>()
  readonly #leftOut: Record<string, number> = {}
  #chats = new Map<string, ChatKnowledge>()
  #reading: Reading
  #hosts = new Set<string>()
  #calls = 0
  #events = 0
  #fromMs = Number.POSITIVE_INFINITY
  #toMs = Number.NEGATIVE_INFINITY

  /** `knobs`: the values to compare with. */
  constructor(knobs: Knobs) {
    this.#knobs = knobs
    this.#reading = this.#readingOf(createRecordingKnowledge())
  }

  #readingOf(recording: RecordingKnowledge): Reading {
    const see = (behaviour: Behaviour, fit: Fit, place: Place, part = '') => {
      const key = PARTS[behaviour] === undefined ? behaviour : `${behaviour} ${part}`
      const stretches = this.#stretches.get(key) ?? []
      this.#stretches.set(key, stretches)
      addEvidence(stretches, fit, place)
    }
    return { knobs: this.#knobs, recording, see }
  }

  /** Call it before each recording: what one shows about a chat says nothing about another time. */
  beginRecording(): void {
    this.#settleAll()
    this.#chats = new Map()
    this.#hosts = new Set()
    this.#reading = this.#readingOf(createRecordingKnowledge())
  }

  leaveOut(why: LeftOut): void {
    this.#leftOut[why] = (this.#leftOut[why] ?? 0) + 1
  }

  observe(observation: Observation): void {
    const { startMs } = observation
    if (startMs > 0) {
      this.#fromMs = Math.min(this.#fromMs, startMs)
      this.#toMs = Math.max(this.#toMs, startMs)
    }
    if (observation.kind === 'call') this.#observeCall(observation)
    else if (observation.kind === 'event') this.#observeEvent(observation)
    else this.#observeAttempt(observation)
  }

  #observeEvent(event: ObservedEvent): void {
    const { payload, place, startMs } = event
    const chat = this.#chat(event.chatId)
    if (isRepeated(chat, payload)) return
    this.#events++
    const statuses = statusesAt(chat, startMs)
    settleDeferred(chat, startMs, false)
    for (const { event: read } of READERS) read?.(event, chat, statuses, this.#reading)
    learnFromEvent(chat, event)
    if (chat.botId !== null) this.#reading.recording.bots.add(chat.botId)
    const name = String(payload.event)
    const schema = Object.entries(WEBHOOK_EVENTS).find(([one]) => one === name)?.[1].schema
    if (schema === undefined) this.#find('unknown event', name, place, payload)
    else this.#compare(`event ${name}`, schema, payload, place)
  }

  #observeAttempt(attempt: Attempt): void {
    const chat = this.#chat(attempt.chatId)
    for (const { attempt: read } of READERS) read?.(attempt, chat, this.#reading)
    if (!isRepeated(chat, attempt.payload)) chat.repetition = 0
    const { startMs, endMs, status, answerHeaders, url } = attempt
    chat.attempt = { startMs, endMs, status, answerHeaders, url, hash: hashOf(attempt.payload) }
  }

  #observeCall(observed: Call): void {
    const { endpoint, place, status, url } = observed
    const host = hostOf(url)
    if (endpoint === null && !this.#reading.recording.attachments.has(pathOf(url))) {
      if (!this.#hosts.has(host) || !/\/api\//.test(url)) return this.leaveOut('requests to other paths')
      return this.#find('unknown endpoint', `${observed.method} ${pathOf(url)}`, place, observed.body)
    }
    if (endpoint !== null) this.#hosts.add(host)
    this.#calls++
    const { chatId } = observed
    const known = chatId === null ? undefined : this.#chats.get(chatId)
    if (known !== undefined)
      settleDeferred(known, observed.startMs, ['start', 'end', 'typing_stop'].includes(endpoint ?? ''))
    const call = knownCall(observed, known ?? null)
    const isLost = status === 0 || status >= 500
    if (isLost && endpoint === 'availability') {
      this.#reading.recording.availability.clear()
      this.#reading.recording.startedBots.clear()
    }
    if (!isLost) {
      // The answer counts unless a later line shows that something changed at the same time.
      const see: Reading['see'] = (...evidence) => {
        const seeNow = () => this.#reading.see(...evidence)
        if (known === undefined) seeNow()
        else known.deferred.push({ endMs: call.endMs, see: seeNow })
      }
      const reading = { ...this.#reading, see }
      this.#readAnswer(call, reading)
      for (const { call: read } of READERS) read?.(call, reading)
    }
    // A call without an answer does not show that there is such a chat.
    if (chatId === null || endpoint === null || !(call.isAccepted || (isLost && known !== undefined))) return
    const chat = this.#chat(chatId)
    if (call.isAccepted) {
      learnFromCall(chat, observed)
      if (endpoint === 'chat' && call.record !== null) learnFromTranscript(chat, call.record, call.messages)
      if (endpoint === 'transcript' && isOnly(call.statuses, 'pending'))
        chat.messagesBeforeRequest = call.messages.length
    } else if (endpoint === 'start' || endpoint === 'end') learnFromLostCall(chat, observed)
    if (chat.botId !== null) this.#reading.recording.bots.add(chat.botId)
  }

  /** Reads what the answer says about the questions that the call raises. */
  #readAnswer(call: KnownCall, { see }: Reading): void {
    const { endpoint, status, place, chat, chatId, request, isAccepted, reply } = call
    if (endpoint === null) return
    const asked: [name: Behaviour | null, question: Question][] = []
    for (const [name, { question }] of READER_ENTRIES) {
      const one = question?.(call, this.#reading)
      if (one != null) asked.push([name, one])
    }
    // A chat or bot that the recording does not show may not exist.
    const isOtherBot =
      chat !== null && chat.botId !== null && request.bot_id !== undefined && chat.botId !== request.bot_id
    if ((chatId !== null && chat === null) || isOtherBot) asked.push([null, { refused: { 400: '', 403: '', 404: '' } }])
    // A body that is no JSON is refused as such.
    const isJson = isMap(call.body) || endpoint === 'chat'
    if (!isJson && call.headers['content-encoding'] === undefined) asked.push([null, { refused: { 400: '', 422: '' } }])
    const isSeveralBots = asked.some(([name]) => name === 'errors.idMismatch')
    const answered = asked.filter(([name, { refused }]) => status in refused && !(isSeveralBots && name === null))
    if (isAccepted) {
      for (const [name, { accepted, part }] of asked)
        if (name !== null && accepted !== undefined) see(name, [accepted], place, part)
      const { availability, startedBots } = this.#reading.recording
      if (endpoint === 'availability' && reply.queue === 'DEFAULT') {
        // Of two calls at the same time it is unknown which the platform did first.
        if (call.startMs < this.#reading.recording.availabilityMs) availability.clear()
        else availability.set(String(reply.bot_id), String(reply.availability))
        startedBots.clear()
        this.#reading.recording.availabilityMs = call.endMs
        for (const one of this.#chats.values()) settleDeferred(one, call.startMs, true)
      }
      if (endpoint === 'start' && call.startMs >= this.#reading.recording.availabilityMs)
        startedBots.add(String(request.bot_id))
      // The body of typing calls is an assumption of its own.
      if (call.method !== 'HEAD' && !endpoint.startsWith('typing'))
        this.#compare(`answer of ${endpoint}`, ENDPOINTS[endpoint].response, call.answer, place)
      return
    }
    if (status < 300) return
    if (!BEFORE_QUESTIONS.includes(status)) {
      const [[name, question] = [], another] = answered
      if (name === undefined && status >= 400 && status !== 403)
        this.#find('unexplained refusal', `${endpoint} with ${status}`, place, call.answer)
      if (name != null && question !== undefined && !question.isUncertain && another === undefined) {
        see(name, [question.refused[status]], place, question.part)
        if (VALIDATED.includes(name)) see('errors.validation', [String(status)], place)
      }
    }
    const body = ErrorBody.safeParse(call.answer)
    const isKnown = body.success && Object.hasOwn(ERRORS, body.data.error.code)
    if (status >= 400 && !isKnown && isMap(call.answer))
      this.#find(
        'unknown error body',
        `${status}: ${Object.keys(call.answer).slice(0, 8).join(', ')}`,
        place,
        call.answer,
      )
  }

  #compare(what: string, schema: z.ZodMiniType, value: unknown, place: Place): void {
    const parsed = schema.safeParse(value, ZOD_MESSAGES)
    if (!parsed.success) {
      for (const { field, message } of explainIssues(parsed.error.issues, value, schema, 3))
        this.#find(
          'difference',
          `${what}: ${field === '' ? 'it' : field.replace(/\d+/g, '')} ${message.replace(/, got .*/s, '')}`,
          place,
          value,
        )
    }
    // Of the handover transcript the description names three fields; the others are those of the chat transcript.
    const described = schema === ENDPOINTS.transcript.response ? TRANSCRIPT : schema
    for (const [field, unknown] of unknownFields(described, value, 'answer'))
      this.#find('unknown field', `${what}: ${field}`, place, unknown)
  }

  #find(kind: Deviation['kind'], what: string, place: Place, example: unknown): void {
    const key = `${kind} ${what}`
    const found = this.#findings.get(key)
    if (found !== undefined) found.count++
    else if (this.#findings.size < MAX_FINDINGS) {
      this.#findings.set(key, {
        kind,
        what,
        count: 1,
        place,
        example: cut(JSON.stringify(example) ?? '', EXAMPLE_CHARS),
      })
    }
  }

  #chat(id: string): ChatKnowledge {
    const chat = this.#chats.get(id) ?? createChatKnowledge(id)
    // The chat that was not seen for the longest time is forgotten, so that the memory stays bounded.
    this.#chats.delete(id)
    this.#chats.set(id, chat)
    if (this.#chats.size > MAX_CHATS)
      for (const oldest of this.#chats.keys()) return this.#chats.delete(oldest) ? chat : chat
    return chat
  }

  #settleAll(): void {
    for (const chat of this.#chats.values()) settleDeferred(chat, Number.POSITIVE_INFINITY, false)
  }

  result(): CalibrationResult {
    this.#settleAll()
    const assumptions = ASSUMPTIONS.map(({ name, knobs }) => {
      const behaviours = (knobs.length > 0 ? knobs : [name]).map(one => this.#resultOf(one))
      const status = WORST_FIRST.find(one => behaviours.some(behaviour => behaviour.status === one)) ?? 'not seen'
      return { name, status, behaviours }
    })
    const findings = [...this.#findings.values()]
    return {
      calls: this.#calls,
      events: this.#events,
      leftOut: this.#leftOut,
      from: Number.isFinite(this.#fromMs) ? new Date(this.#fromMs).toISOString() : null,
      to: Number.isFinite(this.#toMs) ? new Date(this.#toMs).toISOString() : null,
      assumptions,
      findings,
      isContradicted:
        assumptions.some(({ status }) => status === 'contradicted' || status === 'changed') ||
        findings.some(({ kind }) => kind === 'difference'),
    }
  }

  #resultOf(name: Behaviour): BehaviourResult {
    const knobs = this.#knobs
    const parts = PARTS[name]
    const inForce = isKnob(name) ? formatKnob(name, knobs[name]) : null
    const seen: PartResult[] = []
    for (const [key, stretches] of this.#stretches) {
      const part = key.startsWith(`${name} `) ? key.slice(name.length + 1) : null
      if (key === name || part !== null)
        seen.push(
          partResult(
            part ?? '',
            stretches,
            parts?.inForce(knobs, part ?? '') ?? comparable(name, inForce, stretches, knobs),
            unitOf(name),
          ),
        )
    }
    const status = WORST_FIRST.find(one => seen.some(part => part.status === one)) ?? 'not seen'
    const shown = seen.filter(part => part.status === status)
    const places = shown.flatMap(({ stretches }) => stretches.flatMap(one => one.places))
    const all = shown.flatMap(({ stretches }) => stretches)
    let fits: unknown
    if (status === 'contradicted') {
      const decided = seen.filter(part => part.status === 'contradicted' || part.status === 'confirmed')
      fits = parts ? parts.combined(knobs, new Map(decided.map(({ part, value }) => [part, value]))) : shown[0]?.value
      if (isKnob(name) && typeof fits === 'number') fits = written(name, fits)
      if (!isKnob(name) || parseKnob(name, fits) === undefined) fits = undefined
    } else if (status === 'confirmed') fits = inForce
    return {
      name,
      status,
      inForce,
      fits,
      allowed: all.length === 1 ? (all[0]?.fit ?? null) : null,
      count: all.reduce((sum, one) => sum + one.count, 0),
      first: all[0]?.first ?? null,
      last: all.at(-1)?.last ?? null,
      places: places.slice(0, 5),
      changes:
        status === 'changed'
          ? shown.flatMap(({ stretches }) =>
              stretches.slice(1).map((one, index) => ({ from: stretches[index]?.last ?? one.first, to: one.first })),
            )
          : [],
    }
  }
}

/** The result as JSON has it. `tierOf`: what an assumption rests on, by default as stated, or seen when confirmed. */
export const calibrationData = (
  { leftOut, isContradicted, assumptions, ...others }: CalibrationResult,
  tierOf?: (assumption: AssumptionResult) => AssumptionTier,
) => ({
  ...others,
  left_out: leftOut,
  fits: !isContradicted,
  assumptions: assumptions.map(one => {
    const { name, status, behaviours } = one
    const { class: shown, tier } = ASSUMPTIONS.find(assumption => assumption.name === name) ?? {}
    return {
      ...{ name, class: shown, tier: tierOf?.(one) ?? (status === 'confirmed' ? 'seen' : tier), status },
      behaviours: behaviours.map(({ inForce, allowed: _, ...behaviour }) => ({ ...behaviour, in_force: inForce })),
    }
  }),
})

const TRANSCRIPT = object({ event: z.string(), chat: ChatRecord })

const WORST_FIRST: readonly EvidenceStatus[] = ['changed', 'contradicted', 'confirmed', 'not seen']

const READER_ENTRIES = Object.entries(EVIDENCE_READERS) as [
  AssumptionName,
  (typeof EVIDENCE_READERS)[AssumptionName] & object,
][]
const READERS = READER_ENTRIES.map(([, reader]) => reader)

interface PartResult {
  readonly part: string
  readonly status: EvidenceStatus
  readonly value: unknown
  readonly stretches: readonly Stretch[]
}

function partResult(part: string, stretches: readonly Stretch[], inForce: unknown, unit: 'ms' | 'bytes'): PartResult {
  const [stretch, another] = stretches
  if (stretch === undefined || another !== undefined)
    return { part, status: stretch === undefined ? 'not seen' : 'changed', value: undefined, stretches }
  const { fit } = stretch
  const isAllowed = allows(fit, inForce)
  const status = !isAllowed ? 'contradicted' : isDecided(fit) ? 'confirmed' : 'not seen'
  const value = isAllowed ? inForce : isRange(fit) ? roundNumber(fit, unit) : fit[0]
  return { part, status, value, stretches }
}

/** The value in force as evidence has it: as the config file writes it, or the number of a range. `off` is no limit. */
function comparable(name: Behaviour, inForce: unknown, stretches: readonly Stretch[], knobs: Knobs): unknown {
  if (!isKnob(name)) return HOLDS
  const fit = stretches[0]?.fit
  return fit !== undefined && isRange(fit) ? (knobs[name] ?? Number.POSITIVE_INFINITY) : inForce
}

const unitOf = (name: Behaviour) => (name === 'limits.body' ? 'bytes' : 'ms')
const written = (name: Behaviour, value: number): unknown => (name === 'limits.body' ? value : formatDuration(value))

const createRecordingKnowledge = (): RecordingKnowledge => ({
  bots: new Set(),
  availability: new Map(),
  availabilityMs: Number.NEGATIVE_INFINITY,
  startedBots: new Set(),
  handoverKeys: new Set(),
  attachments: new Map(),
  callTimes: [],
  rate: null,
  hasTranslated: false,
  times: new Map(),
})

const hostOf = (url: string): string => /^https?:\/\/([^/]+)/i.exec(url)?.[1] ?? ''

const NOTHING_EMPTY = { filled: {}, nulls: [], empty: [] }

function knownCall(call: Call, chat: ChatKnowledge | null): KnownCall {
  const { endpoint, body, answer, status, startMs } = call
  const request = isMap(body) ? body : {}
  const reply = isMap(answer) ? answer : {}
  const isAccepted = status >= 200 && status < 300
  const schema = endpoint === null ? null : ENDPOINTS[endpoint].body
  const { filled, ...leftOut } = schema === null ? NOTHING_EMPTY : leaveOutEmpty(schema, request)
  const parsed = schema?.safeParse(filled)
  // A timeout of zero or less is a question of its own.
  const issues = parsed?.success === false ? parsed.error.issues : []
  const isValid = isMap(body) && issues.every(({ code, path }) => code === 'too_small' && path[0] === 'timeout')
  const isTranscript = endpoint === 'chat' || endpoint === 'transcript'
  const record = isTranscript && isAccepted && isMap(reply.chat) ? reply.chat : null
  return {
    ...call,
    chat,
    statuses: chat === null ? ['bot', 'pending', 'agent'] : statusesAt(chat, startMs),
    request,
    reply,
    isAccepted,
    isRefused: status >= 400 && status < 500,
    isValid: schema === null || isValid,
    unknownFields: schema === null ? [] : [...unknownFields(schema, request, 'request')].map(([field]) => field),
    leftOut,
    record,
    messages: Array.isArray(record?.messages) ? record.messages.filter(isMap) : [],
  }
}

/** So many elements of a list are compared. */
const MAX_ELEMENTS = 50

/** Fields that a schema does not have, each with its value. In a request, some objects take any field. */
function* unknownFields(
  schema: z.ZodMiniType,
  value: unknown,
  of: 'request' | 'answer',
  path = '',
): Generator<[field: string, value: unknown]> {
  const { element, shape, catchall } = definitionOf(schema)
  if (Array.isArray(value) && element !== undefined) {
    for (const one of value.slice(0, MAX_ELEMENTS)) yield* unknownFields(element, one, of, `${path}[]`)
  }
  if (!isMap(value) || shape === undefined) return
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    const below = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (below !== undefined) yield* unknownFields(below, inner, of, at)
    else if (of === 'answer' || catchall === undefined) yield [at, inner]
  }
}
