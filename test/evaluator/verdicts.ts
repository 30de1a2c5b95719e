/** Tables of evaluator tests: a scenario, what happens in its run, and the failures that the evaluator reports. */
import { expect, it } from 'vitest'
import type { Verdict } from '../../src/evaluation/evaluator/verdict.ts'
import type { InboxItem } from '../../src/evaluation/scenario/run-events.ts'
import { type CallMore, checked, type Delivered, type JournalBuilder } from '../scenario/journal-builder.ts'

/** Something that happens in a run: it adds entries to the journal, or lets time pass. */
export type Happening = (journal: JournalBuilder) => unknown

const all = (journal: JournalBuilder, happenings: readonly Happening[]) => {
  for (const happening of happenings) happening(journal)
}

/** Makes a function that returns a happening. */
const happening =
  <Args extends readonly unknown[]>(write: (journal: JournalBuilder, ...args: Args) => unknown) =>
  (...args: Args): Happening =>
  journal =>
    write(journal, ...args)

type Items = readonly (InboxItem | string)[]

export const pass = happening((journal, ms: number) => journal.pass(ms))

/** A call of the intermediary. */
export const call = happening((journal, endpoint: string | null, body: object = {}, more: CallMore = {}) =>
  journal.call(endpoint, body, more),
)

export const begin = happening((journal, number: number) => journal.begin(number))
export const end = happening((journal, number: number, details: object = {}) => journal.end(number, details))

/** A step from its start to its end, with what happens in it. */
export const step = happening((journal, number: number, ...during: readonly Happening[]) =>
  journal.step(number, () => all(journal, during)),
)

/** A step of the user with its event, and the answers of the webhook; null: no event was due. */
export const stimulus = happening((journal, number: number, event?: string | null, answers?: readonly Delivered[]) =>
  journal.stimulus(number, event, answers),
)

/** The user presses in step 1, and then these calls come in step 2. */
export const during = (...calls: readonly Happening[]): readonly Happening[] => [stimulus(1), step(2, ...calls)]

/** A step of the user; the calls come before its event is answered. */
export const answeredAfter = happening((journal, number: number, ...before: readonly Happening[]) => {
  journal.begin(number)
  const delivery_id = journal.event('REQUESTING TAKEOVER')
  all(journal, before)
  journal.delivery(delivery_id)
  journal.end(number, { delivery_id })
})

export const observe = happening((journal, number: number, seen: Parameters<JournalBuilder['observe']>[1] = {}) =>
  journal.observe(number, seen),
)

/** The agent's inbox is read outside of a step. */
export const inbox = happening((journal, ...items: Items) => journal.inbox(items))

/** A step that reads the inbox so often, and then lets `rest` milliseconds pass. */
export const reading = happening((journal, number: number, looks: readonly Items[], rest?: number) => {
  const cause = journal.begin(number)
  for (const items of looks) journal.inbox(items, cause)
  journal.pass(rest ?? 0)
  journal.end(number)
})

/** A step of the agent, with the answer of the agent driver. */
export const driven = happening((journal, number: number, verb: string, answer: object = {}, rest?: number) => {
  journal.driver(verb, answer, journal.begin(number))
  journal.pass(rest ?? 0)
  journal.end(number)
})

/** The end of the scenario: what follows is late. */
export const finish = happening((journal, details: object = {}) => journal.finish(details))

/** Fields of a failure, or what `happened` matches; patterns match texts, and `why` is the reason of the nearest call. */
type Failure = object | RegExp

interface MoreExpected {
  readonly outcome?: string
  readonly reason?: string | RegExp
  /** The outcome of every step. */
  readonly steps?: readonly string[]
  /** The calls that each step claims. */
  readonly claimed?: readonly (readonly number[])[]
  readonly captures?: object
  /** The rules of all warnings. */
  readonly warnings?: readonly string[]
}

/** Without failures the scenario passes. */
export type VerdictCase = readonly [
  scenario: object,
  happenings: readonly Happening[],
  failures?: 'pass' | Failure | readonly Failure[],
  more?: MoreExpected,
]

/** Defines a test for each case. */
export function testVerdicts(cases: Readonly<Record<string, VerdictCase>>): void {
  it.each(Object.entries(cases))('%s', async (_, [scenario, happenings, failures = 'pass', more = {}]) => {
    const verdict = await checked(scenario, journal => all(journal, happenings))
    expectVerdict(verdict, failures === 'pass' ? [] : [failures].flat(), more)
  })
}

function expectVerdict(verdict: Verdict, failures: readonly Failure[], more: MoreExpected): void {
  const received = verdict.failures.map(failure => ({ ...failure, why: failure.nearest[0]?.why }))
  const expected = failures.map(one => withPatterns(one instanceof RegExp ? { happened: one } : one))
  expect(received).toMatchObject(expected as object[])
  const { outcome = failures.length === 0 ? 'pass' : 'fail', steps, claimed, captures, reason, warnings } = more
  expect(verdict.outcome).toBe(outcome)
  if (reason !== undefined) expect(verdict.reason?.text ?? null).toEqual(withPatterns(reason))
  if (steps !== undefined) expect(verdict.steps.map(one => one.outcome)).toEqual(steps)
  if (claimed !== undefined) expect(verdict.steps.map(one => one.claimed.toSorted((a, b) => a - b))).toEqual(claimed)
  if (captures !== undefined) expect(verdict.captures).toEqual(captures)
  if (warnings !== undefined) expect(verdict.warnings.map(({ code }) => code)).toEqual(warnings)
}

function withPatterns(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value)
  if (Array.isArray(value)) return value.map(withPatterns)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withPatterns(one)]))
}
