/** Notes and steps in a timeline. */

import type { Failure } from '../evaluator/verdict.ts'
import type { EntryOf, FaultEffect } from '../journal/entry.ts'
import type { EarlyEnd, StepFailure } from '../journal/run-failures.ts'
import { effectText } from '../wording/faults.ts'
import { earlyEndText, stepFailureText } from '../wording/run-failures.ts'
import { line, type Seen, said } from './row.ts'

/** Said by the call or the step that caused them. */
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

export function seenNote(entry: EntryOf<'note'>): Seen | null {
  const [user, player] = [
    { from: 'platform', to: 'user', kind: 'note', ok: true } as const,
    { from: 'player', to: 'player', kind: 'note', ok: true } as const,
  ]
  switch (entry.note) {
    case 'bot_message':
      return { ...user, label: `the bot says ${said(String(entry.text ?? ''))}` }
    case 'typing_hidden':
      return { ...user, label: `typing indicator hidden (${line(entry.why, 40)})` }
    case 'chat_ended':
      return { ...user, label: `the chat ends (${line(entry.why, 40)})` }
    case 'availability':
      return entry.by === 'api'
        ? null
        : { ...player, to: 'platform', label: `availability ${line(entry.availability, 20)}` }
    case 'observed':
      return {
        ...player,
        label: `the chat: ${line(entry.status, 20)}, ${entry.typing ? 'typing' : 'not typing'}, ${line(entry.availability, 20)}`,
      }
    case 'config':
      return { ...player, to: 'platform', label: `settings ${line(JSON.stringify(entry.changed ?? {}))}` }
    case 'fault_set':
      return {
        ...player,
        to: 'platform',
        label: `fault ${line(entry.fault, 40)} set: ${line(effectText(entry.effect as FaultEffect))}`,
      }
    case 'fault_cleared':
      return { ...player, to: 'platform', label: `fault ${line(entry.fault, 40)} cleared` }
    case 'scenario_ended':
      return entry.stopped === undefined
        ? null
        : { ...player, label: `stopped: ${line(earlyEndText(entry.stopped as EarlyEnd))}`, ok: false }
    case 'evicted':
      return { ...player, label: line(entry.message), ok: false }
    default:
      return REPEATED.has(entry.note) ? null : { ...player, label: line(entry.note) }
  }
}

export const startedStep = (entry: EntryOf<'note'>): Seen => ({
  from: 'player',
  to: 'player',
  kind: 'step',
  label: `step ${entry.step}: ${line(entry.label)}`,
  ok: true,
})

const WAITS = new Set(['expect', 'sees', 'check'])

/** Only failed steps are worth saying that they ended. */
export function endedStep(entry: EntryOf<'note'>, failure: Failure | undefined): Seen | null {
  const error = entry.failure === undefined ? '' : `: ${line(stepFailureText(entry.failure as StepFailure))}`
  if (failure === undefined && error === '') return null
  const verb = failure !== undefined && WAITS.has(failure.kind) ? 'gives up' : 'fails'
  return { from: 'player', to: 'player', kind: 'step', label: `step ${entry.step} ${verb}${error}`, ok: false }
}
