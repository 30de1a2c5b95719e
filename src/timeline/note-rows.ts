/** Turns notes and steps into rows of a timeline. */

import type { Failure } from '../evaluator/failure.ts'
import type { EntryOf } from '../journal/entry.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { defineTexts } from '../text/texts.ts'
import { effectText } from '../wording/faults.ts'
import { earlyEndText, stepFailureText } from '../wording/run-failures.ts'
import { oneLine, quoted, type RowContent } from './row.ts'

const TEXTS = defineTexts({
  botSays: (text: string) => `the bot says ${text}`,
  typingHidden: (why: string) => `typing indicator hidden (${why})`,
  chatEnds: (why: string) => `the chat ends (${why})`,
  availability: (value: string) => `availability ${value}`,
  observed: (status: string, typing: boolean, availability: string) =>
    `the chat: ${status}, ${typing ? 'typing' : 'not typing'}, ${availability}`,
  settings: (changed: string) => `settings ${changed}`,
  faultSet: (name: string, effect: string) => `fault ${name} set: ${effect}`,
  faultCleared: (name: string) => `fault ${name} cleared`,
  stopped: (why: string) => `stopped: ${why}`,
  stepStarted: (step: string, label: string) => `step ${step}: ${label}`,
  stepGivesUp: (step: string, error: string) => `step ${step} gives up${error}`,
  stepFails: (step: string, error: string) => `step ${step} fails${error}`,
})

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
      return { ...user, label: TEXTS.botSays(quoted(entry.text)) }
    case 'typing_hidden':
      return { ...user, label: TEXTS.typingHidden(oneLine(entry.why, 40)) }
    case 'chat_ended':
      return { ...user, label: TEXTS.chatEnds(oneLine(entry.why, 40)) }
    case 'availability':
      return entry.by === 'api'
        ? null
        : { ...player, to: 'platform', label: TEXTS.availability(oneLine(entry.availability, 20)) }
    case 'observed':
      return {
        ...player,
        label: TEXTS.observed(oneLine(entry.status, 20), Boolean(entry.typing), oneLine(entry.availability, 20)),
      }
    case 'config':
      return { ...player, to: 'platform', label: TEXTS.settings(oneLine(JSON.stringify(entry.changed ?? {}))) }
    case 'fault_set':
      return {
        ...player,
        to: 'platform',
        label: TEXTS.faultSet(oneLine(entry.fault, 40), oneLine(effectText(entry.effect))),
      }
    case 'fault_cleared':
      return { ...player, to: 'platform', label: TEXTS.faultCleared(oneLine(entry.fault, 40)) }
    case 'scenario_ended':
      return isRunEvent(entry, 'scenario_ended') && entry.stopped !== undefined
        ? { ...player, label: TEXTS.stopped(oneLine(earlyEndText(entry.stopped))), ok: false }
        : null
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
  label: TEXTS.stepStarted(String(entry.step), oneLine(entry.label)),
  ok: true,
})

const WAITS = new Set(['expect', 'sees', 'check'])

/** The end of a step that failed; null when it passed. */
export function stepEndedRow(entry: EntryOf<'note'>, failure: Pick<Failure, 'kind'> | undefined): RowContent | null {
  const cause = isRunEvent(entry, 'step_ended') ? entry.failure : undefined
  const error = cause === undefined ? '' : `: ${oneLine(stepFailureText(cause))}`
  if (failure === undefined && error === '') return null
  const textOf = failure !== undefined && WAITS.has(failure.kind) ? TEXTS.stepGivesUp : TEXTS.stepFails
  return { from: 'player', to: 'player', kind: 'step', label: textOf(String(entry.step), error), ok: false }
}
