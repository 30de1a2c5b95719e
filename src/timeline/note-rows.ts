/** Turns notes and steps into rows of a timeline. */

import type { Failure } from '../evaluator/verdict.ts'
import type { EntryOf, FaultEffect } from '../journal/entry.ts'
import type { EarlyEnd, StepFailure } from '../journal/run-failures.ts'
import { effectText } from '../wording/faults.ts'
import { earlyEndText, stepFailureText } from '../wording/run-failures.ts'
import { oneLine, quoted, type RowContent } from './row.ts'

/** Notes without a row: the call or the step that caused them has one. */
const REPEATED = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
  'chat_created',
  'conversation',
  'scenario_started',
  'steps_done',
])

export function noteRow(entry: EntryOf<'note'>): RowContent | null {
  const [user, player] = [
    { from: 'platform', to: 'user', kind: 'note', ok: true } as const,
    { from: 'player', to: 'player', kind: 'note', ok: true } as const,
  ]
  switch (entry.note) {
    case 'bot_message':
      return { ...user, label: `the bot says ${quoted(String(entry.text ?? ''))}` }
    case 'typing_hidden':
      return { ...user, label: `typing indicator hidden (${oneLine(entry.why, 40)})` }
    case 'chat_ended':
      return { ...user, label: `the chat ends (${oneLine(entry.why, 40)})` }
    case 'availability':
      return entry.by === 'api'
        ? null
        : { ...player, to: 'platform', label: `availability ${oneLine(entry.availability, 20)}` }
    case 'observed':
      return {
        ...player,
        label: `the chat: ${oneLine(entry.status, 20)}, ${entry.typing ? 'typing' : 'not typing'}, ${oneLine(entry.availability, 20)}`,
      }
    case 'config':
      return { ...player, to: 'platform', label: `settings ${oneLine(JSON.stringify(entry.changed ?? {}))}` }
    case 'fault_set':
      return {
        ...player,
        to: 'platform',
        label: `fault ${oneLine(entry.fault, 40)} set: ${oneLine(effectText(entry.effect as FaultEffect))}`,
      }
    case 'fault_cleared':
      return { ...player, to: 'platform', label: `fault ${oneLine(entry.fault, 40)} cleared` }
    case 'scenario_ended':
      return entry.stopped === undefined
        ? null
        : { ...player, label: `stopped: ${oneLine(earlyEndText(entry.stopped as EarlyEnd))}`, ok: false }
    case 'evicted':
      return { ...player, label: oneLine(entry.message), ok: false }
    default:
      return REPEATED.has(entry.note) ? null : { ...player, label: oneLine(entry.note) }
  }
}

export const stepStartedRow = (entry: EntryOf<'note'>): RowContent => ({
  from: 'player',
  to: 'player',
  kind: 'step',
  label: `step ${entry.step}: ${oneLine(entry.label)}`,
  ok: true,
})

const WAITS = new Set(['expect', 'sees', 'check'])

/** The end of a step that failed; null when it passed. */
export function stepEndedRow(entry: EntryOf<'note'>, failure: Failure | undefined): RowContent | null {
  const error = entry.failure === undefined ? '' : `: ${oneLine(stepFailureText(entry.failure as StepFailure))}`
  if (failure === undefined && error === '') return null
  const verb = failure !== undefined && WAITS.has(failure.kind) ? 'gives up' : 'fails'
  return { from: 'player', to: 'player', kind: 'step', label: `step ${entry.step} ${verb}${error}`, ok: false }
}
