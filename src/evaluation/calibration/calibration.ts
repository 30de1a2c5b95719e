/** Compares recordings of the platform with its contract and with the assumptions in force, one observation at a time. */

import * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'
import { explainIssues, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { cut } from '../../base/text/cut.ts'
import type { AssumptionTier, Behaviour } from '../../platform/contract/assumptions.ts'
import { ASSUMPTIONS, type AssumptionName } from '../../platform/contract/assumptions.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { ERRORS } from '../../platform/contract/errors.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Knobs } from '../../platform/contract/knobs.ts'
import { ChatRecord, ErrorBody, object } from '../../platform/contract/schemas.ts'
import { type BehaviourResult, type EvidenceStatus, resultOf, worstStatus } from './behaviour-result.ts'
import { readCall } from './call-evidence.ts'
import { extendStretches, type Reading, type Stretch } from './evidence.ts'
import { KNOB_PARTS } from './knob-parts.ts'
import {
  ChatKnowledge,
  hashOf,
  isRepeated,
  learnFromEvent,
  RecordingKnowledge,
  settleDeferred,
  statusesAt,
} from './knowledge.ts'
import { createKnownCall, type KnownCall, learnFromCall, learnFromLostCall, unknownFields } from './known-call.ts'
import { type Attempt, type Call, type Observation, type ObservedEvent, type Place, pathOf } from './observation.ts'
import { readQuestions } from './questions.ts'
import { readAttempt, readEvent } from './webhook-evidence.ts'

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

export class Calibration {
  readonly #knobs: Knobs
  /** By behaviour, and by the part of its knob. */
  readonly #evidence = new Map<Behaviour, Map<string, Stretch[]>>()
  readonly #findings = new Map<string, { -readonly [Key in keyof Deviation]: Deviation[Key] }>()
  readonly #leftOut: Record<string, number> = {}
  #chats = new Map<string, ChatKnowledge>()
  #recording = new RecordingKnowledge()
  #hosts = new Set<string>()
  #calls = 0
  #events = 0
  #fromMs = Number.POSITIVE_INFINITY
  #toMs = Number.NEGATIVE_INFINITY

  /** `knobs`: the values to compare with. */
  constructor(knobs: Knobs) {
    this.#knobs = knobs
  }

  readonly #addEvidence: Reading['addEvidence'] = (behaviour, fit, place, part = '') => {
    const parts = this.#evidence.get(behaviour) ?? new Map<string, Stretch[]>()
    const key = KNOB_PARTS[behaviour] === undefined ? '' : part
    const stretches = parts.get(key) ?? []
    this.#evidence.set(behaviour, parts.set(key, stretches))
    extendStretches(stretches, fit, place)
  }

  #reading(addEvidence = this.#addEvidence): Reading {
    return { knobs: this.#knobs, recording: this.#recording, addEvidence }
  }

  /** Call it before each recording: what one shows about a chat says nothing about another time. */
  beginRecording(): void {
    this.#settleAll()
    this.#chats = new Map()
    this.#hosts = new Set()
    this.#recording = new RecordingKnowledge()
  }

  leaveOut(why: string): void {
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
    readEvent(event, chat, statuses, this.#reading())
    learnFromEvent(chat, event)
    if (chat.botId !== null) this.#recording.bots.add(chat.botId)
    const name = String(payload.event)
    if (isWebhookEvent(name)) this.#compare(`event ${name}`, WEBHOOK_EVENTS[name].schema, payload, place)
    else this.#find('unknown event', name, place, payload)
  }

  #observeAttempt(attempt: Attempt): void {
    const chat = this.#chat(attempt.chatId)
    readAttempt(attempt, chat, this.#reading())
    if (!isRepeated(chat, attempt.payload)) chat.repetition = 0
    const { startMs, endMs, status, answerHeaders, url } = attempt
    chat.attempt = { startMs, endMs, status, answerHeaders, url, hash: hashOf(attempt.payload) }
  }

  #observeCall(observed: Call): void {
    const { endpoint, place, status, url, chatId } = observed
    const host = hostOf(url)
    if (endpoint !== null) this.#hosts.add(host)
    else if (!this.#recording.attachments.has(pathOf(url))) {
      if (!this.#hosts.has(host) || !/\/api\//.test(url)) return this.leaveOut('requests to other paths')
      return this.#find('unknown endpoint', `${observed.method} ${pathOf(url)}`, place, observed.body)
    }
    this.#calls++
    const knownChat = chatId === null ? undefined : this.#chats.get(chatId)
    if (knownChat !== undefined)
      settleDeferred(knownChat, observed.startMs, ['start', 'end', 'typing_stop'].includes(endpoint ?? ''))
    const call = createKnownCall(observed, knownChat ?? null)
    const isLost = status === 0 || status >= 500
    if (isLost && endpoint === 'availability') {
      this.#recording.availability.clear()
      this.#recording.startedBots.clear()
    }
    if (!isLost) {
      // The answer counts unless a later line shows that something changed at the same time.
      const reading = this.#reading((...evidence) => {
        const add = () => this.#addEvidence(...evidence)
        if (knownChat === undefined) add()
        else knownChat.deferred.push({ endMs: call.endMs, add })
      })
      const isExplained = endpoint === null || readQuestions(call, reading)
      if (endpoint !== null && call.isAccepted) this.#compareAnswer(call, endpoint)
      if (endpoint !== null && status >= 400) this.#compareRefusal(call, isExplained)
      if (call.isAccepted) this.#learnAvailability(call)
      readCall(call, reading)
    }
    // A call without an answer does not show that there is such a chat.
    if (chatId === null || endpoint === null || !(call.isAccepted || (isLost && knownChat !== undefined))) return
    const chat = this.#chat(chatId)
    if (call.isAccepted) learnFromCall(chat, call)
    else if (endpoint === 'start' || endpoint === 'end') learnFromLostCall(chat, call)
    if (chat.botId !== null) this.#recording.bots.add(chat.botId)
  }

  /** Learns which bots accept handovers. */
  #learnAvailability({ endpoint, reply, request, startMs, endMs }: KnownCall): void {
    const { availability, startedBots, availabilityMs } = this.#recording
    if (endpoint === 'availability' && reply.queue === 'DEFAULT') {
      // Of two calls at the same time it is unknown which the platform did first.
      if (startMs < availabilityMs) availability.clear()
      else availability.set(String(reply.bot_id), String(reply.availability))
      startedBots.clear()
      this.#recording.availabilityMs = endMs
      for (const chat of this.#chats.values()) settleDeferred(chat, startMs, true)
    }
    if (endpoint === 'start' && startMs >= availabilityMs) startedBots.add(String(request.bot_id))
  }

  #compareAnswer({ method, answer, place }: KnownCall, endpoint: EndpointId): void {
    // The body of typing calls is an assumption of its own.
    if (method !== 'HEAD' && !endpoint.startsWith('typing'))
      this.#compare(`answer of ${endpoint}`, ENDPOINTS[endpoint].response, answer, place)
  }

  #compareRefusal({ endpoint, status, answer, place }: KnownCall, isExplained: boolean): void {
    if (!isExplained && status !== 403) this.#find('unexplained refusal', `${endpoint} with ${status}`, place, answer)
    const body = ErrorBody.safeParse(answer)
    const isKnown = body.success && Object.hasOwn(ERRORS, body.data.error.code)
    if (!isKnown && isMap(answer))
      this.#find('unknown error body', `${status}: ${Object.keys(answer).slice(0, 8).join(', ')}`, place, answer)
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
    const deviation = this.#findings.get(key)
    if (deviation !== undefined) deviation.count++
    else if (this.#findings.size < MAX_FINDINGS) {
      const text = cut(JSON.stringify(example) ?? '', EXAMPLE_CHARS)
      this.#findings.set(key, { kind, what, count: 1, place, example: text })
    }
  }

  #chat(id: string): ChatKnowledge {
    const chat = this.#chats.get(id) ?? new ChatKnowledge()
    // The chat that was not seen for the longest time is forgotten, so that the memory stays bounded.
    this.#chats.delete(id)
    this.#chats.set(id, chat)
    const [oldest = id] = this.#chats.keys()
    if (this.#chats.size > MAX_CHATS) this.#chats.delete(oldest)
    return chat
  }

  #settleAll(): void {
    for (const chat of this.#chats.values()) settleDeferred(chat, Number.POSITIVE_INFINITY, false)
  }

  result(): CalibrationResult {
    this.#settleAll()
    const assumptions = ASSUMPTIONS.map(({ name, knobs }) => {
      const behaviours = (knobs.length > 0 ? knobs : [name]).map(behaviour =>
        resultOf(behaviour, this.#evidence.get(behaviour) ?? new Map(), this.#knobs),
      )
      return { name, status: worstStatus(behaviours), behaviours }
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
}

/** The result as JSON has it. `tierOf`: what an assumption rests on, by default as stated, or seen when confirmed. */
export const calibrationData = (
  { leftOut, isContradicted, assumptions, ...facts }: CalibrationResult,
  tierOf?: (assumption: AssumptionResult) => AssumptionTier,
) => ({
  ...facts,
  left_out: leftOut,
  fits: !isContradicted,
  assumptions: assumptions.map(assumption => {
    const { name, status, behaviours } = assumption
    const { class: shown, tier } = ASSUMPTIONS.find(described => described.name === name) ?? {}
    return {
      ...{ name, class: shown, tier: tierOf?.(assumption) ?? (status === 'confirmed' ? 'seen' : tier), status },
      behaviours: behaviours.map(({ inForce, allowed: _, ...behaviour }) => ({ ...behaviour, in_force: inForce })),
    }
  }),
})

const TRANSCRIPT = object({ event: z.string(), chat: ChatRecord })

const hostOf = (url: string): string => /^https?:\/\/([^/]+)/i.exec(url)?.[1] ?? ''
