/** Tests the evaluation of generated runs: live or later, with conversations interleaved in any order. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Evaluator, evaluate } from '../../src/evaluation/evaluator/evaluator.ts'
import type { Plan } from '../../src/evaluation/scenario/plan.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { journalOf, planOf } from '../scenario/journal-builder.ts'

const LANES = ['ada', 'bo', 'cy']

/** Three chats, each with its own steps; nothing in one depends on another. */
const plan: Plan = await planOf({
  chats: Object.fromEntries(LANES.map(conversation => [conversation, {}])),
  steps: [
    {
      parallel: LANES.map(chat => [
        { press: 'handover', chat },
        { expect: 'start', chat },
        { expect: { all: ['message', { message: { message: 'a' } }] }, chat },
        { none: { end: {}, for: '50ms' }, chat },
        { expect: { seq: ['typing_start', 'typing_stop'] }, chat },
        { user: 'Bye', chat },
        { expect: { end: {}, times: { min: 1, max: 2 } }, chat },
      ]),
    },
  ],
})
const STEPS = 7

/** What happens in one chat: a call, time that passes, or its next step. */
type Happening = { readonly call: string; readonly message: string } | { readonly pass: number } | 'step'

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    call: fc.constantFrom('start', 'message', 'typing_start', 'typing_stop', 'end'),
    message: fc.constantFrom('a', 'b'),
  }),
  fc.record({ pass: fc.integer({ min: 1, max: 3000 }) }),
  fc.constant('step' as const),
)

/** Interleaves the conversations; the order within each is preserved. */
const story = fc.array(fc.tuple(fc.nat(LANES.length - 1), happening), { maxLength: 60 })

/** Written as by a runner that ends a step as soon as it is decided. */
function played(stories: readonly (readonly [number, Happening])[], pace = 1): readonly Entry[] {
  const journal = journalOf(plan, pace)
  const at = LANES.map(() => 0)
  const numberOf = (conversation: number) => conversation * STEPS + at[conversation]! + 1
  const running = new Set<number>()
  for (const [conversation, what] of stories) {
    if (what === 'step') next(conversation)
    else if ('pass' in what) journal.pass(what.pass)
    else journal.call(what.call, { message: what.message }, { conversation: LANES[conversation]! })
  }
  for (const conversation of running) journal.end(numberOf(conversation))
  return journal.finish()

  function next(conversation: number): void {
    if (running.delete(conversation)) {
      journal.end(numberOf(conversation))
      at[conversation]!++
    }
    if (at[conversation]! >= STEPS) return
    if (at[conversation] === 0 || at[conversation] === 5) {
      journal.stimulus(numberOf(conversation), 'REQUESTING TAKEOVER')
      at[conversation]!++
    } else {
      journal.begin(numberOf(conversation))
      running.add(conversation)
    }
  }
}

it('evaluation after every entry gives the same verdict, and the status at the end of a step its result', () => {
  fc.assert(
    fc.property(story, stories => {
      const entries = played(stories)
      const evaluator = new Evaluator(plan)
      const states = new Map<number, string>()
      for (const entry of entries) {
        for (let step = 1; step <= plan.count; step++) {
          const { state } = evaluator.status(step, entry.at_ms)
          evaluator.failed(step)
          if (entry.kind === 'note' && entry.note === 'step_ended' && entry.step === step) states.set(step, state)
        }
        evaluator.add(entry)
      }
      const verdict = evaluator.finish()
      expect(evaluator.finish()).toEqual(verdict)
      expect(verdict).toEqual(evaluate(plan, entries))
      const checks = verdict.steps.filter(({ number, label }) => states.has(number) && !/^(press|user)/.test(label))
      for (const { number, outcome } of checks) expect(outcome === 'pass').toBe(states.get(number) === 'met')
    }),
    { numRuns: 100 },
  )
})

it('no call is claimed twice, and the steps of a conversation claim calls in order', () => {
  fc.assert(
    fc.property(story, stories => {
      const { steps } = evaluate(plan, played(stories))
      for (const conversation of LANES) {
        const own = steps.filter(step => step.conversation === conversation)
        const claimed = own.flatMap(step => step.claimed.toSorted((a, b) => a - b))
        expect(claimed).toEqual([...new Set(claimed)].sort((a, b) => a - b))
      }
    }),
    { numRuns: 100 },
  )
})

/** Describes what does not depend on the order of conversations: calls by their index, because seqs differ. */
function claimsByLane(entries: readonly Entry[]) {
  const calls = entries.filter(({ kind }) => kind === 'api')
  const placeOf = (seq: number) => {
    const chat = calls.find(call => call.seq === seq)!.chat_id
    return [chat, calls.filter(call => call.chat_id === chat && call.seq < seq).length]
  }
  return evaluate(plan, entries).steps.map(({ outcome, claimed }) => ({ outcome, claimed: claimed.map(placeOf) }))
}

it('independent conversations may be interleaved in any order', () => {
  // With hardly any time between them: only the order of the lanes differs.
  const pace = 0.001
  const timeless = story.map(stories => stories.filter(([, what]) => what === 'step' || 'call' in what))
  fc.assert(
    fc.property(timeless, stories => {
      const sorted = [...stories].sort(([a], [b]) => a - b)
      expect(claimsByLane(played(sorted, pace))).toEqual(claimsByLane(played(stories, pace)))
    }),
    { numRuns: 60 },
  )
})
