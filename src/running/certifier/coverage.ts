/** Counts what the checks of a certificate exercised, from their journals: endpoints, events, signatures, faults. */

import { groupBy, keysOf } from '../../base/objects.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { EFFECTS_BY_SIDE } from '../../platform/faults/schema.ts'
import type { Side } from '../../platform/faults/sides.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'

export const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'lost'] as const
/** lost: there was no answer. */
export type AnswerClass = (typeof ANSWER_CLASSES)[number]

export interface AnswerCounts {
  readonly name: string
  readonly answers: Readonly<Record<AnswerClass, number>>
}

export interface FaultCount {
  readonly side: Side
  readonly effect: string
  readonly hits: number
}

/** Every endpoint, event and fault is listed, also with zeros. */
export interface Coverage {
  /** Calls by endpoint and answer. `unknown` is the last one, where there were such calls. */
  readonly endpoints: readonly AnswerCounts[]
  /** Attempts to deliver by event and answer. Events that the platform does not have come last. */
  readonly events: readonly AnswerCounts[]
  /** Events that a check sent itself, by the way they were signed. */
  readonly signatures: readonly { readonly mode: string; readonly events: number }[]
  readonly faults: readonly FaultCount[]
}

/** Of the journals of all checks. */
export function coverageOf(journals: readonly (readonly Entry[])[]): Coverage {
  const entries = journals.flat()
  const calls = ofKind(entries, 'api')
  const deliveries = ofKind(entries, 'delivery').filter(({ outcome }) => outcome !== 'skipped')
  return {
    endpoints: countAnswers(calls.map(callAnswer), keysOf(ENDPOINTS)),
    events: countAnswers(deliveries.map(eventAnswer), keysOf(WEBHOOK_EVENTS)),
    signatures: SIGN_MODES.map(mode => ({ mode, events: deliveries.filter(({ sign }) => sign === mode).length })),
    faults: countFaults(ofKind(entries, 'fault')),
  }
}

function ofKind<Kind extends Entry['kind']>(entries: readonly Entry[], kind: Kind): EntryOf<Kind>[] {
  return entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind)
}

interface Answer {
  readonly name: string
  readonly answer: AnswerClass
}

const callAnswer = ({ endpoint, status, answer_lost }: EntryOf<'api'>): Answer => ({
  name: endpoint ?? 'unknown',
  answer: answer_lost === undefined ? classOf(status) : 'lost',
})

const eventAnswer = ({ event, status }: EntryOf<'delivery'>): Answer => ({
  name: event,
  answer: status === null ? 'lost' : classOf(status),
})

/** Status 0 means that a fault prevented the answer. */
function classOf(status: number): AnswerClass {
  if (status >= 500) return '5xx'
  if (status >= 400) return '4xx'
  if (status >= 300) return '3xx'
  return status === 0 ? 'lost' : '2xx'
}

function countAnswers(answers: readonly Answer[], known: readonly string[]): AnswerCounts[] {
  const byName = groupBy(answers, ({ name }) => name)
  const others = [...byName.keys()].filter(name => !known.includes(name)).sort()
  return [...known, ...others].map(name => ({ name, answers: countClasses(byName.get(name) ?? []) }))
}

function countClasses(answers: readonly Answer[]): Record<AnswerClass, number> {
  const counts = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, lost: 0 }
  for (const { answer } of answers) counts[answer]++
  return counts
}

/** A fault entry has an endpoint when it changed a call, and an event when it changed a delivery. */
function countFaults(hits: readonly EntryOf<'fault'>[]): FaultCount[] {
  const isOn = (side: Side, { endpoint }: EntryOf<'fault'>) => (side === 'api') === (endpoint !== undefined)
  return (['api', 'webhook'] as const).flatMap(side =>
    EFFECTS_BY_SIDE[side].map(effect => ({
      side,
      effect,
      hits: hits.filter(hit => isOn(side, hit) && Object.hasOwn(hit.effect, effect)).length,
    })),
  )
}

/** How many rows were exercised, of how many. */
export function exercisedIn({ endpoints, events, faults }: Coverage) {
  const isSeen = ({ answers }: AnswerCounts) => ANSWER_CLASSES.some(name => answers[name] > 0)
  const ratio = <Row>(rows: readonly Row[], isExercised: (row: Row) => boolean) => ({
    of: rows.length,
    count: rows.filter(isExercised).length,
  })
  const known = { endpoints: keysOf(ENDPOINTS).length, events: keysOf(WEBHOOK_EVENTS).length }
  return {
    endpoints: ratio(endpoints.slice(0, known.endpoints), isSeen),
    events: ratio(events.slice(0, known.events), isSeen),
    faults: ratio(faults, ({ hits }) => hits > 0),
  }
}
