/** Counts what the checks of a certificate exercised, from their journals: endpoints, events, signatures, faults. */

import { keysOf } from '../../base/objects.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { EFFECTS_BY_SIDE } from '../../platform/faults/schema.ts'
import type { Side } from '../../platform/faults/sides.ts'
import type { Entry } from '../../platform/journal/entry.ts'

export const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'lost'] as const
/** lost: there was no answer. */
export type AnswerClass = (typeof ANSWER_CLASSES)[number]

export interface AnswerCounts {
  readonly name: string
  readonly answers: Record<AnswerClass, number>
}

export interface FaultCount {
  readonly side: Side
  readonly effect: string
  hits: number
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
  const endpoints = new Map<string, AnswerCounts>()
  const events = new Map<string, AnswerCounts>()
  const signatures: Record<string, number> = {}
  const faults: FaultCount[] = []
  for (const name of keysOf(ENDPOINTS)) endpoints.set(name, noAnswers(name))
  for (const name of keysOf(WEBHOOK_EVENTS)) events.set(name, noAnswers(name))
  for (const mode of SIGN_MODES) signatures[mode] = 0
  for (const side of ['api', 'webhook'] as const)
    for (const effect of EFFECTS_BY_SIDE[side]) faults.push({ side, effect, hits: 0 })

  for (const entry of journals.flat()) {
    if (entry.kind === 'api') {
      const answer = entry.answer_lost === undefined ? classOf(entry.status) : 'lost'
      count(endpoints, entry.endpoint ?? 'unknown', answer)
    } else if (entry.kind === 'delivery' && entry.outcome !== 'skipped') {
      count(events, entry.event, entry.status === null ? 'lost' : classOf(entry.status))
      if (entry.sign !== undefined) signatures[entry.sign] = (signatures[entry.sign] ?? 0) + 1
    } else if (entry.kind === 'fault') {
      // It has an endpoint when it changed a call, and an event when it changed a delivery.
      const side = entry.endpoint === undefined ? 'webhook' : 'api'
      for (const fault of faults) if (fault.side === side && Object.hasOwn(entry.effect, fault.effect)) fault.hits++
    }
  }
  return {
    endpoints: othersSorted(endpoints, keysOf(ENDPOINTS).length),
    events: othersSorted(events, keysOf(WEBHOOK_EVENTS).length),
    signatures: SIGN_MODES.map(mode => ({ mode, events: signatures[mode] ?? 0 })),
    faults,
  }
}

const noAnswers = (name: string): AnswerCounts => ({
  name,
  answers: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, lost: 0 },
})

function count(rows: Map<string, AnswerCounts>, name: string, answer: AnswerClass): void {
  const row = rows.get(name) ?? noAnswers(name)
  row.answers[answer]++
  rows.set(name, row)
}

/** The rows of the platform in its order, and then the others by name. */
function othersSorted(rows: ReadonlyMap<string, AnswerCounts>, ofPlatform: number): AnswerCounts[] {
  const all = [...rows.values()]
  const otherKnobs = all.splice(ofPlatform)
  return [...all, ...otherKnobs.sort((a, b) => (a.name < b.name ? -1 : 1))]
}

/** Status 0 means that a fault prevented the answer. */
function classOf(status: number): AnswerClass {
  if (status >= 500) return '5xx'
  if (status >= 400) return '4xx'
  if (status >= 300) return '3xx'
  return status === 0 ? 'lost' : '2xx'
}

/** How many rows were exercised, of how many that the platform has. */
export function exercisedIn({ endpoints, events, faults }: Coverage) {
  const answered = (rows: readonly AnswerCounts[], of: number) => {
    let exercised = 0
    for (const { answers } of rows.slice(0, of)) if (ANSWER_CLASSES.some(name => answers[name] > 0)) exercised++
    return { of, count: exercised }
  }
  return {
    endpoints: answered(endpoints, keysOf(ENDPOINTS).length),
    events: answered(events, keysOf(WEBHOOK_EVENTS).length),
    faults: { of: faults.length, count: faults.filter(({ hits }) => hits > 0).length },
  }
}
