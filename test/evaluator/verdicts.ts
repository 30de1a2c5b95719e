/** Tables of evaluator tests: a scenario, what happens in its run, and the failures that the evaluator reports. */
import { expect, it } from 'vitest'
import type { VerdictReport } from '../../src/evaluation/evaluator/wording/report.ts'
import type { InboxItem } from '../../src/evaluation/scenario/run-events.ts'
import { type CallMore, checked, type Delivered, type JournalBuilder } from '../scenario/journal-builder.ts'

/** Something that happens in a run: it adds entries to the journal, or lets time pass. */
export type Happening = (journal: JournalBuilder) => unknown

const all = (journal: JournalBuilder, happenings: readonly Happening[]) => {
  for (const happening of happenings) happening(journal)
}

export const pass =
  (ms: number): Happening =>
  journal =>
    journal.pass(ms)

/** A call of the intermediary. */
export const call =
  (endpoint: string | null, body: object = {}, more: CallMore = {}): Happening =>
  journal =>
    journal.call(endpoint, body, more)

export const begin =
  (number: number): Happening =>
  journal =>
    journal.begin(number)

export const end =
  (number: number, details: object = {}): Happening =>
  journal =>
    journal.end(number, details)

/** A step from its start to its end, with what happens in it. */
export const step =
  (number: number, ...during: readonly Happening[]): Happening =>
  journal =>
    journal.step(number, () => all(journal, during))

/** A step of the user with its event, and the answers of the webhook; null: no event was due. */
export const stimulus =
  (number: number, event?: string | null, answers?: readonly Delivered[]): Happening =>
  journal =>
    journal.stimulus(number, event, answers)

/** A step of the user; the calls come before its event is answered. */
export const answeredAfter =
  (number: number, ...before: readonly Happening[]): Happening =>
  journal => {
    journal.begin(number)
    const delivery_id = journal.event('REQUESTING TAKEOVER')
    all(journal, before)
    journal.delivery(delivery_id)
    journal.end(number, { delivery_id })
  }

export const observe =
  (number: number, seen: Parameters<JournalBuilder['observe']>[1] = {}): Happening =>
  journal =>
    journal.observe(number, seen)

/** The agent's inbox is read outside of a step. */
export const inbox =
  (...items: readonly (InboxItem | string)[]): Happening =>
  journal =>
    journal.inbox(items)

/** A step that reads the inbox so often, and then lets `rest` milliseconds pass. */
export const reading =
  (number: number, looks: readonly (readonly (InboxItem | string)[])[], rest = 0): Happening =>
  journal => {
    const cause = journal.begin(number)
    for (const items of looks) journal.inbox(items, cause)
    journal.pass(rest)
    journal.end(number)
  }

/** A step of the agent, with the answer of the agent driver. */
export const driven =
  (number: number, verb: string, answer: object = {}, rest = 0): Happening =>
  journal => {
    journal.driver(verb, answer, journal.begin(number))
    journal.pass(rest)
    journal.end(number)
  }

/** The end of the scenario: what follows is late. */
export const finish =
  (details: object = {}): Happening =>
  journal =>
    journal.finish(details)

/** Patterns match texts, and `why` the reason of the nearest call or item. */
type ExpectedFailure = object

/** `pass`, or the failures in their order. */
type Failures = 'pass' | readonly ExpectedFailure[]

interface MoreExpected {
  readonly outcome?: string
  readonly reason?: string | RegExp
  /** The outcome of every step. */
  readonly steps?: readonly string[]
  /** The calls that each step claims. */
  readonly claimed?: readonly (readonly number[])[]
  readonly captures?: object
  /** A warning that the verdict has. */
  readonly warning?: string
  /** A warning that the verdict has not. */
  readonly noWarning?: string
}

export type VerdictCase = readonly [
  scenario: object,
  happenings: readonly Happening[],
  failures: Failures,
  more?: MoreExpected,
]

export const verdictOf = (scenario: object, happenings: readonly Happening[]): Promise<VerdictReport> =>
  checked(scenario, journal => all(journal, happenings))

/** Defines a test for each case. */
export function testVerdicts(cases: Readonly<Record<string, VerdictCase>>): void {
  it.each(Object.entries(cases))('%s', async (_, [scenario, happenings, failures, more = {}]) => {
    expectVerdict(await verdictOf(scenario, happenings), failures, more)
  })
}

function expectVerdict(verdict: VerdictReport, failures: Failures, more: MoreExpected): void {
  const expected = failures === 'pass' ? [] : failures
  const received = verdict.failures.map(failure => ({ ...failure, why: failure.nearest[0]?.why }))
  expect(received).toMatchObject(expected.map(withPatterns) as object[])
  const { outcome = expected.length === 0 ? 'pass' : 'fail', steps, claimed, captures, reason, warning } = more
  expect(verdict.outcome).toBe(outcome)
  if (reason !== undefined) expect(verdict.reason).toEqual(withPatterns(reason))
  if (steps !== undefined) expect(verdict.steps.map(one => one.outcome)).toEqual(steps)
  if (claimed !== undefined) expect(verdict.steps.map(one => one.claimed.toSorted((a, b) => a - b))).toEqual(claimed)
  if (captures !== undefined) expect(verdict.captures).toEqual(captures)
  const rules = verdict.warnings.map(({ rule }) => rule)
  if (warning !== undefined) expect(rules).toContain(warning)
  if (more.noWarning !== undefined) expect(rules).not.toContain(more.noWarning)
}

function withPatterns(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value)
  if (Array.isArray(value)) return value.map(withPatterns)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withPatterns(one)]))
}
