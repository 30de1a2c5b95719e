/** Evaluates `check`: met as soon as one observation of the chat has the expected state. */
import { isMap, keysOf } from '../../base/objects.ts'
import { causedBy, createFailure, type Difference, type FailureDetails } from '../finding.ts'
import type { ChatHistory } from '../history.ts'
import type { Check } from '../scenario/plan.ts'
import type { RunEventOf, TranscriptRow } from '../scenario/run-events.ts'
import { flow } from '../scenario/value-text.ts'
import { fieldsDiffer, nearMiss } from './claims.ts'
import { ABSENT, distanceOf, fits, type MatchOptions, match } from './match.ts'
import {
  type EvaluatedStep,
  type EvaluationContext,
  FAILED,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { differenceText, inChat } from './words.ts'

type Observed = RunEventOf<'observed'>

export class CheckEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  readonly #context: EvaluationContext
  readonly #startMs: number
  readonly #untilMs: number
  readonly #check: Check
  readonly #problem: string | null
  #last: Observed | null = null
  #differences: readonly Difference[] = []
  #state: 'open' | 'met' | 'failed'

  constructor(context: EvaluationContext, step: EvaluatedStep, check: Check) {
    this.step = step
    this.#context = context
    this.#startMs = context.windows.getStart(step).at_ms
    this.#untilMs = this.#startMs + context.index.settings.timeouts.expectMs
    const { value, problem } = context.fill(step, check)
    this.#check = value
    this.#problem = problem
    this.#state = problem === null ? 'open' : 'failed'
  }

  /** The first observation counts however long it took: it shows the chat as it was when the step began. */
  observe(event: Observed): void {
    if (this.#last !== null && event.at_ms > this.#untilMs) return
    this.#last = event
    this.consider()
  }

  consider(): void {
    if (this.#state !== 'open' || this.#last === null) return
    const { index, options } = this.#context
    const { transcript } = this.#check
    this.#differences = differencesIn(this.#check, this.#last, index.chatOf(this.step.conversation), options)
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
    const check = flow(this.#check, MAX_CHECK_CHARS)
    const expected = `check ${check}${inChat(this.#context.chatName(this.step.conversation))}`
    const rules = keysOf(RULES).flatMap(key => (this.#check[key] === undefined ? [] : [RULES[key]]))
    const differences = this.#differences
    const common = { expected, rules, details: { check } }
    if (this.#problem !== null)
      return createFailure('check', { ...common, code: 'unfillable', happened: this.#problem })
    if (this.#last === null)
      return createFailure('check', { ...common, code: 'chat_not_observed', happened: 'the chat was not observed' })
    if (differences.length === 0) {
      const happened =
        'the transcripts lost their oldest messages, so lacks and length cannot be checked; raise memoryLimit'
      return createFailure('evicted', { ...common, code: 'messages_evicted', happened })
    }
    const { seq, at_ms } = this.#last
    const afterMs = Math.round(at_ms - this.#startMs)
    const paths = differences.map(({ path }) => path)
    return createFailure('check', {
      ...common,
      code: 'chat_differs',
      happened: `the chat is not as expected: ${differences.map(differenceText).join('; ')}`,
      details: { check, differences },
      nearest: [
        nearMiss({ seq, what: 'the chat as it was last', afterMs, differences }, [fieldsDiffer(differences.length)]),
      ],
      entrySeqs: [seq],
      cause: causedBy('chat_differs', `the chat is in another state: ${paths.join(', ')}`, ...paths),
    })
  }
}

const MAX_CHECK_CHARS = 120

const RULES: Readonly<Record<keyof Check, string>> = {
  status: 'ST1',
  typing: 'E7',
  availability: 'ST5',
  events: 'EV',
  transcript: 'R-MSG',
}

function differencesIn(
  { status, typing, availability, events, transcript }: Check,
  observed: Observed,
  chat: ChatHistory | null,
  options: MatchOptions,
): Difference[] {
  const counted: Record<string, number> = {}
  for (const name in events)
    counted[name] = chat?.events.filter(event => event.entry !== null && event.name === name).length ?? 0
  const state = { ...observed, events: counted }
  const differences = match({ status, typing, availability, events }, state, options)
  const rows = observed.transcript ?? []
  const { last = [], contains = [], lacks = [], length } = transcript ?? {}
  // The transcript ends with these rows.
  for (const [at, row] of last.entries()) {
    const place = rows.length - last.length + at
    differences.push(...rowDifferences(`transcript.last[${at}]`, row, rows[place], options))
  }
  // It has these in this order, with others in between. The first missing row is compared with the most similar one.
  let from = 0
  for (const [at, row] of contains.entries()) {
    const rowAt = rows.findIndex((candidate, place) => place >= from && fits(row, candidate, options))
    if (rowAt < 0) {
      const similar = mostSimilarRow(row, rows.slice(from), options)
      differences.push(...rowDifferences(`transcript.contains[${at}]`, row, similar, options))
      break
    }
    from = rowAt + 1
  }
  for (const [at, row] of lacks.entries()) {
    const forbidden = rows.find(candidate => fits(row, candidate, options))
    if (forbidden !== undefined)
      differences.push({ path: `transcript.lacks[${at}]`, expected: flow({ $not: row }), received: flow(forbidden) })
  }
  if (length !== undefined)
    differences.push(...match({ transcript: { length } }, { transcript: { length: rows.length } }))
  return differences
}

/** The row of the same speaker that differs least, else the last one. */
function mostSimilarRow(
  expected: unknown,
  rows: readonly TranscriptRow[],
  options: MatchOptions,
): TranscriptRow | undefined {
  let best = rows.at(-1)
  let least = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (speakerOf(row) !== speakerOf(expected)) continue
    const distance = distanceOf(match(expected, row, options))
    if (distance >= least) continue
    best = row
    least = distance
  }
  return best
}

const speakerOf = (row: unknown) => ['user', 'bot', 'agent'].find(name => isMap(row) && name in row)

function rowDifferences(
  path: string,
  expected: unknown,
  row: TranscriptRow | undefined,
  options: MatchOptions,
): Difference[] {
  if (row === undefined) return [{ path, expected: flow(expected), received: ABSENT }]
  if (speakerOf(row) !== speakerOf(expected))
    return fits(expected, row, options) ? [] : [{ path, expected: flow(expected), received: flow(row) }]
  return match(expected, row, options).map(difference => ({
    ...difference,
    path: difference.path === '' ? path : `${path}.${difference.path}`,
  }))
}
