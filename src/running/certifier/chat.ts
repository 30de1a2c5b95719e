/** One chat of a check: the end user and the agent act in it, and its calls are read in order. */

import { makeId } from '../../base/runtime/random.ts'
import { breaksContract, refusalOf } from '../../evaluation/evaluator/violations.ts'
import type { DriverCall, InboxItem } from '../../evaluation/scenario/run-events.ts'
import type { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import { payloadOf } from '../../platform/rules/events.ts'
import type { NewFile } from '../../platform/rules/files.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { type ChatOptions, newChat } from '../../platform/simulator/new-chat.ts'
import { type AgentParameters, inboxOf, performVerb, requireVerb } from './agent-actions.ts'
import { type CheckContext, CheckEndedError, type EventAnswer } from './context.ts'
import type { FindingLevel } from './findings/index.ts'

export type ChatCall = EntryOf<'api'>
type EndpointName = keyof typeof ENDPOINTS

export interface CheckChat {
  readonly id: string
  readonly name: string
  /** The payload that the platform sends for this event, as it would be now. */
  payload(event: string): Record<string, unknown>
  /** The user asks for an agent. Resolves with the webhook's last answer. A press without an event makes the check inconclusive, and ends it. */
  press(): Promise<EventAnswer>
  /** The user writes. Resolves with the webhook's last answer; null: no event. */
  says(text: string, attach?: readonly NewFile[]): Promise<EventAnswer | null>
  /** The agent acts by a verb of the driver, on a request when the help desk has it. A failure is reported, and ends the check. */
  agent(verb: string, parameters?: AgentParameters): Promise<DriverCall>
  /** As `agent`, and resolves with a failure without reporting it. */
  tryAgent(verb: string, parameters?: AgentParameters): Promise<DriverCall>
  /** What the agent sees, oldest first; empty when the help desk does not know the chat. */
  inbox(): Promise<readonly InboxItem[]>
  /** All calls about this chat, oldest first. */
  calls(endpoint?: EndpointName): ChatCall[]
  /** The first call of the endpoint that was not returned before; null when none comes in time. */
  nextCall(endpoint: EndpointName, withinMs?: number): Promise<ChatCall | null>
  /** Press, accept, `start`. A failure is reported as MUST, and ends the check. */
  takeOver(): Promise<ChatCall>
}

/** The ids depend on the seed, the check and the name, so that they are the same when the check runs alone. */
export async function openChat(check: CheckContext, name: string, options: ChatOptions): Promise<CheckChat> {
  const { core, seed } = check
  const id = makeId(core.platform.knobs['ids.chat'], seed, `chat ${name}`)
  const chat = await newChat(core, { id, ...options })
  const claimed = new Set<number>()
  const calls = (endpoint?: EndpointName) => callsAbout(check, chat, endpoint)
  const self: CheckChat = {
    id: chat.id,
    name,
    payload: event => payload(check, chat, event),
    press: () => pressHandover(check, chat),
    says: (text, attach) => userActs(check, () => core.user.says(chat.id, { text, ...(attach && { attach }) })),
    agent: (verb, parameters = {}) => requireVerb(check, chat, verb, parameters),
    tryAgent: async (verb, parameters = {}) => (await performVerb(check, chat, verb, parameters)).call,
    inbox: () => inboxOf(check, chat),
    calls,
    nextCall: (endpoint, withinMs = check.limits.effectMs) => claimCall(check, chat, endpoint, claimed, withinMs),
    takeOver: () => takeOver(check, self),
  }
  return self
}

/** Reads each entry once, because a flood of calls must not slow the check down. */
async function claimCall(
  check: CheckContext,
  { id }: Chat,
  endpoint: EndpointName,
  claimed: Set<number>,
  withinMs: number,
): Promise<ChatCall | null> {
  const { journal } = check.core
  let seenSeq = 0
  let found: ChatCall | undefined
  const isThere = () => {
    const calls = journal.query({ kind: 'api', chatId: id, after: seenSeq })
    found ??= calls.find(call => call.endpoint === endpoint && !claimed.has(call.seq))
    seenSeq = journal.nextSeq - 1
    if (found !== undefined) claimed.add(found.seq)
    return found !== undefined
  }
  await check.until(isThere, withinMs)
  return found ?? null
}

function callsAbout({ core }: CheckContext, { id }: Chat, endpoint: EndpointName | undefined): ChatCall[] {
  const calls = core.journal.query({ kind: 'api', chatId: id })
  return endpoint === undefined ? calls : calls.filter(call => call.endpoint === endpoint)
}

function payload({ core }: CheckContext, chat: Chat, event: string): Record<string, unknown> {
  const known = Object.hasOwn(WEBHOOK_EVENTS, event) ? event : 'REQUESTING TAKEOVER'
  return { ...payloadOf(core.platform, chat, known as WebhookEventName), event }
}

interface UserOutcome {
  readonly deliveryId: string | null
}

async function userActs(
  check: CheckContext,
  act: () => UserOutcome | Promise<UserOutcome>,
): Promise<EventAnswer | null> {
  const { deliveryId } = await act()
  return deliveryId === null ? null : awaitAnswer(check, deliveryId)
}

/** Handover that is closed, by business hours for instance, sends no event. */
async function pressHandover(check: CheckContext, { id }: Chat): Promise<EventAnswer> {
  const answer = await userActs(check, () => check.core.user.press(id, 'handover'))
  if (answer !== null) return answer
  check.inconclusive({ code: 'handover_closed' })
  throw new CheckEndedError('press')
}

/** The transport reports a timeout; it has this much longer to do so. */
const GRACE_MS = 1_000

/** The last answer to an event: the one after which no retry follows. Reports an event without an answer, which ends the check. */
async function awaitAnswer(check: CheckContext, deliveryId: string): Promise<EventAnswer> {
  const { journal, platform } = check.core
  let seenSeq = 0
  let last: EventAnswer | null = null
  const isAnswered = () => {
    for (const entry of journal.query({ kind: 'delivery', after: seenSeq }))
      if (entry.delivery_id === deliveryId && entry.duplicate !== true) last = entry
    seenSeq = journal.nextSeq - 1
    return last !== null && last.retry_in_ms === undefined
  }
  await check.until(isAnswered, platform.knobs['webhook.timeout'] + GRACE_MS)
  return last ?? unanswered(check, deliveryId)
}

function unanswered(check: CheckContext, deliveryId: string): never {
  const events = check.core.journal.query({ kind: 'event' }).filter(({ delivery_id }) => delivery_id === deliveryId)
  check.report('MUST', 'no-answer', { event: events[0]?.event ?? 'an event', failure: null }, events)
  throw new CheckEndedError(deliveryId)
}

async function takeOver(check: CheckContext, chat: CheckChat): Promise<ChatCall> {
  expectAcknowledged(check, await chat.press())
  return acceptChat(check, chat)
}

/** The agent accepts, and `start` comes. A failure is reported as MUST, and ends the check. */
export async function acceptChat(check: CheckContext, chat: CheckChat): Promise<ChatCall> {
  const { how } = await chat.agent('accept')
  return requireCall(check, chat, 'start', `the agent accepted (${how})`)
}

/** Waits for a call that the platform accepts. `after` completes "No start came within 5s after". */
export async function requireCall(
  check: CheckContext,
  chat: CheckChat,
  endpoint: EndpointName,
  after: string,
  level: FindingLevel = 'MUST',
): Promise<ChatCall> {
  return expectAccepted(check, await awaitCall(check, chat, endpoint, after, level))
}

/** As `requireCall`, for a call that the platform may refuse. */
export async function awaitCall(
  check: CheckContext,
  chat: CheckChat,
  endpoint: EndpointName,
  after: string,
  level: FindingLevel = 'MUST',
): Promise<ChatCall> {
  const call = await chat.nextCall(endpoint)
  if (call !== null) return call
  const entries = check.core.journal.query({ kind: 'driver', chatId: chat.id })
  check.report(level, 'call-missing', { endpoint, after, withinMs: check.limits.effectMs }, entries.slice(-1))
  throw new CheckEndedError(endpoint)
}

/** Reports a call that the platform refused, and then ends the check. A call with a fault is left to the check. */
function expectAccepted(check: CheckContext, call: ChatCall): ChatCall {
  if (!breaksContract(call)) return call
  const { method, path, status } = call
  const { error, message } = refusalOf(call)
  check.report('MUST', 'call-refused', { method, path, status, error, message, calls: 1 }, [call])
  throw new CheckEndedError(path)
}

/** Reports an event that was not answered with 200, and then ends the check. */
export function expectAcknowledged(
  check: CheckContext,
  answer: EventAnswer | null,
  level: FindingLevel = 'MUST',
): void {
  if (answer === null || answer.status === 200) return
  const { event, status } = answer
  if (status === null) check.report(level, 'no-answer', { event, failure: answer.failure ?? null }, [answer])
  else check.report(level, 'event-refused', { event, status }, [answer])
  throw new CheckEndedError(event)
}
