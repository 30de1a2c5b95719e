/** Gathers scenarios whose first failures have the same cause, by codes and never by texts, and renders the cause. */

import { groupBy } from '../../../base/objects.ts'
import type { ConnectionFailure } from '../../../base/runtime/connection-failure.ts'
import type { Bare, Coded } from '../../../base/text/coded.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { DeliveryFailure } from '../../../platform/journal/entry.ts'
import type { DriverFailure, StepFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText, failureText, stepFailureText } from '../../../platform/wording/failures.ts'
import type { CallName } from '../../scenario/plan.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type { CallRef, Happened, ObstacleCode } from '../failure.ts'
import type { Reason, RunResult, ScenarioResult } from '../verdict.ts'
import { noteText } from './expected.ts'
import { hintText } from './happened.ts'
import { renderCode, type TextsOf, timesText } from './parts.ts'

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

type CauseTable<Of extends { readonly code: string }> = {
  readonly [Code in Of['code']]?: (value: Extract<Of, { code: Code }>) => Cause | null
}

const CAUSES: CauseTable<Happened> = {
  no_call: ({ requirement: { call }, detail }) => {
    if (detail?.code === 'no_call_at_all') return detail
    return detail?.code === 'unreachable'
      ? { code: 'target_unreachable', failure: detail.failure }
      : { code: 'not_called', call }
  },
  no_matching_call: ({ requirement: { call }, obstacles, differences }) => ({
    code: 'not_matching',
    call,
    obstacles: obstacles.map(({ code }) => code),
    fields: differences.map(({ path, note }) => ({ path, ...(note && { note }) })),
  }),
  too_many_calls: ({ requirement: { call }, seqs }) => ({ code: 'repeated', call, count: seqs.length }),
  calls_too_close: ({ requirement: { call } }) => ({ code: 'too_close', call }),
  unexpected_call: ({ call }) => ({ code: 'unwanted', ...endpointOf(call) }),
  unwanted_call: ({ call }) => ({ code: 'unwanted', ...endpointOf(call) }),
  forbidden_call: ({ call }) => ({ code: 'unwanted', ...endpointOf(call) }),
  call_after_end: ({ call }) => ({ code: 'late', ...endpointOf(call) }),
  refused_call: ({ call, status, error, field }) => ({ code: 'refused', ...endpointOf(call), status, error, field }),
  item_missing: () => ({ code: 'item_missing' }),
  item_too_often: () => ({ code: 'item_repeated' }),
  chat_differs: ({ differences }) => ({ code: 'chat_differs', fields: differences.map(({ path }) => path) }),
  no_answer: () => ({ code: 'no_answer', failure: null }),
  not_acknowledged: ({ ack, result: { event, status, sent, failure = null } }) => {
    if (!sent) return { code: 'not_sent', failure }
    if (status === null) return { code: 'no_answer', failure: failure?.code === 'timeout' ? null : failure }
    return ack === 'non-2xx' ? { code: 'accepted', event } : { code: 'answered', event, status }
  },
  driver_failed: ({ failure, status }) => ({ code: 'driver', failure, status }),
  step_failed: ({ failure }) => ({ code: 'step', failure }),
  stopped_at_step: ({ cause }) =>
    cause?.code === 'time_limit' ? { code: 'time_limit', limitMs: cause.limit_ms } : null,
  stopped: ({ cause }) => (cause.code === 'time_limit' ? { code: 'time_limit', limitMs: cause.limit_ms } : null),
  echoed: () => ({ code: 'echoed' }),
  leaked: () => ({ code: 'leaked' }),
  warning: ({ finding: { rule } }) => ({ code: 'warning', rule }),
}

const REASON_CAUSES: CauseTable<Reason> = {
  verb_missing: ({ verb, verbs }) => (verbs === null ? { code: 'no_driver' } : { code: 'verb_missing', verb }),
  need_missing: ({ verb, verbs }) => (verbs === null ? { code: 'no_driver' } : { code: 'verb_missing', verb }),
  env_unset: reason => reason,
}

/** The cause of the first failure, which is most likely that of the others; null where scenarios cannot share it. */
function causeOf({ failures: [first], reason }: Pick<ScenarioResult, 'failures' | 'reason'>): Cause | null {
  if (first !== undefined) return lookUp(CAUSES, first.happened)
  return reason === null ? null : lookUp(REASON_CAUSES, reason)
}

function lookUp<Of extends { readonly code: string }>(table: CauseTable<Of>, value: Of): Cause | null {
  const find: ((value: never) => Cause | null) | undefined = table[value.code as Of['code']]
  return find?.(value as never) ?? null
}

/** Of a cause, what its text may show although it varies; notes and failures keep their codes. */
const VARYING: ReadonlySet<string> = new Set(
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
export function describeCauses({ scenarios }: Pick<RunResult, 'scenarios'>): CauseReport[] {
  const all = scenarios.flatMap((scenario, index) => {
    const cause = scenario.outcome === 'pass' ? null : causeOf(scenario)
    return cause === null ? [] : [{ cause, index, hint: scenario.failures[0]?.hint }]
  })
  return [
    ...groupBy(all, ({ cause }) =>
      JSON.stringify(cause, (name, value: unknown) => (VARYING.has(name) ? null : value)),
    ).values(),
  ]
    .filter(group => group.length > 1)
    .sort((a, b) => b.length - a.length)
    .map(group => {
      const [{ cause, hint }] = group
      const isShared = hint !== undefined && group.every(other => other.hint?.code === hint.code)
      return {
        code: cause.code,
        text: renderCode(TEXTS, cause, 'scenario'),
        ...(isShared ? { hint: hintText(hint, 'scenario') } : {}),
        scenarios: group.map(({ index }) => index),
      }
    })
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

const fieldText = ({ path, note }: DifferingField): string =>
  `${path === '' ? 'the body' : path}${note === undefined ? '' : ` (${noteText(note)})`}`

function fieldsText(fields: readonly DifferingField[]): string {
  const more = fields.length - MAX_FIELDS
  return `${fields.slice(0, MAX_FIELDS).map(fieldText).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const TEXTS: TextsOf<Cause> = {
  no_call_at_all: 'the intermediary makes no call',
  target_unreachable: ({ failure }) => failureText(failure),
  not_called: ({ call }) => `\`${call}\` is not called`,
  not_matching({ call, obstacles, fields }) {
    const how = obstacles.flatMap(code => OBSTACLES[code] ?? [])
    const differing = fields.length === 0 ? [] : [`with another value of ${fieldsText(fields)}`]
    return `\`${call}\` is called ${[...how, ...differing].join(', ') || 'in another way'}`
  },
  repeated: ({ call, count }) => `\`${call}\` is called ${count === 2 ? timesText(count) : 'too often'}`,
  too_close: ({ call }) => `\`${call}\` is called again too soon`,
  unwanted: cause => `${called(cause)} is called where no step expects it`,
  late: cause => `${called(cause)} is called after the end of the scenario`,
  refused: ({ status, error, field, ...endpoint }) =>
    `the platform refuses ${called(endpoint)} with ${status}${error === null ? '' : ` ${error}`}${field === null ? '' : `: ${field}`}`,
  item_missing: 'the agent does not see what is sent',
  item_repeated: 'the agent sees something more often than it is sent',
  chat_differs: ({ fields }) => `the chat is in another state: ${fields.join(', ')}`,
  no_answer: ({ failure }) =>
    `the webhook does not answer${failure === null ? ' in time' : `: ${failureText(failure)}`}`,
  not_sent: ({ failure }) => `an event is not sent${failure === null ? '' : `: ${failureText(failure)}`}`,
  accepted: ({ event }) => `the webhook accepts ${event} where it must refuse it`,
  answered: ({ event, status }) => `the webhook answers ${status} to ${event}`,
  driver: ({ failure, status }) =>
    `the agent driver fails${failure === null ? (status === null ? '' : `: ${status}`) : `: ${driverFailureText(failure)}`}`,
  step: ({ failure }) => stepFailureText(failure),
  time_limit: ({ limitMs }) => `the scenario takes longer than ${formatDuration(limitMs)}`,
  echoed: "what the user writes comes back as the agent's message",
  leaked: 'what a user writes appears in another chat',
  warning: ({ rule }) => `warning ${rule}, which fails because of --strict`,
  no_driver: 'a step needs an agent driver, and there is none (--agent-driver FILE)',
  verb_missing: ({ verb }) => `the agent driver has no verb ${verb}`,
  env_unset: ({ name }) => `the environment variable ${name} is not set`,
} satisfies TextsOf<Cause>
