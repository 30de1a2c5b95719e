/** Creates what a check acts and observes with: chats of its own, events of any form, and waits for journal entries. */

import type { SignMode } from '../../platform/contract/event-names.ts'
import type { SendingSpec } from '../../platform/faults/schema.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import type { ChatOptions } from '../../platform/simulator/new-chat.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Alteration } from '../../platform/webhooks/manual.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { createJournalWaiter, InterruptedError, rejectOnAbort, type WaitContext, waitUntil } from '../runner/waiting.ts'
import { type CheckChat, openChat } from './chat.ts'
import type { CheckDefinition } from './check.ts'
import type { CheckFinding, FindingCode, FindingDetails, FindingLevel } from './findings/index.ts'
import type { CheckReason } from './reasons.ts'

export type EventAnswer = EntryOf<'delivery'>

/** Time limits of the checks, in milliseconds of the wall clock. */
export interface Limits {
  /** Of an acknowledgement. */
  readonly ackMs: number
  /** Until an effect of an event or of the agent must be visible. */
  readonly effectMs: number
  /** How long nothing may happen after an event that must have no effect. */
  readonly quietMs: number
  /** Between a request and its replay. */
  readonly replayMs: number
  /** How long a slow answer of the API takes. */
  readonly slowAnswerMs: number
  /** How long the API refuses all calls. */
  readonly outageMs: number
  /** Until a call that was refused for a while must be repeated. */
  readonly retryMs: number
  /** How long a typing indicator may be shown to the user of an agent who is idle. */
  readonly typingMs: number
  /** How long the conversations of many chats at once may take in all, which depends on how fast agents can act. */
  readonly crowdMs: number
  /** Of a whole check. */
  readonly checkMs: number
}

/** The longer times of the checks grow with `quietMs`, so that one setting shortens them all. */
export const createLimits = ({ ackMs = 5_000, effectMs = 5_000, quietMs = 2_000 }: LimitOptions = {}): Limits => ({
  ackMs,
  effectMs,
  quietMs,
  replayMs: 5 * quietMs,
  slowAnswerMs: 4 * quietMs,
  outageMs: 5 * quietMs,
  // A retry waits as the platform asks it to, whatever the setting.
  retryMs: Math.max(5_000, 10 * quietMs),
  typingMs: 15 * quietMs,
  crowdMs: 45 * quietMs,
  checkMs: 60_000,
})

/** Those that are not given have their defaults. */
export type LimitOptions = { readonly [Name in 'ackMs' | 'effectMs' | 'quietMs']?: number | undefined }

/** An event as the check sends it, past the queues of the platform. */
export interface CheckEvent {
  readonly event: string
  readonly chat?: CheckChat | undefined
  /** The whole payload; default: the one of the platform for this event and chat. */
  readonly payload?: Readonly<Record<string, unknown>>
  readonly sign?: SignMode
  readonly sending?: SendingSpec
  readonly alteration?: Alteration
}

export interface CheckContext extends WaitContext {
  readonly check: CheckDefinition
  readonly sim: PlatformSimulator
  readonly driver: Driver | null
  readonly limits: Limits
  readonly signal: AbortSignal
  /** The address the intermediary calls. */
  readonly url: string
  /** Depends on the seed of the run and the id of the check, not on other checks. */
  readonly seed: number
  /** False for an intermediary that is a function: there is no wire. */
  readonly hasWire: boolean
  /** Opens a chat. Its name is unique in the check. */
  chat(name: string, options?: ChatOptions): Promise<CheckChat>
  /** Sends an event and resolves with its answer. */
  send(event: CheckEvent): Promise<EventAnswer>
  /** Evaluates the condition after every journal entry; false when it is not met in time. */
  until(condition: () => boolean, withinMs: number): Promise<boolean>
  report<Code extends FindingCode>(
    level: FindingLevel,
    code: Code,
    details: FindingDetails[Code],
    entries: readonly { readonly seq: number }[],
  ): void
  /** What the check was to show could not be observed. */
  inconclusive(reason: CheckReason): void
  /** Records a figure for the certificate. */
  measure(name: string, value: number): void
}

/** Ends a check whose next actions make no sense. Its findings are reported already. */
export class CheckEndedError extends Error {
  override readonly name = 'CheckEndedError'
}

/** What a check has collected. */
export interface Collected {
  readonly findings: CheckFinding[]
  reason: CheckReason | null
  readonly measurements: Record<string, number>
  readonly chats: Record<string, string>
}

export interface ContextOptions
  extends Pick<CheckContext, 'check' | 'sim' | 'driver' | 'limits' | 'signal' | 'url' | 'hasWire' | 'seed'> {
  chatOpened(chatId: string): void
}

export interface OpenContext {
  readonly context: CheckContext
  readonly collected: Collected
  close(): void
}

export function createCheckContext(options: ContextOptions): OpenContext {
  const core = coreOf(options.sim)
  const journalWaiter = createJournalWaiter(core.journal)
  const collected: Collected = { findings: [], reason: null, measurements: {}, chats: {} }
  const context: CheckContext = {
    ...options,
    core,
    journalWaiter,
    async chat(name, chatOptions = {}) {
      const chat = await openChat(context, name, chatOptions)
      collected.chats[name] = chat.id
      options.chatOpened(chat.id)
      return chat
    },
    send: event => sendEvent(context, event),
    until: (condition, withinMs) => until(context, condition, withinMs),
    report(level, code, details, entries) {
      collected.findings.push({ level, code, details, entrySeqs: entries.map(({ seq }) => seq) })
    },
    inconclusive(reason) {
      collected.reason ??= reason
    },
    measure(name, value) {
      collected.measurements[name] = value
    },
  }
  return { context, collected, close: () => journalWaiter.stop() }
}

async function sendEvent(context: CheckContext, sent: CheckEvent): Promise<EventAnswer> {
  const { event, chat, sign = 'valid', sending, alteration } = sent
  const payload = sent.payload ?? chat?.payload(event) ?? { event }
  const delivery = context.core.dispatcher.trigger({
    chatId: chat?.id,
    event,
    payload,
    sign,
    ...(sending && { sending }),
    ...(alteration && { alteration }),
  })
  keepDelivering(context, delivery)
  const answered = await rejectOnAbort(delivery, context.signal)
  if (answered === null) throw new InterruptedError()
  return answered
}

/** Moves a virtual clock to the times at which events are due, until this one is answered. */
function keepDelivering(context: CheckContext, delivery: Promise<unknown>): void {
  if (context.core.clock.mode === 'real') return
  const untilMs = context.core.journal.atMs + context.limits.checkMs
  let ended = false
  const end = () => {
    ended = true
  }
  delivery.then(end, end)
  waitUntil(context, () => (ended ? null : { untilMs }), context.signal).catch(() => {})
}

async function until(context: CheckContext, condition: () => boolean, withinMs: number): Promise<boolean> {
  const untilMs = context.core.journal.atMs + withinMs
  let met = condition()
  const status = () => {
    met ||= condition()
    return met || context.core.journal.atMs >= untilMs ? null : { untilMs }
  }
  await waitUntil(context, status, context.signal)
  return met
}
