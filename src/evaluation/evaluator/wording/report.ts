/** Renders the results of a run for reports: failures, warnings, outcomes and causes become texts and keep their codes. */

import { groupBy } from '../../../base/objects.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import type { TargetOutput } from '../../../platform/journal/run-failures.ts'
import { driverFailureText, endedText, failureText, stepFailureText } from '../../../platform/wording/failures.ts'
import { findingText } from '../../linter/texts.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type { CallRef, Failure, FailureHint, Happened, ObstacleCode } from '../failure.ts'
import type { Reason, RunResult, ScenarioResult, Verdict, Warning } from '../verdict.ts'
import {
  type Audience,
  evictedText,
  expectedText,
  happenedText,
  hintText,
  noteText,
  obstaclesText,
  stepText,
  subjectText,
  whyVerbIsMissing,
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
  /** What would have failed where it is required; absent for findings of the linter. */
  readonly failure?: FailureReport
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

/** Stands above the last lines that the target printed; says everything when it printed none. */
export const targetOutputHeading = ({ lines, file }: TargetOutput): string =>
  lines.length === 0
    ? 'the intermediary printed nothing'
    : `last output of the intermediary${file === null ? '' : `, from ${file}`}:`

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
  if (!('failure' in warning)) return { rule, message: findingText(warning), conversation, entrySeqs }
  const failure = describeFailure(warning.failure)
  return { rule, message: failure.happened, conversation, entrySeqs, failure }
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
      return `${stepText(reason.step)} needs ${reason.verb}, and ${whyVerbIsMissing(reason.verb, reason.verbs)}`
    case 'need_missing':
      return `${reason.scenario} requires ${reason.verb}, and ${whyVerbIsMissing(reason.verb, reason.verbs)}`
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

/** A cause that several scenarios have, as a report shows it. */
export interface CauseReport {
  readonly code: string
  readonly text: string
  /** That of the failures, where all have the same. */
  readonly hint?: string
  /** Indexes of the scenarios in the run. */
  readonly scenarios: readonly number[]
}

/** What failures of several scenarios have in common. `facts` are equal for the same cause: no step, place, time or entry. */
interface Cause extends Pick<CauseReport, 'code' | 'text'> {
  readonly facts: readonly unknown[]
}

/** Of the facts, what may vary; notes and failures keep their codes. */
const VARYING_FACTS: ReadonlySet<string> = new Set(
  'count length of position marker found missing message detail body output expected received place answer'.split(' '),
)

/** Why a scenario did not pass; null where others cannot have the same cause. Causes with the same key are the same. */
export function describeCause(result: ScenarioResult): { readonly key: string; readonly text: string } | null {
  const cause = result.outcome === 'pass' ? null : causeOf(result)
  return cause === null ? null : { key: keyOf(cause), text: cause.text }
}

const keyOf = ({ code, facts }: Cause): string =>
  JSON.stringify([code, facts], (name, value: unknown) => (VARYING_FACTS.has(name) ? null : value))

/** The causes that more than one scenario has, the most frequent first. */
function describeCauses({ scenarios }: Pick<RunResult, 'scenarios'>): CauseReport[] {
  const all = scenarios.flatMap((scenario, index) => {
    const cause = scenario.outcome === 'pass' ? null : causeOf(scenario)
    return cause === null ? [] : [{ ...cause, index, failureHint: scenario.failures[0]?.hint }]
  })
  const groups = groupBy(all, keyOf)
  const reports: CauseReport[] = []
  for (const group of [...groups.values()].sort((a, b) => b.length - a.length)) {
    if (group.length === 1) continue
    const [{ code, text, failureHint }] = group
    const isShared = failureHint !== undefined && group.every(other => other.failureHint?.code === failureHint.code)
    const hint = isShared ? { hint: hintText(failureHint, 'scenario') } : {}
    reports.push({ code, text, ...hint, scenarios: group.map(({ index }) => index) })
  }
  return reports
}

const HOW_CALLED: Readonly<Partial<Record<ObstacleCode, string>>> = {
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

const nameOf = ({ endpoint, path }: CallRef): string => (endpoint === null ? path : `\`${endpoint}\``)

const afterColon = (text: string | null): string => (text === null ? '' : `: ${text}`)

/** The cause of the first failure, which is most likely that of the others; null where scenarios cannot share it. */
function causeOf({ failures: [first], reason }: Pick<ScenarioResult, 'failures' | 'reason'>): Cause | null {
  const cause = (code: string, facts: readonly unknown[], text: string): Cause => ({ code, facts, text })
  if (first === undefined) {
    if (reason?.code === 'env_unset')
      return cause('env_unset', [reason.name], `the environment variable ${reason.name} is not set`)
    if (reason?.code !== 'verb_missing' && reason?.code !== 'need_missing') return null
    if (reason.verbs === null)
      return cause('no_driver', [], 'a step needs an agent driver, and there is none (--agent-driver FILE)')
    return cause('verb_missing', [reason.verb], `the agent driver has no verb ${reason.verb}`)
  }
  const { happened, hint } = first
  if (hint?.code === 'target_ended') return cause('target_ended', [hint.failure], endedText(hint.failure))
  switch (happened.code) {
    case 'no_call': {
      const { requirement, detail } = happened
      if (detail?.code === 'no_call_at_all') return cause('no_call_at_all', [], 'the intermediary makes no call')
      if (detail?.code === 'unreachable')
        return cause('target_unreachable', [detail.failure], failureText(detail.failure))
      return cause('not_called', [requirement.call], `\`${requirement.call}\` is not called`)
    }
    case 'no_matching_call': {
      const { call } = happened.requirement
      const codes = happened.obstacles.map(({ code }) => code)
      const fields = happened.differences.map(({ path, note }) => ({ path, note }))
      const shown = fields.slice(0, MAX_FIELDS).map(({ path, note }) => {
        return `${path || 'the body'}${note === undefined ? '' : ` (${noteText(note)})`}`
      })
      const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : ''
      const how = codes.flatMap(code => HOW_CALLED[code] ?? [])
      if (shown.length > 0) how.push(`with another value of ${shown.join(', ')}${more}`)
      const text = `\`${call}\` is called ${how.join(', ') || 'in another way'}`
      return cause('not_matching', [call, codes, fields], text)
    }
    case 'too_many_calls': {
      const { call } = happened.requirement
      const often = happened.seqs.length === 2 ? 'twice' : 'too often'
      return cause('repeated', [call], `\`${call}\` is called ${often}`)
    }
    case 'calls_too_close': {
      const { call } = happened.requirement
      return cause('too_close', [call], `\`${call}\` is called again too soon`)
    }
    case 'unexpected_call':
    case 'unwanted_call':
    case 'forbidden_call': {
      const name = nameOf(happened.call)
      return cause('unwanted', [name], `${name} is called where no step expects it`)
    }
    case 'call_after_end': {
      const name = nameOf(happened.call)
      return cause('late', [name], `${name} is called after the end of the scenario`)
    }
    case 'refused_call': {
      const { status, error, field } = happened
      const name = nameOf(happened.call)
      const text = `the platform refuses ${name} with ${status}${error === null ? '' : ` ${error}`}${afterColon(field)}`
      return cause('refused', [name, status, error, field], text)
    }
    case 'item_missing':
      return cause('item_missing', [], 'the agent does not see what is sent')
    case 'item_too_often':
      return cause('item_repeated', [], 'the agent sees something more often than it is sent')
    case 'chat_differs': {
      const paths = happened.differences.map(({ path }) => path)
      return cause('chat_differs', paths, `the chat is in another state: ${paths.join(', ')}`)
    }
    case 'no_answer':
      return cause('no_answer', [null], 'the webhook does not answer in time')
    case 'not_acknowledged': {
      const { event, status, sent, failure = null } = happened.result
      const why = failure === null ? '' : `: ${failureText(failure)}`
      if (!sent) return cause('not_sent', [failure], `an event is not sent${why}`)
      if (status === null && (failure === null || failure.code === 'timeout'))
        return cause('no_answer', [null], 'the webhook does not answer in time')
      if (status === null) return cause('no_answer', [failure], `the webhook does not answer${why}`)
      if (happened.ack === 'non-2xx')
        return cause('accepted', [event], `the webhook accepts ${event} where it must refuse it`)
      return cause('answered', [event, status], `the webhook answers ${status} to ${event}`)
    }
    case 'driver_failed': {
      const { failure, status } = happened
      const why = failure === null ? status : driverFailureText(failure)
      return cause('driver', [failure, status], `the agent driver fails${why === null ? '' : `: ${why}`}`)
    }
    case 'step_failed':
      return cause('step', [happened.failure], stepFailureText(happened.failure))
    case 'stopped':
    case 'stopped_at_step': {
      if (happened.cause?.code !== 'time_limit') return null
      const { limit_ms } = happened.cause
      return cause('time_limit', [limit_ms], `the scenario takes longer than ${formatDuration(limit_ms)}`)
    }
    case 'echoed':
      return cause('echoed', [], "what the user writes comes back as the agent's message")
    case 'leaked':
      return cause('leaked', [], 'what a user writes appears in another chat')
    case 'warning': {
      const { rule } = happened.finding
      const text =
        rule === 'content-type'
          ? 'calls are sent without Content-Type: application/json'
          : `warning ${rule}, which fails because of --strict`
      return cause('warning', [rule], text)
    }
    default:
      return null
  }
}
