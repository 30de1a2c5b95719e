/** What the agent of a check does through the driver, and what the help desk shows. */

import type { DriverCall, InboxItem } from '../../evaluation/scenario/run-events.ts'
import type { OpenContent } from '../../platform/journal/entry.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { driverChat } from '../runner/run-context.ts'
import { InterruptedError } from '../runner/waiting.ts'
import { type CheckContext, CheckEndedError } from './context.ts'

export interface AgentParameters {
  readonly text?: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** A failure is reported, and ends the check. A null chat: the verb is about the whole help desk. */
export async function requireVerb(
  check: CheckContext,
  chat: Chat | null,
  verb: string,
  parameters: AgentParameters,
): Promise<DriverCall> {
  const { call, entry } = await performVerb(check, chat, verb, parameters)
  if (call.outcome === 'ok') return call
  check.report('MUST', 'driver-failed', { verb, failure: call.failure ?? null }, [entry])
  throw new CheckEndedError(verb)
}

/** Verbs that an agent performs on a request. */
const ON_REQUESTS: ReadonlySet<string> = new Set(['accept', 'does.announce'])

export const performVerb = (check: CheckContext, chat: Chat | null, verb: string, parameters: AgentParameters) =>
  chat !== null && ON_REQUESTS.has(verb)
    ? actOnRequest(check, chat, verb, parameters)
    : callDriver(check, chat, verb, parameters)

/** Between two reads of the inbox. */
const INBOX_MS = 50
/** Between two attempts to act on a request. */
const REQUEST_MS = 200

/** Those whose help desk lets the agent act on what the inbox does not show. */
const withoutRequests = new WeakSet<CheckContext>()

/**
 * The help desk may learn of a request some time after it was acknowledged, so an attempt that fails before any call came
 * is repeated. After a call, a further attempt would look as if the intermediary repeated it.
 */
async function actOnRequest(check: CheckContext, chat: Chat, verb: string, parameters: AgentParameters) {
  const { journal } = check.core
  const untilMs = journal.atMs + check.limits.effectMs
  const isListed = await untilRequested(check, chat, untilMs)
  const callCount = () => journal.query({ kind: 'api', chatId: chat.id }).length
  const callsBefore = callCount()
  const hasCalled = () => callCount() > callsBefore
  let acted = await callDriver(check, chat, verb, parameters)
  while (acted.call.outcome !== 'ok' && journal.atMs < untilMs && !(await check.until(hasCalled, REQUEST_MS)))
    acted = await callDriver(check, chat, verb, parameters)
  if (!isListed && acted.call.outcome === 'ok') withoutRequests.add(check)
  return acted
}

/** Whether the inbox shows the chat in time. True when nothing would show it. */
async function untilRequested(check: CheckContext, chat: Chat, untilMs: number): Promise<boolean> {
  if (withoutRequests.has(check) || !check.driver?.verbs.includes('inbox')) return true
  const { journal } = check.core
  while ((await inboxOf(check, chat)).length === 0) {
    if (journal.atMs >= untilMs) return false
    await check.until(() => false, INBOX_MS)
  }
  return true
}

async function callDriver(check: CheckContext, chat: Chat | null, verb: string, parameters: AgentParameters) {
  const { driver, core, signal } = check
  if (driver === null) throw new CheckEndedError('no driver')
  const call = await driver.call(verb, { ...driverContext(check, chat), ...parameters }, signal)
  const written = parameters.text === undefined ? {} : { text: parameters.text }
  const of = chat === null ? {} : { chat_id: chat.id }
  const entry = core.journal.append({ ...call, ...written, kind: 'driver', ...of } as OpenContent, null)
  // The call may have failed only because the check is over.
  if (signal.aborted && call.outcome !== 'ok') throw new InterruptedError()
  return { call, entry }
}

export async function inboxOf(check: CheckContext, chat: Chat): Promise<readonly InboxItem[]> {
  const { driver, core, signal } = check
  if (driver === null || !driver.verbs.includes('inbox')) return []
  const call = await driver.inbox(driverContext(check, chat), signal)
  if (signal.aborted && call.outcome !== 'ok') throw new InterruptedError()
  core.journal.append({ ...call, kind: 'driver', chat_id: chat.id } as OpenContent, null)
  return call.items ?? []
}

/** All agents are away, or back. A failure is reported, and ends the check. */
export const agentsAre = (check: CheckContext, verb: 'away' | 'back'): Promise<DriverCall> =>
  requireVerb(check, null, verb, {})

const driverContext = ({ url, sim }: CheckContext, chat: Chat | null) => ({
  chat: chat === null ? null : driverChat(chat),
  sim: { url, api_key: sim.apiKey, bot_id: sim.botId },
})
