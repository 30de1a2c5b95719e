/**
 * Judges a play by its journal: a reducer over entries. Live it is shown them one by one and asked in between; later it
 * is shown them all. Both come to the same verdict.
 */
import type { Entry } from '../../journal/entry.ts'
import type { Verb } from '../action.ts'
import type { Scope } from '../fill.ts'
import type { MarkOf } from '../marks.ts'
import type { Plan, PlannedStep } from '../plan.ts'
import type { Look, Referee } from '../referee.ts'
import { stripToken } from '../tokens/token.ts'
import type { Verdict } from '../verdict.ts'
import { type CheckWatch, watchCheck } from './check.ts'
import { type ExpectWatch, watchExpect } from './expect.ts'
import { AVAILABILITY, createFacts, type LaneKey } from './facts.ts'
import { createInboxClaims } from './inbox.ts'
import { createLedger } from './ledger.ts'
import { watchNone } from './none.ts'
import { PASSED, type Ruling } from './ruling.ts'
import { createCaptures, scopeFor } from './scope.ts'
import { type SeesWatch, watchSees } from './sees.ts'
import { spareCalls } from './spare.ts'
import { brokenRuling, stimulusRuling } from './stimulus.ts'
import { verdictOf } from './verdict.ts'
import type { Bench, Watch } from './watch.ts'
import { createWindows } from './windows.ts'

/** Everything about one play that the verdict is made of. */
export interface Court extends Bench {
  readonly expects: ReadonlyMap<number, ExpectWatch>
  readonly sees: ReadonlyMap<number, SeesWatch>
  /** How a step stands; `over`: nothing more will come. */
  ruling(step: PlannedStep, over: boolean): Ruling
}

/** The whole journal at once. */
export function judge(plan: Plan, entries: readonly Entry[]): Verdict {
  const referee = createReferee(plan)
  for (const entry of entries) referee.see(entry)
  return referee.finish()
}

export const createReferee = (plan: Plan): Referee => openCourt(plan).referee

/** The same for a play that is made up as it goes. */
export interface OpenCourt {
  readonly court: Court
  readonly referee: Referee
  /** One more step; its mark comes after it. */
  grow(step: PlannedStep): void
}

export function openCourt(plan: Plan): OpenCourt {
  const facts = createFacts(plan)
  const captures = createCaptures()
  const claims = createInboxClaims()
  const watches = new Map<number, Watch>()
  const open = new Map<number, Watch>()
  const concluded = new Map<number, Look['state']>()
  const expects = new Map<number, ExpectWatch>()
  const checks = new Map<number, CheckWatch>()
  const sees = new Map<number, SeesWatch>()
  const court: Court = {
    facts,
    ledger: createLedger(),
    windows: createWindows(facts),
    captures,
    options: plan.tokens ? { clean: stripToken } : {},
    scopeOf,
    expects,
    sees,
    ruling,
  }

  function scopeOf(number: number): Scope {
    const step = facts.steps.get(number)
    return scopeFor(facts, captures, step?.lane ?? plan.lanes[0]?.name ?? '', step?.scope)
  }

  function begin(number: number): void {
    const step = facts.steps.get(number)
    const watch = step === undefined ? null : watchFor(step)
    if (watch === null) return
    watches.set(number, watch)
    open.set(number, watch)
    watch.consider()
  }

  function watchFor(step: PlannedStep): Watch | null {
    const { action, number } = step
    switch (action.verb) {
      case 'expect':
        return kept(expects, number, watchExpect(court, step, action.tree, action.withinMs))
      case 'none':
        return watchNone(court, step, action, call => spareCalls(court, step.lane).has(call))
      case 'check':
        return kept(checks, number, watchCheck(court, step, action.check))
      case 'sees':
        return kept(sees, number, watchSees(court, claims, step, action))
      default:
        return null
    }
  }

  function end({ step, at_ms }: MarkOf<'step_ended'>): void {
    const watch = open.get(step)
    if (watch === undefined) return
    concluded.set(step, watch.look(at_ms).state)
    watch.close()
    open.delete(step)
  }

  /** An open look at the end of a step is nobody's success. */
  function ruling(step: PlannedStep, over: boolean): Ruling {
    const watch = watches.get(step.number)
    if (watch === undefined) return stimulusRuling(facts, step, over)
    if (concluded.get(step.number) === 'met') return PASSED
    return brokenRuling(facts, step) ?? { outcome: 'fail', told: watch.failure() }
  }

  function see(entry: Entry): void {
    const call = facts.add(entry)
    if (call !== null) callCame(facts.laneOf(call))
    else if (entry.kind === 'note') markCame(entry as MarkOf<'step_started' | 'step_ended' | 'observed'>)
    else if (entry.kind === 'driver') consider(['sees'], facts.laneOfChat(entry.chat_id))
    else if (entry.kind === 'event') consider(['check'], facts.laneOfChat(entry.chat_id))
  }

  function markCame(mark: MarkOf<'step_started' | 'step_ended' | 'observed'>): void {
    if (mark.note === 'step_started') begin(mark.step)
    else if (mark.note === 'step_ended') end(mark)
    else if (mark.note === 'observed' && open.has(mark.step)) checks.get(mark.step)?.observe(mark)
  }

  /** Expectations first: what one of them claims is not unwanted. */
  function callCame(lane: LaneKey | null): void {
    consider(['expect'], lane)
    consider(['none'], lane)
  }

  function consider(verbs: readonly Verb[], lane: LaneKey | null): void {
    const steps = [...open.values()].filter(({ step }) => verbs.includes(step.action.verb))
    const concerned = steps.filter(({ step }) => lane === AVAILABILITY || lane === step.lane)
    for (const watch of concerned.sort((a, b) => a.step.number - b.step.number)) watch.consider()
  }

  const referee: Referee = {
    see,
    look: (step, nowMs) => open.get(step)?.look(nowMs) ?? { state: concluded.get(step) === 'met' ? 'met' : 'failed' },
    scopeOf,
    failed(number) {
      const step = facts.steps.get(number)
      if (step === undefined || facts.endOf(number) === null) return false
      return !['pass', 'open'].includes(ruling(step, false).outcome)
    },
    finish: () => verdictOf(court),
  }
  function grow(step: PlannedStep): void {
    facts.grow(step)
    court.windows.grow(step)
  }
  return { court, referee, grow }
}

function kept<W extends Watch>(watches: Map<number, W>, number: number, watch: W): W {
  watches.set(number, watch)
  return watch
}
