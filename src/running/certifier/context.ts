/** Creates what a check acts and observes with: events of any form, waits for journal entries, and reports. */

import { groupBy } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import type { Finding, Level } from '../../evaluation/finding.ts'
import { type DeliveryEntry, History } from '../../evaluation/history.ts'
import { type Facts, isProof, judge, type Mistake, type Rule, toFinding } from '../../evaluation/rules/rule.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import type { SendingSpec } from '../../platform/faults/schema.ts'
import type { DeliveryContent, Entry } from '../../platform/journal/entry.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Alteration } from '../../platform/webhooks/manual.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { awaitPace, InterruptedError, rejectOnAbort, waitUntil } from '../runner/waiting.ts'
import type { CheckReason } from './reason.ts'

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
  readonly loadMs: number
  /** Of a whole check. */
  readonly checkMs: number
}

/** The settings of a user, in milliseconds. Those that are not given have their defaults. */
export type LimitOptions = { readonly [Name in 'ackMs' | 'effectMs' | 'quietMs']?: number | undefined }

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
  loadMs: 45 * quietMs,
  checkMs: 60_000,
})

/** An event as the check sends it, past the queues of the platform. */
export interface CheckEvent {
  readonly event: string
  readonly chat?: { readonly id: string; payload(event: string): Record<string, unknown> }
  /** The whole payload; default: the one of the platform for this event and chat. */
  readonly payload?: Readonly<Record<string, unknown>>
  readonly sign?: SignMode
  readonly sending?: SendingSpec
  readonly alteration?: Alteration
  /** The mistake that it tries, to find out why another event was refused. */
  readonly probe?: DeliveryContent['probe']
}

/** A mistake as a check finds it, complete without a rule. */
export type FoundMistake = Mistake & Required<Pick<Mistake, 'code' | 'level'>>

export type ReportedMistake = Omit<Mistake, 'code' | 'level' | 'entries'> & Partial<Pick<Mistake, 'entries'>>

/** Ends a check whose next actions make no sense. Its findings are reported already. */
export class CheckEndedError extends Error {
  override readonly name = 'CheckEndedError'
}

export interface ContextOptions {
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
  chatOpened(chatId: string): void
}

/** What a check has reported. */
export interface Reported {
  readonly findings: Finding[]
  reason: CheckReason | null
  /** Named figures for the certificate. */
  readonly measurements: Record<string, number>
  readonly chats: Record<string, string>
}

/** Whether the webhook has answered any event. */
export const hasAnswered = (journal: Core['journal']): boolean =>
  journal.query({ kind: 'delivery' }).some(({ status }) => status !== null)

/** What the rules know in a check. The platform may hide the typing indicator at a message (`typing.clearOn`). */
export const checkFacts = ({ journal, platform }: Core, { effectMs, typingMs }: Limits): Facts => ({
  plan: { config: formatKnobs(platform.knobs), steps: [], finally: [] },
  nowMs: journal.atMs,
  effectMs,
  typingMs,
  typingEnds: ['typing_stop', 'message', 'end'],
  hasAnswered: hasAnswered(journal),
  inbox: null,
})

export type CheckContext = ReturnType<typeof createCheckContext>

export function createCheckContext({ chatOpened, ...options }: ContextOptions) {
  const { sim, driver, limits, signal } = options
  const core = coreOf(sim)
  const { journal, clock, dispatcher } = core
  const reported: Reported = { findings: [], reason: null, measurements: {}, chats: {} }

  /** Evaluates the condition after every journal entry; false when it is not met in time. */
  async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
    const untilMs = journal.atMs + withinMs
    let isMet = condition()
    const status = () => {
      isMet ||= condition()
      return isMet || journal.atMs >= untilMs ? null : { untilMs }
    }
    await waitUntil({ core }, status, signal)
    return isMet
  }

  /** Waits until people would act in the chat; null: in any chat. */
  async function pace(chatId: string | null): Promise<void> {
    await awaitPace(core, { chatId }, signal)
    if (signal.aborted) throw new InterruptedError()
  }

  const add = ({ code, level, ...mistake }: FoundMistake): void =>
    void reported.findings.push(toFinding({ id: code, level }, mistake, null))

  return {
    ...options,
    core,
    reported,
    /** False once an agent acted on a request that the inbox does not show: waiting for it would be in vain. */
    hasRequestsInInbox: true,
    until,
    pause: async (ms: number): Promise<void> => void (await until(() => false, ms)),
    pace,
    /** Whether the agent driver has this verb. */
    canDo: (verb: string): boolean => driver?.verbs.includes(verb) ?? false,
    /** Records a chat of the check before anything happens in it. Its name is unique in the check. */
    addChat(name: string, id: string): void {
      reported.chats[name] = id
      chatOpened(id)
    },
    /** Sends an event and resolves with its answer. */
    async send({
      event,
      chat,
      sign = 'valid',
      sending,
      alteration,
      probe,
      ...sent
    }: CheckEvent): Promise<DeliveryEntry> {
      if (chat !== undefined) await pace(chat.id)
      const payload = sent.payload ?? chat?.payload(event) ?? { event }
      const more = { ...(sending && { sending }), ...(alteration && { alteration }), ...(probe && { probe }) }
      const delivery = dispatcher.trigger({ chatId: chat?.id, event, payload, sign, ...more })
      if (clock.mode !== 'real') {
        // Moves a virtual clock to the times at which events are due, until this one is answered.
        let isAnswered = false
        const end = () => {
          isAnswered = true
        }
        delivery.then(end, end)
        const untilMs = journal.atMs + limits.checkMs
        waitUntil({ core }, () => (isAnswered ? null : { untilMs }), signal).catch(() => {})
      }
      const answer = await rejectOnAbort(delivery, signal)
      if (answer === null) throw new InterruptedError()
      return answer
    },
    report: (level: Level, code: string, mistake: ReportedMistake): void =>
      add({ entries: [], ...mistake, level, code }),
    add,
    /** Reports what the rules find in these entries; what has equal details is one mistake. */
    judge(rules: readonly Rule[], entries: readonly Entry[]): void {
      const findings: Finding[] = []
      for (const { rule, observation } of judge(rules, new History(entries), checkFacts(core, limits)))
        if (!isProof(observation)) findings.push(toFinding(rule, observation, null))
      const mistakes = groupBy(findings, ({ code, details, entrySeqs }) =>
        JSON.stringify([code, Object.keys(details).length > 0 ? details : entrySeqs]),
      )
      for (const [finding, ...same] of mistakes.values()) {
        const more = same.flatMap(({ entrySeqs }) => entrySeqs)
        const moreText =
          more.length === 0 ? '' : ` So ${more.length === 1 ? 'is' : 'are'} ${counted(more.length, 'more call')}.`
        reported.findings.push({
          ...finding,
          happened: `${finding.happened}${moreText}`,
          entrySeqs: [...finding.entrySeqs, ...more].sort((a, b) => a - b),
        })
      }
    },
    /** What the check was to show could not be observed. */
    inconclusive(reason: CheckReason): void {
      reported.reason ??= reason
    },
    /** Records a figure for the certificate. */
    measure(name: string, value: number): void {
      reported.measurements[name] = value
    },
  }
}
