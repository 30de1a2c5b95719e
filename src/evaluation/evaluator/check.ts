/** Evaluates `check`: met as soon as one observation of the chat has the expected state. */
import { isMap, keysOf } from '../../base/objects.ts'
import { interpolate } from '../scenario/interpolation.ts'
import type { Check, PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf, TranscriptRow } from '../scenario/run-events.ts'
import { flow } from '../scenario/value-text.ts'
import type { JournalIndex } from './journal-index.ts'
import { type Difference, distanceOf, fits, type MatchOptions, match } from './match.ts'
import { chatIn } from './references.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  failureDetails,
  interpolationProblem,
  MET,
  openUntil,
  type StepEvaluator,
} from './step-evaluator.ts'

type Observed = RunEventOf<'observed'>

export interface CheckEvaluator extends StepEvaluator {
  observe(event: Observed): void
}

export function evaluateCheck(context: EvaluationContext, step: PlannedStep, written: Check): CheckEvaluator {
  const { index, options } = context
  const begun = index.startOf(step.number).at_ms
  const untilMs = begun + index.plan.timeouts.expectMs
  let check: Check = written
  let last: Observed | null = null
  let differences: readonly Difference[] = []
  let decided: 'met' | 'failed' | null = null
  const unfillable = interpolationProblem(() => {
    check = interpolate(written, context.scopeOf(step.number)) as Check
  })
  if (unfillable !== null) decided = 'failed'

  function consider(): void {
    if (decided !== null || last === null) return
    differences = differencesIn(check, last, index.eventsOf(step.conversation), options)
    if (differences.length === 0) decided = isCertain(check, index) ? 'met' : 'failed'
  }

  return {
    step,
    consider,
    observe(event) {
      if (event.at_ms > untilMs) return
      last = event
      consider()
    },
    status: nowMs => {
      if (decided !== null) return decided === 'met' ? MET : FAILED
      return openUntil(nowMs, untilMs, FAILED, { code: 'chat_state', difference: differences[0] ?? null })
    },
    close() {},
    failure(): FailureDetails {
      const chat = chatIn(index.plan, step.conversation)
      const expected = { code: 'chat_state', check: flow(check, LONGEST_CHECK), chat } as const
      const rules = rulesOf(check)
      if (last === null)
        return failureDetails(
          'check',
          expected,
          unfillable === null ? { code: 'chat_not_observed' } : { code: 'unfillable', message: unfillable },
          { rules },
        )
      if (differences.length === 0) return failureDetails('evicted', expected, { code: 'messages_evicted' }, { rules })
      const afterMs = Math.round(last.at_ms - begun)
      const obstacles = [{ code: 'fields', count: differences.length }] as const
      const nearest = [{ seq: last.seq, subject: { code: 'chat' }, afterMs, obstacles, differences }] as const
      const more = { rules, nearest, entrySeqs: [last.seq] }
      return failureDetails('check', expected, { code: 'chat_differs', differences }, more)
    },
  }
}

/** An evicted message may be the one that must not be there. */
const isCertain = ({ transcript }: Check, { lostMessages }: JournalIndex): boolean =>
  !lostMessages || (transcript?.lacks === undefined && transcript?.length === undefined)

const LONGEST_CHECK = 120

function differencesIn(
  { status, typing, availability, events, transcript }: Check,
  observed: Observed,
  counts: ReadonlyMap<string, number>,
  options: MatchOptions,
): Difference[] {
  const counted = events && Object.fromEntries(Object.keys(events).map(name => [name, counts.get(name) ?? 0]))
  const state = {
    status: observed.status,
    typing: observed.typing,
    availability: observed.availability,
    events: counted,
  }
  return [
    ...match({ status, typing, availability, events }, state, options),
    ...(transcript === undefined ? [] : transcriptDifferences(transcript, observed.transcript ?? [], options)),
  ]
}

const RULES: Readonly<Record<keyof Check, string>> = {
  status: 'ST1',
  typing: 'E7',
  availability: 'ST5',
  events: 'EV',
  transcript: 'R-MSG',
}

const rulesOf = (check: Check): string[] =>
  keysOf(RULES)
    .filter(key => check[key] !== undefined)
    .map(key => RULES[key])

type Rows = readonly TranscriptRow[]
type ExpectedRows = NonNullable<Check['transcript']>

function transcriptDifferences(expected: ExpectedRows, rows: Rows, options: MatchOptions): Difference[] {
  return [
    ...lastRows(expected.last ?? [], rows, options),
    ...containedRows(expected.contains ?? [], rows, options),
    ...(expected.lacks ?? []).flatMap((row, at) => {
      const found = rows.find(one => fits(row, one, options))
      if (found === undefined) return []
      return [{ path: `transcript.lacks[${at}]`, expected: flow({ $not: row }), received: flow(found) }]
    }),
    ...(expected.length === undefined
      ? []
      : match({ transcript: { length: expected.length } }, { transcript: { length: rows.length } })),
  ]
}

function lastRows(expected: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  const ends = rows.slice(Math.max(0, rows.length - expected.length))
  const missing = expected.length - ends.length
  return expected.flatMap((row, at) => under(`transcript.last[${at}]`, row, ends[at - missing], options))
}

/** In this order, with others in between. The first missing row is compared with the row most similar to it. */
function containedRows(expected: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  let from = 0
  for (const [at, row] of expected.entries()) {
    const found = rows.findIndex((one, place) => place >= from && fits(row, one, options))
    if (found < 0) return under(`transcript.contains[${at}]`, row, mostSimilar(row, rows.slice(from), options), options)
    from = found + 1
  }
  return []
}

function mostSimilar(expected: unknown, rows: Rows, options: MatchOptions): TranscriptRow | undefined {
  const same = rows.filter(row => speakerOf(row) === speakerOf(expected))
  const ranked = same.map(row => ({ row, far: distanceOf(match(expected, row, options)) }))
  return ranked.sort((a, b) => a.far - b.far)[0]?.row ?? rows.at(-1)
}

const speakerOf = (row: unknown) => ['user', 'bot', 'agent'].find(name => isMap(row) && name in row)

function under(path: string, expected: unknown, row: TranscriptRow | undefined, options: MatchOptions): Difference[] {
  if (row === undefined) return [{ path, expected: flow(expected), received: null }]
  const sameSpeaker = speakerOf(row) === speakerOf(expected)
  if (!sameSpeaker) return fits(expected, row, options) ? [] : [{ path, expected: flow(expected), received: flow(row) }]
  return match(expected, row, options).map(one => ({ ...one, path: one.path === '' ? path : `${path}.${one.path}` }))
}
