/** What the agent sees: inbox items, new in the turn, each claimed once. */
import { describe, expect, it } from 'vitest'
import type { VerdictReport } from '../../src/evaluation/evaluator/wording/report.ts'
import { checked, type JournalBuilder } from '../scenario/journal-builder.ts'

const first = ({ failures }: VerdictReport) => failures[0]!
const sees = (item: unknown, more: object = {}) => ({ steps: [{ user: 'Hello' }, { agent: { sees: item, ...more } }] })

/** A run of two steps: the inbox before the turn, and the observations in the step. */
const play = (scenario: object, before: string[], looks: readonly (readonly object[] | string[])[], rest = 0) =>
  checked(scenario, journal => {
    journal.inbox(before)
    journal.stimulus(1, 'MESSAGE FROM USER')
    looked(journal, 2, looks, rest)
  })

function looked(journal: JournalBuilder, step: number, looks: readonly (readonly (object | string)[])[], rest: number) {
  const cause = journal.begin(step)
  for (const items of looks) journal.inbox(items as string[], cause)
  journal.pass(rest)
  journal.end(step)
}

it('sees passes when the item arrives', async () => {
  expect((await play(sees('Hello'), [], [[], ['Hello']])).outcome).toBe('pass')
})

it('an item from before the turn does not count', async () => {
  const verdict = await play(sees('Hello'), ['Hello'], [['Hello']], 5000)
  expect(first(verdict)).toMatchObject({
    kind: 'sees',
    expected: 'agent sees "Hello" exactly once within 5s',
    happened: 'the agent did not see "Hello" within 5s: the inbox has no new item',
  })
  expect(first(verdict).nearest[0]).toMatchObject({ what: 'inbox item 1 "Hello"', why: 'in the inbox before the turn' })
})

it('a failure shows the most similar new item', async () => {
  const verdict = await play(sees('Hello'), [], [['hello', 'Bye']], 5000)
  expect(first(verdict).happened).toBe(
    'the agent did not see "Hello" within 5s: nearest: inbox item 1: text: expected "Hello", received "hello" (only upper and lower case differ)',
  )
})

it('sees matches files and requests', async () => {
  const item = { text: 'Hello', attachments: [{ name: 'a.pdf' }] }
  expect((await play(sees(item), [], [[{ ...item, attachments: [{ name: 'a.pdf', url: 'x' }] }]])).outcome).toBe('pass')
  const verdict = await play(sees(item), [], [[{ text: 'Hello' }]], 5000)
  expect(first(verdict).happened).toContain('attachments: expected [{ name: "a.pdf" }], received nothing')
})

it('a failure reports an item that is before the item of an earlier step', async () => {
  const steps = [{ user: 'A' }, { user: 'B' }, { agent: { sees: 'B' } }, { agent: { sees: 'A' } }]
  const verdict = await checked({ steps }, journal => {
    journal.inbox([])
    journal.stimulus(1, 'MESSAGE FROM USER')
    journal.stimulus(2, 'MESSAGE FROM USER')
    looked(journal, 3, [['A', 'B']], 0)
    looked(journal, 4, [['A', 'B']], 5000)
  })
  expect(first(verdict).happened).toBe(
    'the agent did not see "A" within 5s: inbox item 1 "A" is in the inbox, but before inbox item 2 "B" of step 3',
  )
})

it('two steps take two items, in their order', async () => {
  const steps = [{ user: 'ok' }, { user: 'ok' }, { agent: { sees: 'ok' } }, { agent: { sees: 'ok' } }]
  const both = (items: string[]) =>
    checked({ steps }, journal => {
      journal.inbox([])
      journal.stimulus(1, 'MESSAGE FROM USER')
      journal.stimulus(2, 'MESSAGE FROM USER')
      looked(journal, 3, [items], 0)
      looked(journal, 4, [items], 5000)
    })
  expect((await both(['ok', 'ok'])).outcome).toBe('pass')
  const verdict = await both(['ok'])
  const happened =
    'the agent did not see "ok" within 5s: the inbox has only inbox item 1 "ok", which is already claimed by step 3'
  expect(first(verdict)).toMatchObject({ step: { number: 4 }, happened })
  expect(first(verdict).nearest[0]!.why).toBe('already claimed by step 3')
})

it('an earlier item is not taken by a later step', async () => {
  const steps = [{ user: 'a' }, { agent: { sees: 'b' } }, { agent: { sees: 'a' } }]
  const verdict = await checked({ steps }, journal => {
    journal.inbox([])
    journal.stimulus(1, 'MESSAGE FROM USER')
    looked(journal, 2, [['a', 'b']], 0)
    looked(journal, 3, [['a', 'b']], 5000)
  })
  expect(first(verdict)).toMatchObject({ step: { number: 3 } })
})

describe('the number of items', () => {
  it('must be one, in the last observation before the end', async () => {
    const verdict = await checked(sees('Hello'), journal => {
      journal.inbox([])
      journal.stimulus(1, 'MESSAGE FROM USER')
      looked(journal, 2, [['Hello']], 0)
      journal.inbox(['Hello', 'Hello'])
    })
    expect(verdict.failures).toHaveLength(1)
    expect(first(verdict)).toMatchObject({
      kind: 'sees',
      step: { number: 2 },
      happened: 'the agent saw "Hello" twice, expected exactly once: inbox item 1 "Hello", inbox item 2 "Hello"',
    })
  })

  it('may be higher when the user repeated the text', async () => {
    const steps = [{ user: 'Hello' }, { agent: { sees: 'Hello' } }, { user: 'Hello' }]
    const verdict = await checked({ steps }, journal => {
      journal.inbox([])
      journal.stimulus(1, 'MESSAGE FROM USER')
      looked(journal, 2, [['Hello']], 0)
      journal.stimulus(3, 'MESSAGE FROM USER')
      journal.inbox(['Hello', 'Hello'])
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('may be at least a number', async () => {
    const scenario = sees('Hello', { times: { min: 2, max: 3 } })
    expect((await play(scenario, [], [['Hello'], ['Hello', 'Hello']])).outcome).toBe('pass')
    expect(first(await play(scenario, [], [['Hello']], 5000)).happened).toMatch(
      /^the agent saw "Hello" only once within 5s: the inbox has no new item/,
    )
  })

  it('must not grow during `for`, which ends at once with a surplus item', async () => {
    const scenario = sees('Hello', { times: 1, for: '500ms' })
    expect((await play(scenario, [], [['Hello']], 500)).outcome).toBe('pass')
    const verdict = await play(scenario, [], [['Hello'], ['Hello', 'Hello']])
    expect(first(verdict).happened).toMatch(/^the agent saw "Hello" twice/)
    expect(first(verdict).expected).toBe('agent sees "Hello" exactly once for 500ms')
  })

  it('may be zero or one during `for`', async () => {
    const scenario = sees('Hello', { times: { min: 0, max: 1 }, for: '500ms' })
    expect((await play(scenario, [], [[]], 500)).outcome).toBe('pass')
    expect((await play(scenario, [], [['Hello']], 500)).outcome).toBe('pass')
    expect((await play(scenario, [], [['Hello', 'Hello']])).outcome).toBe('fail')
  })
})

it('an inbox that became shorter starts again', async () => {
  const verdict = await play(sees('Hello'), ['a', 'b', 'Hello'], [['Hello']])
  expect(verdict.outcome).toBe('pass')
})

it('an observation that started too late does not count', async () => {
  const verdict = await checked(sees('Hello', { within: '1s' }), journal => {
    journal.inbox([])
    journal.stimulus(1, 'MESSAGE FROM USER')
    const cause = journal.begin(2)
    journal.pass(1500)
    journal.inbox(['Hello'], cause)
    journal.end(2)
  })
  expect(verdict.outcome).toBe('fail')
})

it('tokens in the text are ignored', async () => {
  const scenario = { tokens: true, ...sees('Hello') }
  expect((await play(scenario, [], [['Hello ⟦k3f9x2⟧']])).outcome).toBe('pass')
})

it('an unreadable inbox is reported with the error of the driver', async () => {
  const verdict = await checked(sees('Hello'), journal => {
    journal.stimulus(1, 'MESSAGE FROM USER')
    const cause = journal.begin(2)
    journal.driver(
      'inbox',
      { outcome: 'failed', status: 500, failure: { code: 'status', status: 500, body: 'boom' }, answer: 'boom' },
      cause,
    )
    journal.pass(5000)
    journal.end(2)
  })
  expect(first(verdict)).toMatchObject({
    kind: 'driver',
    happened: expect.stringMatching(/^agent sees .* failed: POST http:\/\/desk\/x: answered 500: boom$/),
  })
})

it('without an inbox the result is inconclusive', async () => {
  const verdict = await checked(sees('Hello'), journal => {
    journal.stimulus(1, 'MESSAGE FROM USER')
    journal.step(2, () => {}, { missing: 'inbox' })
  })
  expect(verdict).toMatchObject({
    outcome: 'inconclusive',
    failures: [],
    reason:
      'step 2 (agent sees "Hello") needs inbox, and the agent driver has only accept, says, type, stop, leave, away, back, inbox',
  })
})
