/** `check`: how the chat has to be, as soon as one observation of it holds. */
import { keysOf } from '../contract/objects.ts'
import type { Check } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf, TranscriptRow } from '../scenario/run-events.ts'
import { counted } from '../text/counted.ts'
import { distanceOf, fits, type MatchOptions, match } from './matching/match.ts'
import { flow } from './matching/value-text.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  MET,
  type StepEvaluator,
  until,
} from './step-evaluator.ts'
import type { Difference } from './verdict.ts'
import { differenceText, inConversation } from './wording.ts'

type Observed = RunEventOf<'observed'>

export interface CheckEvaluator extends StepEvaluator {
  observe(mark: Observed): void
}

export function evaluateCheck(context: EvaluationContext, step: PlannedStep, written: Check): CheckEvaluator {
  const { index, options } = context
  const begun = index.begun(step.number)!.at_ms
  const untilMs = begun + index.plan.timeouts.expectMs
  let check: Check = written
  let last: Observed | null = null
  let differences: readonly Difference[] = []
  let decided: 'met' | 'failed' | null = null
  let broken: string | null = null

  try {
    check = interpolate(written, context.scopeOf(step.number)) as Check
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    broken = error.message
    decided = 'failed'
  }

  function consider(): void {
    if (decided !== null || last === null) return
    differences = differencesIn(check, last, index.eventsOf(step.conversation), options)
    if (differences.length === 0) decided = 'met'
  }

  return {
    step,
    consider,
    observe(mark) {
      if (mark.at_ms > untilMs) return
      last = mark
      consider()
    },
    look: nowMs => {
      if (decided !== null) return decided === 'met' ? MET : FAILED
      return until(nowMs, untilMs, FAILED, differences[0] === undefined ? 'the chat' : differenceText(differences[0]))
    },
    close() {},
    failure(): FailureDetails {
      const many = index.plan.conversations.length > 1
      const wanted = `check ${flow(check, 120)}${inConversation(step.conversation, many)}`
      const common = { kind: 'check' as const, wanted, rules: rulesOf(check) }
      if (last === null) return { ...common, happened: broken ?? 'the chat was not looked at', nearest: [], marks: [] }
      const why = `${counted(differences.length, 'field')} differ${differences.length === 1 ? 's' : ''}`
      const what = 'the chat as it was last'
      const nearest = [{ seq: last.seq, what, afterMs: Math.round(last.at_ms - begun), why, differences }]
      return { ...common, happened: differences.map(differenceText).join('; '), nearest, marks: [last.seq] }
    },
  }
}

function differencesIn(
  { status, typing, availability, events, transcript }: Check,
  seen: Observed,
  counts: ReadonlyMap<string, number>,
  options: MatchOptions,
): Difference[] {
  const counted = events && Object.fromEntries(Object.keys(events).map(name => [name, counts.get(name) ?? 0]))
  const state = { status: seen.status, typing: seen.typing, availability: seen.availability, events: counted }
  return [
    ...match({ status, typing, availability, events }, state, options),
    ...(transcript === undefined ? [] : transcriptDifferences(transcript, seen.transcript ?? [], options)),
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
type Wanted = NonNullable<Check['transcript']>

function transcriptDifferences(wanted: Wanted, rows: Rows, options: MatchOptions): Difference[] {
  return [
    ...lastRows(wanted.last ?? [], rows, options),
    ...containedRows(wanted.contains ?? [], rows, options),
    ...(wanted.lacks ?? []).flatMap((row, at) => lackedRow(row, at, rows, options)),
    ...(wanted.length === undefined
      ? []
      : match({ transcript: { length: wanted.length } }, { transcript: { length: rows.length } })),
  ]
}

function lastRows(wanted: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  const ends = rows.slice(Math.max(0, rows.length - wanted.length))
  const missing = wanted.length - ends.length
  return wanted.flatMap((row, at) => under(`transcript.last[${at}]`, row, ends[at - missing], options))
}

/** In this order; others may stand between. The first that is not there is told beside the row most alike. */
function containedRows(wanted: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  let from = 0
  for (const [at, row] of wanted.entries()) {
    const found = rows.findIndex((one, place) => place >= from && fits(row, one, options))
    if (found < 0) return under(`transcript.contains[${at}]`, row, mostAlike(row, rows.slice(from), options), options)
    from = found + 1
  }
  return []
}

function mostAlike(wanted: unknown, rows: Rows, options: MatchOptions): TranscriptRow | undefined {
  const same = rows.filter(row => speakerOf(row) === speakerOf(wanted as object))
  const ranked = same.map(row => ({ row, far: distanceOf(match(wanted, row, options)) }))
  return ranked.sort((a, b) => a.far - b.far)[0]?.row ?? rows.at(-1)
}

const speakerOf = (row: object) => ['user', 'bot', 'agent'].find(name => name in row)

function lackedRow(row: unknown, at: number, rows: Rows, options: MatchOptions): Difference[] {
  const found = rows.find(one => fits(row, one, options))
  if (found === undefined) return []
  return [{ path: `transcript.lacks[${at}]`, expected: `no ${flow(row)}`, actual: flow(found) }]
}

function under(path: string, wanted: unknown, row: TranscriptRow | undefined, options: MatchOptions): Difference[] {
  if (row === undefined) return [{ path, expected: flow(wanted), actual: 'absent' }]
  const sameSpeaker = speakerOf(row) === speakerOf(wanted as object)
  if (!sameSpeaker) return fits(wanted, row, options) ? [] : [{ path, expected: flow(wanted), actual: flow(row) }]
  return match(wanted, row, options).map(one => ({ ...one, path: one.path === '' ? path : `${path}.${one.path}` }))
}
