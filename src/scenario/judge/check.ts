/** `check`: how the chat has to be, as soon as one observation of it holds. */
import { counted } from '../../text/counted.ts'
import type { Check } from '../action.ts'
import { fill, Unfillable } from '../fill.ts'
import type { MarkOf } from '../marks.ts'
import { type MatchOptions, match } from '../match/match.ts'
import { flow } from '../match/text.ts'
import type { PlannedStep } from '../plan.ts'
import type { Difference } from '../verdict.ts'
import { transcriptDifferences } from './transcript.ts'
import { type Bench, FAILED, MET, type Told, until, type Watch } from './watch.ts'
import { differenceText, inLane } from './words.ts'

type Observed = MarkOf<'observed'>

export interface CheckWatch extends Watch {
  observe(mark: Observed): void
}

export function watchCheck(bench: Bench, step: PlannedStep, written: Check): CheckWatch {
  const { facts, options } = bench
  const begun = facts.begun(step.number)!.at_ms
  const untilMs = begun + facts.plan.timeouts.expectMs
  let check: Check = written
  let last: Observed | null = null
  let differences: readonly Difference[] = []
  let decided: 'met' | 'failed' | null = null
  let broken: string | null = null

  try {
    check = fill(written, bench.scopeOf(step.number)) as Check
  } catch (error) {
    if (!(error instanceof Unfillable)) throw error
    broken = error.message
    decided = 'failed'
  }

  function consider(): void {
    if (decided !== null || last === null) return
    differences = differencesIn(check, last, facts.eventsOf(step.lane), options)
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
    failure(): Told {
      const many = facts.plan.lanes.length > 1
      const wanted = `check ${flow(check, 120)}${inLane(step.lane, many)}`
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
  (Object.keys(RULES) as (keyof Check)[]).filter(key => check[key] !== undefined).map(key => RULES[key])
