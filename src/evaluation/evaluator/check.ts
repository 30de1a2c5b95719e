/** Evaluates `check`: met as soon as one observation of the chat has the expected state. */
import { isMap, keysOf } from '../../base/objects.ts'
import { InterpolationError } from '../scenario/interpolation.ts'
import type { Check } from '../scenario/plan.ts'
import type { RunEventOf, TranscriptRow } from '../scenario/run-events.ts'
import { flow } from '../scenario/value-text.ts'
import { type Difference, distanceOf, fits, type MatchOptions, match } from './match.ts'
import {
  type EvaluatedStep,
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  failureDetails,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'

type Observed = RunEventOf<'observed'>

export class CheckEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  readonly #context: EvaluationContext
  readonly #startMs: number
  readonly #untilMs: number
  #check: Check
  #last: Observed | null = null
  #differences: readonly Difference[] = []
  #problem: string | null = null
  #state: 'open' | 'met' | 'failed' = 'open'

  /** `fill` fills in the values of `$(...)`, and throws `InterpolationError`. */
  constructor(context: EvaluationContext, step: EvaluatedStep, check: Check, fill: (check: Check) => Check) {
    this.step = step
    this.#context = context
    this.#startMs = context.windows.getStart(step).at_ms
    this.#untilMs = this.#startMs + context.index.settings.timeouts.expectMs
    this.#check = check
    try {
      this.#check = fill(check)
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      this.#problem = error.message
      this.#state = 'failed'
    }
  }

  observe(event: Observed): void {
    if (event.at_ms > this.#untilMs) return
    this.#last = event
    this.consider()
  }

  consider(): void {
    if (this.#state !== 'open' || this.#last === null) return
    const { index, options } = this.#context
    const { transcript } = this.#check
    this.#differences = differencesIn(this.#check, this.#last, index.eventsOf(this.step.conversation), options)
    if (this.#differences.length > 0) return
    // An evicted message may be the one that must not be there.
    const needsAll = transcript?.lacks !== undefined || transcript?.length !== undefined
    this.#state = index.lostMessages && needsAll ? 'failed' : 'met'
  }

  status(nowMs: number): StepStatus {
    if (this.#state !== 'open') return this.#state === 'met' ? MET : FAILED
    if (nowMs >= this.#untilMs) return FAILED
    const [difference = null] = this.#differences
    return { state: 'open', untilMs: this.#untilMs, awaited: { code: 'chat_state', difference } }
  }

  close(): void {}

  failure(): FailureDetails {
    const chat = this.#context.chatName(this.step.conversation)
    const expected = { code: 'chat_state', check: flow(this.#check, LONGEST_CHECK), chat } as const
    const rules = keysOf(RULES).flatMap(key => (this.#check[key] === undefined ? [] : [RULES[key]]))
    const differences = this.#differences
    if (this.#problem !== null)
      return failureDetails('check', expected, { code: 'unfillable', message: this.#problem }, { rules })
    if (this.#last === null) return failureDetails('check', expected, { code: 'chat_not_observed' }, { rules })
    if (differences.length === 0) return failureDetails('evicted', expected, { code: 'messages_evicted' }, { rules })
    const { seq, at_ms } = this.#last
    const afterMs = Math.round(at_ms - this.#startMs)
    const obstacles = [{ code: 'fields', count: differences.length }] as const
    const nearest = [{ seq, subject: { code: 'chat' }, afterMs, obstacles, differences }] as const
    return failureDetails(
      'check',
      expected,
      { code: 'chat_differs', differences },
      { rules, nearest, entrySeqs: [seq] },
    )
  }
}

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
