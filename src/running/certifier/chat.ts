/** Opens chats of a check: the end user and the agent act in them, and their calls are read in order. */

import { isCutOff } from '../../base/runtime/connection-failure.ts'
import { makeId } from '../../base/runtime/random.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { breaksContract, refusalOf } from '../../evaluation/evaluator/unclaimed-calls.ts'
import type { Level } from '../../evaluation/finding.ts'
import type { CallEntry, DeliveryEntry } from '../../evaluation/history.ts'
import { alternation } from '../../evaluation/rules/inbox-alternates.ts'
import type { DriverCall, InboxItem } from '../../evaluation/scenario/run-events.ts'
import { ASSUMED_REFUSALS } from '../../platform/contract/assumptions.ts'
import type { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { isInboxFailure } from '../../platform/journal/run-failures.ts'
import { buildPayload } from '../../platform/rules/chats.ts'
import type { NewFile } from '../../platform/rules/files.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { type ChatOptions, newChat } from '../../platform/simulator/new-chat.ts'
import { driverFailureText, failureText, httpsHint } from '../../platform/wording/failures.ts'
import { callDriver } from '../runner/inbox.ts'
import { InterruptedError } from '../runner/waiting.ts'
import { type CheckContext, CheckEndedError, type FoundMistake, hasAnswered } from './context.ts'
import { inboxFailed } from './reason.ts'
import { suffix } from './words.ts'

type EndpointName = keyof typeof ENDPOINTS

export interface AgentParameters {
  readonly text?: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** The transport reports a timeout; it has this much longer to do so. */
const GRACE_MS = 1_000
/** Between two reads of the inbox. */
const INBOX_MS = 50
/** Between two attempts to act. */
const REPEAT_MS = 200

const ACTS_ON_REQUEST: readonly string[] = ['accept', 'does.announce']

/** The ids depend on the seed, the check and the name, so that they are the same when the check runs alone. */
export async function openChat(check: CheckContext, name: string, options: ChatOptions = {}): Promise<CheckChat> {
  const id = makeId(check.core.platform.knobs['ids.chat'], check.seed, `chat ${name}`)
  const chat = await newChat(check.core, { id, ...options })
  check.addChat(name, chat.id)
  return new CheckChat(check, chat, name)
}

/** Opens a chat that an agent takes over. */
export async function openTakenOver(check: CheckContext, name: string): Promise<CheckChat> {
  const chat = await openChat(check, name)
  await chat.takeOver()
  return chat
}

/** Opens a chat whose user asks for an agent. An agent takes it over, unless the driver cannot accept. */
export async function openConversation(check: CheckContext, name: string): Promise<CheckChat> {
  if (check.canDo('accept')) return openTakenOver(check, name)
  const chat = await openChat(check, name)
  expectAcknowledged(check, await chat.press())
  return chat
}

export class CheckChat {
  readonly id: string
  readonly name: string
  readonly #check: CheckContext
  readonly #chat: Chat
  /** Seqs of the calls that `nextCall` returned. */
  readonly #returned = new Set<number>()

  constructor(check: CheckContext, chat: Chat, name: string) {
    this.id = chat.id
    this.name = name
    this.#check = check
    this.#chat = chat
  }

  /** The payload that the platform sends for this event, as it would be now. */
  payload(event: string): Record<string, unknown> {
    const name = Object.hasOwn(WEBHOOK_EVENTS, event) ? (event as WebhookEventName) : 'REQUESTING TAKEOVER'
    return { ...buildPayload(this.#check.core.platform, this.#chat, name), event }
  }

  /** The user asks for an agent. Resolves with the webhook's last answer. A press without an event makes the check inconclusive, and ends it. */
  async press(): Promise<DeliveryEntry> {
    await this.#check.pace(this.id)
    const { deliveryId } = await this.#check.core.user.press(this.id, 'handover')
    if (deliveryId !== null) return this.#lastAnswer(deliveryId)
    // Handover that is closed, by business hours for instance, sends no event.
    this.#check.inconclusive({
      code: 'handover_closed',
      text: 'Handover is closed, so the platform sent no event when the user asked for an agent. Remove `business_hours` and `availability.initial` from the settings of the simulator for a certification.',
    })
    throw new CheckEndedError('press')
  }

  /** The user writes. Resolves with the webhook's last answer; null: no event. */
  async says(text: string, attach?: readonly NewFile[]): Promise<DeliveryEntry | null> {
    await this.#check.pace(this.id)
    const { deliveryId } = await this.#check.core.user.says(this.id, { text, ...(attach && { attach }) })
    return deliveryId === null ? null : this.#lastAnswer(deliveryId)
  }

  /** The answer after which no retry follows. Reports an event without an answer, which ends the check. */
  async #lastAnswer(deliveryId: string): Promise<DeliveryEntry> {
    const { journal, platform } = this.#check.core
    let seenSeq = 0
    let last: DeliveryEntry | null = null
    const isAnswered = () => {
      for (const entry of journal.query({ kind: 'delivery', after: seenSeq }))
        if (entry.delivery_id === deliveryId && entry.duplicate !== true) last = entry
      seenSeq = journal.nextSeq - 1
      return last !== null && last.retry_in_ms === undefined
    }
    await this.#check.until(isAnswered, platform.knobs['webhook.timeout'] + GRACE_MS)
    if (last !== null) return last
    const events = journal.query({ kind: 'event' }).filter(({ delivery_id }) => delivery_id === deliveryId)
    reportNoAnswer(this.#check, 'MUST', { event: events[0]?.event ?? 'an event' }, events)
    throw new CheckEndedError(deliveryId)
  }

  /** The agent acts by a verb of the driver, again when the help desk refuses. A failure is reported, and ends the check. */
  async agent(verb: string, parameters: AgentParameters = {}): Promise<DriverCall> {
    return expectPerformed(this.#check, await this.#act(verb, parameters, true))
  }

  /** As `agent`, and resolves with a failure without reporting it. Only an act on a request is repeated. */
  async tryAgent(verb: string, parameters: AgentParameters = {}): Promise<DriverCall> {
    return this.#act(verb, parameters, ACTS_ON_REQUEST.includes(verb))
  }

  async #act(verb: string, parameters: AgentParameters, isRepeated: boolean): Promise<DriverCall> {
    const check = this.#check
    const { journal } = check.core
    const act = () => callVerb(check, this.#chat, verb, parameters)
    // The help desk may learn of a request, a start or an end some time after it was acknowledged or answered.
    const untilMs = journal.atMs + check.limits.effectMs
    let isListed = !ACTS_ON_REQUEST.includes(verb) || !check.hasRequestsInInbox || !check.canDo('inbox')
    while (!isListed && journal.atMs < untilMs) {
      isListed = (await this.inbox()).length > 0
      if (!isListed) await check.pause(INBOX_MS)
    }
    // So an attempt that fails before any call came is repeated. After a call, a further attempt would look as if the
    // intermediary repeated it.
    const callsBefore = this.calls().length
    const hasCalled = () => this.calls().length > callsBefore
    let call = await act()
    while (isRepeated && call.outcome !== 'ok' && journal.atMs < untilMs && !(await check.until(hasCalled, REPEAT_MS)))
      call = await act()
    if (!isListed && call.outcome === 'ok') check.hasRequestsInInbox = false
    return call
  }

  /** What the agent sees, oldest first; empty when the help desk does not know the chat. */
  async inbox(): Promise<readonly InboxItem[]> {
    if (!this.#check.canDo('inbox')) return []
    const { items = [], failure } = await callVerb(this.#check, this.#chat, 'inbox')
    if (failure === undefined || !isInboxFailure(failure)) {
      const mistake = alternation(this.entries())
      if (mistake === null) return items
      this.#check.report('MUST', 'inbox-alternates', mistake)
    } else this.#check.inconclusive(inboxFailed(failure))
    throw new CheckEndedError('inbox')
  }

  /** What the journal has of this chat. */
  entries(): Entry[] {
    return this.#check.core.journal.query({ chatId: this.id })
  }

  /** The calls about this chat after an entry, oldest first: those of these endpoints, or all. */
  calls(endpoints: EndpointName | readonly EndpointName[] = [], after = 0): CallEntry[] {
    const calls = this.#check.core.journal.query({ kind: 'api', chatId: this.id, after })
    const names: readonly (string | null | undefined)[] = typeof endpoints === 'string' ? [endpoints] : endpoints
    return names.length === 0 ? calls : calls.filter(({ endpoint }) => names.includes(endpoint))
  }

  /** All attempts to deliver an event of this chat, oldest first. */
  deliveries(event?: string): DeliveryEntry[] {
    const attempts = this.#check.core.journal.query({ kind: 'delivery', chatId: this.id })
    return event === undefined ? attempts : attempts.filter(attempt => attempt.event === event)
  }

  /** The first call of the endpoint that was not returned before; null when none comes in time. */
  async nextCall(endpoint: EndpointName, withinMs = this.#check.limits.effectMs): Promise<CallEntry | null> {
    const { journal } = this.#check.core
    // Reads each entry once, because a flood of calls must not slow the check down.
    let seenSeq = 0
    let next: CallEntry | null = null
    const isThere = () => {
      for (const call of journal.query({ kind: 'api', chatId: this.id, after: seenSeq }))
        if (next === null && call.endpoint === endpoint && !this.#returned.has(call.seq)) next = call
      seenSeq = journal.nextSeq - 1
      if (next !== null) this.#returned.add(next.seq)
      return next !== null
    }
    await this.#check.until(isThere, withinMs)
    return next
  }

  /** Waits for a call. `after` completes "No start came within 5s after". A missing call is reported, and ends the check. */
  async awaitCall(endpoint: EndpointName, after: string, level: Level = 'MUST'): Promise<CallEntry> {
    const call = await this.nextCall(endpoint)
    if (call !== null) return call
    const acts = this.#check.core.journal.query({ kind: 'driver', chatId: this.id })
    this.#check.add({ ...missingCall(endpoint, after, this.#check.limits.effectMs, acts.slice(-1)), level })
    throw new CheckEndedError(endpoint)
  }

  /** As `awaitCall`, for a call that the platform must accept. A call with a fault is left to the check. */
  async requireCall(endpoint: EndpointName, after: string, level: Level = 'MUST'): Promise<CallEntry> {
    const call = await this.awaitCall(endpoint, after, level)
    if (!breaksContract(call)) return call
    this.#check.add(refusedCalls([call]))
    throw new CheckEndedError(call.path)
  }

  /** The agent accepts, and `start` comes. A failure is reported as MUST, and ends the check. */
  async accept(): Promise<CallEntry> {
    const { how } = await this.agent('accept')
    return this.requireCall('start', `the agent accepted (${how})`)
  }

  /** Press, accept, `start`. A failure is reported as MUST, and ends the check. */
  async takeOver(): Promise<CallEntry> {
    expectAcknowledged(this.#check, await this.press())
    return this.accept()
  }
}

/** `shown`: the entries that show that it did not come. */
export const missingCall = (
  endpoint: EndpointName,
  after: string,
  withinMs: number,
  shown: readonly { readonly seq: number }[],
): FoundMistake => ({
  ...{ code: 'call-missing', level: 'MUST' },
  happened: `No ${endpoint} came within ${formatDuration(withinMs)} after ${after}.`,
  hint: 'Look at the entries of this check: whether the event was answered, and whether a call to the platform failed.',
  details: { endpoint, after, withinMs },
  entries: shown,
})

/** All agents are away, or back. A failure is reported, and ends the check. */
export async function agentsAre(check: CheckContext, verb: 'away' | 'back'): Promise<void> {
  expectPerformed(check, await callVerb(check, null, verb))
}

function expectPerformed(check: CheckContext, call: DriverCall): DriverCall {
  if (call.outcome === 'ok') return call
  const { verb, failure = null, chat_id } = call
  check.report('MUST', 'driver-failed', {
    happened: `The agent driver failed at ${verb}${suffix(failure && driverFailureText(failure))}.`,
    hint: 'Try the call of the driver by hand. If it names a chat that is unknown, the request did not reach the help desk.',
    details: { verb, failure },
    entries: check.core.journal.query({ kind: 'driver', ...(chat_id && { chatId: chat_id }) }).slice(-1),
  })
  throw new CheckEndedError(verb)
}

/** A null chat: the verb is about the whole help desk. */
async function callVerb(check: CheckContext, chat: Chat | null, verb: string, parameters: AgentParameters = {}) {
  const { driver, signal } = check
  if (driver === null) throw new CheckEndedError('no driver')
  if (verb !== 'inbox') await check.pace(chat?.id ?? null)
  const call = await callDriver(check, { verb, chat, ...parameters, cause: null, signal })
  // The call may have failed only because the check is over.
  if (signal.aborted && call.outcome !== 'ok') throw new InterruptedError()
  return call
}

/** Reports an event that was not answered with 200, and then ends the check. */
export function expectAcknowledged(check: CheckContext, answer: DeliveryEntry | null, level: Level = 'MUST'): void {
  if (answer === null || answer.status === 200) return
  if (answer.status === null) reportNoAnswer(check, level, answer, [answer])
  else check.add({ ...refusedEvent(answer), level })
  throw new CheckEndedError(answer.event)
}

export const refusedEvent = (answer: DeliveryEntry): FoundMistake => ({
  ...{ code: 'event-refused', level: 'MUST' },
  happened: `The webhook answered ${answer.status} to a validly signed ${answer.event}, and not 200.`,
  hint:
    answer.status === 401 || answer.status === 403
      ? 'The signature is refused: compare the key, and verify the raw bytes of the body, not a parsed copy.'
      : 'Answer 200 as soon as the event is stored, also when its content is not used.',
  details: { event: answer.event, status: answer.status },
  entries: [answer],
})

export function reportNoAnswer(
  check: CheckContext,
  level: Level,
  answer: Unanswered,
  entries: readonly { readonly seq: number }[],
): void {
  check.add({ ...noAnswer(answer, hasAnswered(check.core.journal)), level, entries })
}

type Unanswered = Pick<DeliveryEntry, 'failure'> & { readonly event: string; readonly url?: string | null }

/** `hasAnswered`: the webhook has answered another event. */
export function noAnswer({ event, failure, url = null }: Unanswered, hasAnswered: boolean): FoundMistake {
  const https = isCutOff(failure) && !hasAnswered ? httpsHint(url) : null
  return {
    ...{ code: 'no-answer', level: 'MUST' },
    happened: `The webhook gave no answer to ${event}${suffix(failure && failureText(failure))}.`,
    hint: `Look in the log of the intermediary for an exception at that moment. A handler that throws must still answer.${https === null ? '' : ` ${https}`}`,
    details: { event, failure: failure ?? null },
    entries: [],
  }
}

/** Calls that the platform refused for the same mistake. */
export function refusedCalls(calls: readonly [CallEntry, ...CallEntry[]]): FoundMistake {
  const [first] = calls
  const { method, path, status } = first
  const { error, message } = refusalOf(first)
  let hint = 'Compare the call with docs/reference/endpoints.md, field by field.'
  if (status === 401 || status === 403)
    hint = 'Send `Authorization: Bearer <key>` with the key of the handover settings, in every call.'
  else if (error?.endsWith('_not_found'))
    hint = 'Take bot_id and chat_id from the event, and build the path from the base URL and the documented path.'
  const more = calls.length > 1 ? ` So were ${calls.length - 1} more such calls.` : ''
  const assumption = ASSUMED_REFUSALS.find(name => name in first.unspecified && first.unspecified[name] !== 'accept')
  if (assumption !== undefined)
    hint = `The description does not say whether the platform refuses this (assumption \`${assumption}\`). Do not rely on either.`
  return {
    ...{ code: 'call-refused', level: assumption === undefined ? 'MUST' : 'SHOULD' },
    happened: `${method} ${path} was answered with ${status}${message === null ? '.' : `: ${message}`}${more}`,
    hint,
    details: { method, path, status, error, message, paths: [...new Set(calls.map(call => call.path))] },
    entries: calls,
  }
}
