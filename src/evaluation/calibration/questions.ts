/** Lists what a call may ask the platform to accept, and which value its acceptance or refusal shows. */
import { isMap, keysOf } from '../../base/objects.ts'
import type { AssumptionName } from '../../platform/contract/assumptions.ts'
import { ENDPOINT_ROUTES, type EndpointId } from '../../platform/contract/endpoint-routes.ts'
import { HOLDS, OTHERWISE, type Reading } from './evidence.ts'
import { isOnly, type RecordingKnowledge, type Status } from './knowledge.ts'
import type { KnownCall } from './known-call.ts'

interface Question {
  /** The endpoints whose calls ask it; absent for all. */
  readonly endpoints?: readonly EndpointId[]
  /** What the chat is when a call asks it; absent for any chat, or none. */
  readonly statuses?: readonly Status[]
  /** Whether the call asks it. When that is uncertain, no answer is evidence. */
  readonly asks?: (call: KnownCall, recording: RecordingKnowledge) => boolean | 'uncertain'
  /** The value that acceptance shows; absent when acceptance shows nothing. */
  readonly accepted?: unknown
  /** The values that refusals show, by status. */
  readonly refused: Readonly<Record<number, unknown>>
  /** A refusal has the status of every refused parameter. */
  readonly isValidation?: true
  /** The part of the knob. */
  readonly part?: (call: KnownCall) => string
}

const HANDOVER = keysOf(ENDPOINT_ROUTES).filter(id => id !== 'chat')
const WITHOUT_AGENT: readonly Status[] = ['bot', 'pending']

const HOLDS_IF_ACCEPTED = { accepted: HOLDS, refused: { 400: OTHERWISE, 409: OTHERWISE, 422: OTHERWISE } }
const ACCEPT_OR_409 = { accepted: 'accept', refused: { 409: '409' } }
const ACCEPT_OR_400 = { accepted: 'accept', refused: { 400: '400', 422: '400' } }
const validated = (accepted: unknown, refused: unknown) => ({
  accepted,
  refused: { 400: refused, 422: refused },
  isValidation: true as const,
})

const QUESTIONS = {
  'typing.timeout': {
    endpoints: ['typing_start'],
    asks: ({ request: { timeout } }) => Number.isInteger(timeout) && Number(timeout) <= 0,
    ...validated(OTHERWISE, HOLDS),
  },
  'typing.idle': { endpoints: ['typing_start', 'typing_stop'], statuses: WITHOUT_AGENT, ...HOLDS_IF_ACCEPTED },
  'errors.validation': {
    endpoints: HANDOVER,
    asks: ({ body, isValid }) => isMap(body) && !isValid,
    refused: { 400: '400', 422: '422' },
  },
  'errors.idMismatch': {
    asks({ chat, request: { bot_id: bot } }, { bots }) {
      const isOther = typeof bot === 'number' && chat !== null && chat.botId !== null && chat.botId !== bot
      return isOther && bots.has(bot)
    },
    refused: { 404: '404', 400: '400', 403: '403' },
  },
  'summarize.errorStatus': {
    endpoints: ['summarize'],
    asks: ({ isValid }) => isValid,
    refused: { 400: '400', 409: '409', 422: '422' },
  },
  'availability.otherQueues': {
    endpoints: ['availability'],
    asks: ({ request: { queue } }) => typeof queue === 'string' && queue !== 'DEFAULT',
    ...validated('accept', 'reject'),
  },
  'availability.missingQueue': {
    endpoints: ['availability'],
    asks: ({ isValid, request }) => isValid && request.queue === undefined,
    ...HOLDS_IF_ACCEPTED,
  },
  'availability.missingReason': {
    endpoints: ['availability'],
    asks: ({ isValid, request }) => isValid && request.reason === undefined,
    ...HOLDS_IF_ACCEPTED,
  },
  'availability.closedBlocksStart': {
    endpoints: ['start'],
    asks({ chat, startMs }, { availability, availabilityMs, startedBots }) {
      const bot = String(chat?.botId)
      if (startMs < availabilityMs) return 'uncertain'
      if (availability.get(bot) === 'CLOSED') return true
      return availability.get(bot) === 'OPEN' || startedBots.has(bot) ? false : 'uncertain'
    },
    accepted: 'off',
    refused: { 409: 'on' },
  },
  'start.unrequested': { endpoints: ['start'], statuses: ['bot'], ...ACCEPT_OR_409 },
  'start.again': { endpoints: ['start'], statuses: ['agent'], ...ACCEPT_OR_409 },
  'end.idle': { endpoints: ['end'], statuses: WITHOUT_AGENT, ...ACCEPT_OR_409 },
  'message.requiresTakeover': {
    endpoints: ['message'],
    statuses: WITHOUT_AGENT,
    accepted: 'off',
    refused: { 409: 'on' },
  },
  'message.allowEmpty': {
    endpoints: ['message'],
    asks: ({ request }) => request.message === '',
    ...validated('on', 'off'),
  },
  'strict.sender': {
    endpoints: ['message'],
    asks: ({ request: { sender } }) => !isMap(sender) || sender.name === undefined || sender.avatar === undefined,
    ...validated('off', 'on'),
  },
  'buttons.schema': {
    endpoints: ['message'],
    asks: ({ request: { buttons } }) =>
      Array.isArray(buttons) && buttons.some(button => isMap(button) && !button.label),
    ...validated('any', 'strict'),
  },
  'limits.nesting': {
    asks: ({ body, bytes }) => bytes > MAX_NESTING && nestingOf(body) > MAX_NESTING,
    accepted: OTHERWISE,
    refused: { 400: HOLDS },
  },
  'api.trailingSlash': {
    asks: ({ hasCanonicalSlash }) => !hasCanonicalSlash,
    accepted: 'accept',
    refused: { 404: 'strict', 301: 'redirect', 302: 'redirect', 307: 'redirect', 308: 'redirect' },
  },
  'api.byteOrderMark': {
    asks: ({ text }) => text?.startsWith('\ufeff') ?? false,
    accepted: HOLDS,
    refused: { 400: OTHERWISE },
  },
  'api.contentEncoding': {
    asks: ({ headers, body }) => (headers['content-encoding'] ?? 'identity') !== 'identity' && typeof body === 'string',
    accepted: OTHERWISE,
    refused: { 400: HOLDS },
  },
  'api.contentType': {
    endpoints: HANDOVER,
    asks: ({ headers, request }) =>
      Object.keys(headers).length > 0 &&
      Object.keys(request).length > 0 &&
      !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''),
    accepted: 'accept',
    refused: { 415: '415' },
  },
  'api.unknownFields': { asks: ({ unknownFields }) => unknownFields.length > 0, ...ACCEPT_OR_400 },
  'api.nulls': { asks: ({ leftOut }) => leftOut.nulls.length > 0, ...ACCEPT_OR_400 },
  'api.emptyFields': { asks: ({ leftOut }) => leftOut.empty.length > 0, ...ACCEPT_OR_400 },
  'api.versions': {
    endpoints: HANDOVER,
    asks: ({ version }) => version !== 'v2',
    accepted: 'on',
    refused: { 404: 'off' },
    part: ({ version }) => version,
  },
} satisfies Readonly<Partial<Record<AssumptionName, Question>>>

/** So deep a body is refused. */
const MAX_NESTING = 200

function nestingOf(value: unknown): number {
  let depth = 0
  for (let level: unknown[] = [value]; level.length > 0 && depth <= MAX_NESTING; depth++)
    level = level.flatMap(inner => (typeof inner === 'object' && inner !== null ? Object.values(inner) : []))
  return depth
}

/** Whether a call asks it; 'uncertain' when the chat may also be in a state in which the call asks nothing. */
function isAsked(
  { endpoints, statuses, asks }: Question,
  call: KnownCall,
  recording: RecordingKnowledge,
): boolean | 'uncertain' {
  if (endpoints !== undefined && !endpoints.some(endpoint => endpoint === call.endpoint)) return false
  if (statuses === undefined) return asks === undefined || asks(call, recording)
  if (call.chatId === null || !call.statuses.some(status => statuses.includes(status))) return false
  return isOnly(call.statuses, ...statuses) || 'uncertain'
}

/** Refusals of these statuses say nothing about what the call asked for. */
const BEFORE_QUESTIONS = [401, 413, 429]

/** Adds what the response shows about what the call asks for. Returns whether something explains the response. */
export function readQuestions(call: KnownCall, { recording, addEvidence }: Reading): boolean {
  const { status, place } = call
  const asked = keysOf(QUESTIONS).flatMap(name => {
    const question: Question = QUESTIONS[name]
    const answer = isAsked(question, call, recording)
    return answer === false ? [] : [{ name, question, isCertain: answer === true }]
  })
  if (call.isAccepted) {
    for (const { name, question, isCertain } of asked)
      if (isCertain && question.accepted !== undefined)
        addEvidence(name, [question.accepted], place, question.part?.(call))
    return true
  }
  if (status < 300 || BEFORE_QUESTIONS.includes(status)) return true
  const causes = asked.filter(({ question }) => status in question.refused)
  const hasOtherCause = isRefusedOtherwise(call) && !asked.some(({ name }) => name === 'errors.idMismatch')
  const [cause, anotherCause] = causes
  if (cause?.isCertain && anotherCause === undefined && !hasOtherCause) {
    const { name, question } = cause
    addEvidence(name, [question.refused[status]], place, question.part?.(call))
    if (question.isValidation) addEvidence('errors.validation', [String(status)], place)
  }
  return causes.length > 0 || hasOtherCause
}

function isRefusedOtherwise({ status, chat, chatId, request, body, endpoint, headers }: KnownCall): boolean {
  // A chat or bot that the recording does not show may not exist.
  const isOtherBot =
    chat !== null && chat.botId !== null && request.bot_id !== undefined && chat.botId !== request.bot_id
  if (((chatId !== null && chat === null) || isOtherBot) && [400, 403, 404].includes(status)) return true
  // A body that is no JSON is refused as such.
  const isJson = isMap(body) || endpoint === 'chat'
  return !isJson && headers['content-encoding'] === undefined && [400, 422].includes(status)
}
