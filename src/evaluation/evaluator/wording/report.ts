/** Renders the results of a run for reports: failures, warnings, outcomes and causes become texts and keep their codes. */

import { groupBy } from '../../../base/objects.ts'
import type { ConnectionFailure } from '../../../base/runtime/connection-failure.ts'
import type { Bare, Coded } from '../../../base/text/coded.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { DeliveryFailure } from '../../../platform/journal/entry.ts'
import type { DriverFailure, StepFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText, failureText, stepFailureText } from '../../../platform/wording/failures.ts'
import { findingText } from '../../linter/texts.ts'
import type { CallName } from '../../scenario/plan.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type { CallRef, Failure, FailureHint, Happened, ObstacleCode } from '../failure.ts'
import type { Reason, RunResult, ScenarioResult, Verdict, Warning } from '../verdict.ts'
import {
  type Audience,
  driverHas,
  evictedText,
  expectedText,
  happenedText,
  hintText,
  noteText,
  obstaclesText,
  stepText,
  subjectText,
  timesText,
} from './failure-text.ts'

/** A failure as a report shows it. */
export interface FailureReport extends Omit<Failure, 'expected' | 'happened' | 'nearest' | 'hint'> {
  readonly code: Happened['code']
  /** What happened, in a line that is complete by itself. */
  readonly happened: string
  readonly expected: string
  readonly nearest: readonly NearMissReport[]
  readonly hint?: string
  readonly hintCode?: FailureHint['code']
  /** Equal for failures that differ only in entries, times, chats and texts. */
  readonly group: string
}

export interface NearMissReport {
  readonly seq: number
  /** `POST /api/v2/handover/message/`, `inbox item 3 "Hello"`. */
  readonly what: string
  readonly afterMs: number
  readonly codes: readonly ObstacleCode[]
  /** `2 fields differ`, `already claimed by step 3`. */
  readonly why: string
  readonly differences: readonly DifferenceReport[]
}

export interface DifferenceReport {
  readonly path: string
  readonly expected: string
  /** `absent` for nothing. */
  readonly received: string
  readonly code?: DifferenceNote['code']
  readonly hint?: string
}

/** A warning as a report shows it. */
export interface WarningReport {
  readonly rule: string
  readonly message: string
  readonly conversation: string | null
  readonly entrySeqs: readonly number[]
}

type Rendered = 'failures' | 'warnings' | 'reason'

/** The result of a scenario as a report shows it. */
export interface ScenarioReport extends Omit<ScenarioResult, Rendered>, VerdictReport {}

/** A verdict as a report shows it. */
export interface VerdictReport extends Omit<Verdict, Rendered> {
  /** Why the scenario is inconclusive, an error or skipped. */
  readonly reason: string | null
  readonly reasonCode: Reason['code'] | null
  readonly failures: readonly FailureReport[]
  readonly warnings: readonly WarningReport[]
}

/** A run as a report shows it. */
export interface RunReport extends Omit<RunResult, 'scenarios' | 'failures'> {
  readonly scenarios: readonly ScenarioReport[]
  readonly failures: readonly FailureReport[]
  readonly causes: readonly CauseReport[]
}

export const describeRun = (result: RunResult): RunReport => ({
  ...result,
  causes: describeCauses(result),
  scenarios: result.scenarios.map(describeScenario),
  failures: result.failures.map(failure => describeFailure(failure)),
})

export const describeScenario = (result: ScenarioResult): ScenarioReport => ({ ...result, ...describeVerdict(result) })

export const describeVerdict = (verdict: Verdict): VerdictReport => ({
  ...verdict,
  reason: verdict.reason === null ? null : reasonText(verdict.reason),
  reasonCode: verdict.reason?.code ?? null,
  failures: verdict.failures.map(failure => describeFailure(failure)),
  warnings: verdict.warnings.map(describeWarning),
})

export function describeFailure(failure: Failure, audience: Audience = 'scenario'): FailureReport {
  const { expected, happened, nearest, hint, ...rest } = failure
  return {
    ...rest,
    code: happened.code,
    group: groupOf(failure),
    happened: happenedText(happened, audience),
    expected: expectedText(expected, audience),
    nearest: nearest.map(miss => ({
      seq: miss.seq,
      what: subjectText(miss.subject),
      afterMs: miss.afterMs,
      codes: miss.obstacles.map(({ code }) => code),
      why: obstaclesText(miss, audience),
      differences: miss.differences.map(({ path, expected: value, received, note }) => ({
        path,
        expected: value,
        received: received ?? 'absent',
        ...(note === undefined ? {} : { hint: noteText(note), code: note.code }),
      })),
    })),
    ...(hint === undefined ? {} : { hint: hintText(hint, audience), hintCode: hint.code }),
  }
}

/** What varies when the same mistake is repeated: entries, times, chats and texts. Codes, calls, fields and statuses stay. */
const VARYING: ReadonlySet<string> = new Set([
  ...['seq', 'seqs', 'others', 'written', 'position'],
  ...['after', 'afterMs', 'gapMs', 'lateMs', 'byMs', 'ms', 'withinMs'],
  ...['step', 'chat', 'chatId', 'conversation'],
  ...['text', 'body', 'item', 'message', 'label', 'answer', 'expected', 'received'],
])

function groupOf({ kind, step, soft, expected, happened, hint }: Failure): string {
  const place = step === null ? null : [step.place, step.place === null && step.number]
  const group = [kind, place, soft, expected, happened, hint]
  return JSON.stringify(group, (key, value: unknown) => (VARYING.has(key) ? null : value))
}

export function describeWarning(warning: Warning): WarningReport {
  const { rule, conversation, entrySeqs } = warning
  const message = 'failure' in warning ? happenedText(warning.failure.happened, 'scenario') : findingText(warning)
  return { rule, message, conversation, entrySeqs }
}

export function reasonText(reason: Reason): string {
  switch (reason.code) {
    case 'not_a_scenario':
      return 'this is not the journal of a scenario'
    case 'incomplete_journal':
      return 'the journal stops before the end of the scenario'
    case 'other_steps': {
      const { step, was, now } = reason
      const change = now === null ? 'no longer exists' : `is now ${now}`
      return `the scenario has other steps than the run: step ${step} was ${was} and ${change}; run it again`
    }
    case 'environment':
    case 'scenario':
    case 'internal':
    case 'check_evicted':
    case 'stopped':
      return happenedText(reason.failure.happened, 'scenario')
    case 'evicted':
      return evictedText(reason.firstSeq)
    case 'verb_missing':
      return `${stepText(reason.step)} needs ${reason.verb}, and ${driverHas(reason.verbs)}`
    case 'need_missing':
      return `${reason.scenario} requires ${reason.verb}, and ${driverHas(reason.verbs)}`
    case 'step_not_run':
      return `${stepText(reason.step)} was not run: run the scenario again`
    case 'env_unset':
      return `the environment variable ${reason.name} is not set, and $(env.${reason.name}) reads it`
    case 'run_stopped':
      return 'not run, because the run had stopped'
    case 'unreachable':
      return reason.message
    case 'values_redacted':
      return `this is the outcome of the run; its journal has *** in place of secrets, which gives ${reason.evaluated}: run it again to see why`
  }
}

/** What failures of several scenarios have in common: no step, place, time or number of an entry. */
type Cause = Coded<{
  no_call_at_all: Bare
  target_unreachable: { failure: ConnectionFailure }
  not_called: { call: CallName }
  not_matching: { call: CallName; obstacles: readonly ObstacleCode[]; fields: readonly DifferingField[] }
  repeated: { call: CallName; count: number }
  too_close: { call: CallName }
  unwanted: CalledEndpoint
  late: CalledEndpoint
  refused: CalledEndpoint & { status: number; error: string | null; field: string | null }
  item_missing: Bare
  item_repeated: Bare
  chat_differs: { fields: readonly string[] }
  /** Null: it took too long. */
  no_answer: { failure: DeliveryFailure | null }
  not_sent: { failure: DeliveryFailure | null }
  accepted: { event: string }
  answered: { event: string; status: number }
  driver: { failure: DriverFailure | null; status: number | null }
  step: { failure: StepFailure }
  time_limit: { limitMs: number }
  echoed: Bare
  leaked: Bare
  warning: { rule: string }
  no_driver: Bare
  verb_missing: { verb: string }
  env_unset: { name: string }
}>

interface DifferingField {
  readonly path: string
  readonly note?: DifferenceNote
}

type CalledEndpoint = { endpoint: EndpointId } | { endpoint: null; path: string }

const endpointOf = ({ endpoint, path }: CallRef): CalledEndpoint =>
  endpoint === null ? { endpoint, path } : { endpoint }

/** The cause of the first failure, which is most likely that of the others; null where scenarios cannot share it. */
function causeOf({ failures: [first], reason }: Pick<ScenarioResult, 'failures' | 'reason'>): Cause | null {
  if (first === undefined) {
    if (reason?.code === 'env_unset') return reason
    if (reason?.code !== 'verb_missing' && reason?.code !== 'need_missing') return null
    return reason.verbs === null ? { code: 'no_driver' } : { code: 'verb_missing', verb: reason.verb }
  }
  const { happened } = first
  switch (happened.code) {
    case 'no_call': {
      const { requirement, detail } = happened
      if (detail?.code === 'no_call_at_all') return detail
      if (detail?.code === 'unreachable') return { code: 'target_unreachable', failure: detail.failure }
      return { code: 'not_called', call: requirement.call }
    }
    case 'no_matching_call': {
      const obstacles = happened.obstacles.map(({ code }) => code)
      const fields = happened.differences.map(({ path, note }) => ({ path, ...(note && { note }) }))
      return { code: 'not_matching', call: happened.requirement.call, obstacles, fields }
    }
    case 'too_many_calls':
      return { code: 'repeated', call: happened.requirement.call, count: happened.seqs.length }
    case 'calls_too_close':
      return { code: 'too_close', call: happened.requirement.call }
    case 'unexpected_call':
    case 'unwanted_call':
    case 'forbidden_call':
      return { code: 'unwanted', ...endpointOf(happened.call) }
    case 'call_after_end':
      return { code: 'late', ...endpointOf(happened.call) }
    case 'refused_call': {
      const { call, status, error, field } = happened
      return { code: 'refused', ...endpointOf(call), status, error, field }
    }
    case 'item_missing':
      return { code: 'item_missing' }
    case 'item_too_often':
      return { code: 'item_repeated' }
    case 'chat_differs':
      return { code: 'chat_differs', fields: happened.differences.map(({ path }) => path) }
    case 'no_answer':
      return { code: 'no_answer', failure: null }
    case 'not_acknowledged': {
      const { event, status, sent, failure = null } = happened.result
      if (!sent) return { code: 'not_sent', failure }
      if (status === null) return { code: 'no_answer', failure: failure?.code === 'timeout' ? null : failure }
      return happened.ack === 'non-2xx' ? { code: 'accepted', event } : { code: 'answered', event, status }
    }
    case 'driver_failed':
      return { code: 'driver', failure: happened.failure, status: happened.status }
    case 'step_failed':
      return { code: 'step', failure: happened.failure }
    case 'stopped':
    case 'stopped_at_step': {
      const { cause } = happened
      return cause?.code === 'time_limit' ? { code: 'time_limit', limitMs: cause.limit_ms } : null
    }
    case 'echoed':
    case 'leaked':
      return { code: happened.code }
    case 'warning':
      return { code: 'warning', rule: happened.finding.rule }
    default:
      return null
  }
}

/** Of a cause, what its text may show although it varies; notes and failures keep their codes. */
const VARYING_IN_CAUSES: ReadonlySet<string> = new Set(
  'count length of position marker found missing message detail body output expected received place answer'.split(' '),
)

/** A cause that several scenarios have, as a report shows it. */
export interface CauseReport {
  readonly code: Cause['code']
  readonly text: string
  /** That of the failures, where all have the same. */
  readonly hint?: string
  /** Indexes of the scenarios in the run. */
  readonly scenarios: readonly number[]
}

/** The causes that more than one scenario has, the most frequent first. */
function describeCauses({ scenarios }: Pick<RunResult, 'scenarios'>): CauseReport[] {
  const all = scenarios.flatMap((scenario, index) => {
    const cause = scenario.outcome === 'pass' ? null : causeOf(scenario)
    return cause === null ? [] : [{ cause, index, hint: scenario.failures[0]?.hint }]
  })
  const groups = groupBy(all, ({ cause }) =>
    JSON.stringify(cause, (name, value: unknown) => (VARYING_IN_CAUSES.has(name) ? null : value)),
  )
  const reports: CauseReport[] = []
  for (const group of [...groups.values()].sort((a, b) => b.length - a.length)) {
    if (group.length === 1) continue
    const [{ cause, hint }] = group
    const isShared = hint !== undefined && group.every(other => other.hint?.code === hint.code)
    reports.push({
      code: cause.code,
      text: causeText(cause),
      ...(isShared ? { hint: hintText(hint, 'scenario') } : {}),
      scenarios: group.map(({ index }) => index),
    })
  }
  return reports
}

const called = (endpoint: CalledEndpoint): string =>
  endpoint.endpoint === null ? endpoint.path : `\`${endpoint.endpoint}\``

const OBSTACLES: Readonly<Partial<Record<ObstacleCode, string>>> = {
  late: 'too late',
  before: 'too early',
  earlier: 'in another order',
  order: 'in another order',
  answered_late: 'and answered too late',
  key: 'with a bad key',
  chat: 'for another chat',
  bot: 'for another bot',
  alias: 'under another path',
}

const MAX_FIELDS = 3

function fieldsText(fields: readonly DifferingField[]): string {
  const shown = fields.slice(0, MAX_FIELDS).map(({ path, note }) => {
    const why = note === undefined ? '' : ` (${noteText(note)})`
    return `${path === '' ? 'the body' : path}${why}`
  })
  const more = fields.length - MAX_FIELDS
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function causeText(cause: Cause): string {
  switch (cause.code) {
    case 'no_call_at_all':
      return 'the intermediary makes no call'
    case 'target_unreachable':
      return failureText(cause.failure)
    case 'not_called':
      return `\`${cause.call}\` is not called`
    case 'not_matching': {
      const { call, obstacles, fields } = cause
      const how = obstacles.flatMap(code => OBSTACLES[code] ?? [])
      const differing = fields.length === 0 ? [] : [`with another value of ${fieldsText(fields)}`]
      return `\`${call}\` is called ${[...how, ...differing].join(', ') || 'in another way'}`
    }
    case 'repeated':
      return `\`${cause.call}\` is called ${cause.count === 2 ? timesText(cause.count) : 'too often'}`
    case 'too_close':
      return `\`${cause.call}\` is called again too soon`
    case 'unwanted':
      return `${called(cause)} is called where no step expects it`
    case 'late':
      return `${called(cause)} is called after the end of the scenario`
    case 'refused': {
      const { status, error, field, ...endpoint } = cause
      return `the platform refuses ${called(endpoint)} with ${status}${error === null ? '' : ` ${error}`}${field === null ? '' : `: ${field}`}`
    }
    case 'item_missing':
      return 'the agent does not see what is sent'
    case 'item_repeated':
      return 'the agent sees something more often than it is sent'
    case 'chat_differs':
      return `the chat is in another state: ${cause.fields.join(', ')}`
    case 'no_answer':
      return `the webhook does not answer${cause.failure === null ? ' in time' : `: ${failureText(cause.failure)}`}`
    case 'not_sent':
      return `an event is not sent${cause.failure === null ? '' : `: ${failureText(cause.failure)}`}`
    case 'accepted':
      return `the webhook accepts ${cause.event} where it must refuse it`
    case 'answered':
      return `the webhook answers ${cause.status} to ${cause.event}`
    case 'driver':
      return `the agent driver fails${cause.failure === null ? (cause.status === null ? '' : `: ${cause.status}`) : `: ${driverFailureText(cause.failure)}`}`
    case 'step':
      return stepFailureText(cause.failure)
    case 'time_limit':
      return `the scenario takes longer than ${formatDuration(cause.limitMs)}`
    case 'echoed':
      return "what the user writes comes back as the agent's message"
    case 'leaked':
      return 'what a user writes appears in another chat'
    case 'warning':
      return `warning ${cause.rule}, which fails because of --strict`
    case 'no_driver':
      return 'a step needs an agent driver, and there is none (--agent-driver FILE)'
    case 'verb_missing':
      return `the agent driver has no verb ${cause.verb}`
    case 'env_unset':
      return `the environment variable ${cause.name} is not set`
  }
}
