/** Which call an `expect` takes, by when, and what it keeps of it. */
import { describe, expect, it } from 'vitest'
import { Evaluator } from '../../src/evaluation/evaluator/evaluator.ts'
import type { VerdictReport as Verdict } from '../../src/evaluation/evaluator/wording/report.ts'
import { checked, journalOf, planOf } from '../scenario/journal-builder.ts'

const outcomes = ({ steps }: Verdict) => steps.map(({ outcome }) => outcome)
const claims = ({ steps }: Verdict) => steps.map(({ claimed }) => claimed)

const PRESS_START = { steps: [{ press: 'handover' }, { expect: 'start' }] }

it('a call before the answer of the webhook belongs to the turn', async () => {
  const verdict = await checked(PRESS_START, journal => {
    journal.begin(1)
    const delivery_id = journal.event('REQUESTING TAKEOVER')
    const start = journal.call('start')
    journal.delivery(delivery_id)
    journal.end(1, { delivery_id })
    journal.step(2)
    expect(start).toBe(5)
  })
  expect(verdict).toMatchObject({ outcome: 'pass', reason: null, failures: [] })
  expect(claims(verdict)).toEqual([[], [5]])
})

it('a call during the step is claimed', async () => {
  const verdict = await checked(PRESS_START, journal => {
    journal.stimulus(1)
    journal.step(2, () => journal.call('start'))
  })
  expect(outcomes(verdict)).toEqual(['pass', 'pass'])
})

it('a call of the previous turn is not claimed', async () => {
  const scenario = { steps: [{ press: 'handover' }, { expect: 'start' }, { user: 'Hi' }, { expect: 'message' }] }
  const verdict = await checked(scenario, journal => {
    journal.stimulus(1)
    journal.step(2, () => journal.call('start'))
    journal.call('message')
    journal.stimulus(3, 'MESSAGE FROM USER')
    journal.step(4, () => journal.pass(5000))
  })
  const [failure] = verdict.failures
  expect(verdict.outcome).toBe('fail')
  expect(failure).toMatchObject({ kind: 'expect', conversation: 'main', step: { number: 4, of: 4 } })
  expect(failure!.nearest[0]!.why).toMatch(/^before the turn: 10 ms before step 3 began/)
})

it('without an earlier stimulus, all calls since the start count', async () => {
  const verdict = await checked({ steps: [{ expect: 'start' }] }, journal => {
    journal.call('start')
    journal.step(1)
  })
  expect(verdict.outcome).toBe('pass')
})

describe('order', () => {
  const TWO = { steps: [{ press: 'handover' }, { expect: 'start' }, { expect: 'message' }] }

  it('the next step claims a later call', async () => {
    const verdict = await checked(TWO, journal => {
      journal.stimulus(1)
      journal.call('message')
      journal.step(2, () => journal.call('start'))
      journal.step(3, () => journal.pass(5000))
    })
    expect(outcomes(verdict)).toEqual(['pass', 'pass', 'fail'])
    expect(verdict.failures[0]!.nearest[0]!.why).toBe('earlier than #10, the call of step 2')
    expect(verdict.failures[0]!.hint).toContain('all:')
  })

  it('calls are ordered by the time they were read, not answered', async () => {
    const verdict = await checked(TWO, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.pass(3000)
      journal.call('message')
      journal.call('start', {}, { took: 2000 })
      journal.end(2)
      journal.step(3)
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('`since` considers earlier calls in any order', async () => {
    const steps = [
      { press: 'handover', id: 'pressed' },
      { expect: 'start' },
      { user: 'Hi' },
      { expect: { message: {}, since: 'pressed' } },
      { expect: 'typing_start' },
    ]
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      journal.stimulus(3, 'MESSAGE FROM USER')
      journal.call('typing_start')
      journal.call('message')
      journal.step(4)
      journal.step(5)
    })
    expect(verdict.failures).toEqual([])
    expect(claims(verdict)[3]).toEqual([17])
    const before = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.call('message')
      journal.step(2, () => journal.call('start'))
      journal.stimulus(3, 'MESSAGE FROM USER')
      journal.step(4)
      journal.step(5, () => journal.call('typing_start'))
    })
    expect(before.failures).toEqual([])
    expect(claims(before)[3]).toEqual([8])
  })

  it('availability calls have an order of their own', async () => {
    const steps = [{ agent: 'away' }, { expect: 'start' }, { expect: { availability: { availability: 'CLOSED' } } }]
    const verdict = await checked({ steps }, journal => {
      journal.step(1)
      journal.call('availability', { availability: 'CLOSED' })
      journal.call('start')
      journal.step(2)
      journal.step(3)
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('a step that waits for availability claims an availability call', async () => {
    const steps = [{ agent: 'away' }, { expect: { availability: { availability: 'CLOSED' } } }]
    const verdict = await checked({ steps }, journal => {
      journal.step(1)
      journal.step(2, () => journal.call('availability', { availability: 'CLOSED' }))
    })
    expect(verdict.outcome).toBe('pass')
  })
})

describe('groups', () => {
  it('all accepts any order, and leaves a call to the more specific part', async () => {
    const tree = { all: ['message', { message: { message: 'a' } }, 'typing_stop'] }
    const verdict = await checked({ steps: [{ press: 'handover' }, { expect: tree }] }, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('typing_stop')
        journal.call('message', { message: 'a' })
        journal.call('message', { message: 'b' })
      })
    })
    expect(verdict.failures).toEqual([])
    expect([...claims(verdict)[1]!].sort()).toEqual([10, 11, 9].sort())
  })

  it('seq requires the order', async () => {
    const scenario = { steps: [{ press: 'handover' }, { expect: { seq: ['start', 'message'] } }] }
    const wrong = await checked(scenario, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('message')
        journal.call('start')
        journal.pass(5000)
      })
    })
    expect(wrong.failures[0]!.happened).toMatch(/^no call of message matches; nearest: #9 message/)
    const right = await checked(scenario, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('start')
        journal.call('message')
      })
    })
    expect(right.outcome).toBe('pass')
  })

  it('oneOf accepts any one of its calls', async () => {
    const verdict = await checked(
      { steps: [{ press: 'handover' }, { expect: { oneOf: ['end', 'start'] } }] },
      journal => {
        journal.stimulus(1)
        journal.step(2, () => journal.call('start'))
      },
    )
    expect(claims(verdict)[1]).toEqual([9])
  })
})

describe('several chats', () => {
  const steps = [
    { parallel: [[{ press: 'handover', chat: 'ada' }], [{ press: 'handover', chat: 'bo' }]] },
    { expect: 'start', chat: 'ada' },
    { expect: 'start', chat: 'bo' },
  ]

  it('after parallel, a check considers calls since the earliest stimulus of all branches', async () => {
    const verdict = await checked({ chats: { ada: {}, bo: {} }, steps }, journal => {
      journal.begin(2)
      const second = journal.event('REQUESTING TAKEOVER', 'bo')
      journal.call('start', {}, { conversation: 'bo' })
      journal.begin(1)
      const first = journal.event('REQUESTING TAKEOVER', 'ada')
      journal.call('start', {}, { conversation: 'ada' })
      for (const [step, id, conversation] of [
        [1, first, 'ada'],
        [2, second, 'bo'],
      ] as const) {
        journal.delivery(id, {}, conversation)
        journal.end(step, { delivery_id: id })
      }
      journal.step(3)
      journal.step(4)
    })
    expect(verdict).toMatchObject({ outcome: 'pass', failures: [] })
  })
})

describe('how often', () => {
  const times = (wanted: unknown, more: object = {}) => ({
    steps: [{ press: 'handover' }, { expect: { message: {}, times: wanted, ...more } }],
  })

  it('too few calls are reported with their number', async () => {
    const verdict = await checked(times(3), journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('message')
        journal.call('message')
        journal.pass(5000)
      })
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'expect',
      happened: 'message was called only twice within 5s (#9, #10), expected exactly 3 times',
    })
  })

  it('later calls within the bounds are claimed', async () => {
    const verdict = await checked(times({ min: 1, max: 2 }), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message'))
      journal.call('message')
    })
    expect(verdict).toMatchObject({ outcome: 'pass', failures: [] })
  })

  it('too many calls give one failure with all of them', async () => {
    const verdict = await checked(times({ min: 1, max: 2 }), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message'))
      journal.call('message')
      journal.call('message')
      journal.call('message')
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'times',
      expected: 'message 1 to 2 times',
      step: { number: 2 },
      entrySeqs: [12, 13],
    })
    expect(verdict.failures[0]!.happened).toMatch(
      /^message was called 4 times, expected 1 to 2 times: #9, #11, #12, #13; the first one too many is #12, 10 ms after #11$/,
    )
  })

  it('apart reports calls that are too close', async () => {
    const verdict = await checked(times(2, { apart: '1s' }), journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('message')
        journal.pass(500)
        journal.call('message')
      })
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'times',
      happened: 'message was called again too soon: #9 and #10 are 0.5 s apart, expected at least 1s',
    })
  })

  it('apart includes calls beyond the minimum', async () => {
    const verdict = await checked(times({ min: 1, max: 3 }, { apart: '1s' }), journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message'))
      journal.pass(2000)
      journal.call('message')
      journal.call('message')
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'times',
      step: { number: 2 },
      happened: 'message was called again too soon: #11 and #12 are 10 ms apart, expected at least 1s',
    })
  })

  it('a second call in the turn is reported as surplus', async () => {
    const verdict = await checked(PRESS_START, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('start'))
      journal.pass(3000)
      journal.call('start')
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]).toMatchObject({
      kind: 'times',
      expected: 'start exactly once',
      happened: 'start was called twice, expected exactly once: #9, and #11 3.0 s later',
    })
  })
})

it('much later, only a call with the same text is surplus', async () => {
  const steps = [{ press: 'handover' }, { expect: 'message' }, { user: 'Hi' }, { expect: 'typing_start' }]
  const later = (message: string) =>
    checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.call('message', { message: 'Hello' }))
      journal.stimulus(3, 'MESSAGE FROM USER')
      journal.step(4, () => journal.call('typing_start'))
      journal.call('message', { message })
    })
  expect((await later('Hello')).failures.map(({ kind }) => kind)).toEqual(['times'])
  expect((await later('Bye')).failures.map(({ kind }) => kind)).toEqual(['unexpected'])
})

describe('within', () => {
  const bounded = {
    steps: [{ press: 'handover' }, { expect: { start: {}, within: '2s' } }, { expect: { message: {}, within: '1s' } }],
  }

  it('counts from the stimulus, and from the last claimed call when that is later', async () => {
    const verdict = await checked(bounded, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.pass(1800)
      journal.call('start')
      journal.end(2)
      journal.begin(3)
      journal.pass(900)
      journal.call('message')
      journal.end(3)
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('reports how late a late call is', async () => {
    const verdict = await checked(bounded, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.call('start')
      journal.end(2)
      journal.begin(3)
      journal.pass(1690)
      journal.call('message')
      journal.end(3)
    })
    expect(verdict.failures[0]).toMatchObject({ expected: 'expect message within 1s of #9' })
    expect(verdict.failures[0]!.happened).toMatch(
      /^no call of message matches; nearest: #12 message \+1\.\d\d s: 0\.7 s late$/,
    )
    expect(verdict.failures[0]!.hint).toContain('timeouts')
  })

  it('accepts a call that is read in time and answered late', async () => {
    const verdict = await checked(bounded, journal => {
      journal.stimulus(1)
      journal.begin(2)
      journal.pass(1900)
      journal.call('start', {}, { took: 500 })
      journal.end(2)
      journal.step(3, () => journal.call('message'))
    })
    expect(verdict.outcome).toBe('pass')
  })

  it('reports a call after the end of the step', async () => {
    const verdict = await checked(PRESS_START, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.pass(5000))
      journal.pass(690)
      journal.call('start')
    })
    expect(verdict.failures).toHaveLength(1)
    expect(verdict.failures[0]!.nearest[0]!.why).toBe('0.7 s late')
  })

  it('reports a call that was read in time and answered after the end of the step', async () => {
    const verdict = await checked(PRESS_START, journal => {
      journal.stimulus(1)
      journal.step(2, () => journal.pass(5000))
      journal.pass(1990)
      journal.call('start', {}, { took: 4000, faults: ['slow'] })
    })
    expect(verdict.failures[0]!.nearest[0]!.why).toBe('read in time, but answered 2.0 s after the step ended')
  })

  it('counts its default from the start of the step', async () => {
    const verdict = await checked(PRESS_START, journal => {
      journal.begin(1)
      const delivery_id = journal.event('REQUESTING TAKEOVER')
      journal.pass(8000)
      journal.delivery(delivery_id)
      journal.end(1, { delivery_id })
      journal.begin(2)
      journal.pass(4900)
      journal.call('start')
      journal.end(2)
    })
    expect(verdict.outcome).toBe('pass')
  })
})

describe('captures', () => {
  const steps = [
    { press: 'handover' },
    { expect: { start: {}, times: 2, capture: { who: 'body.sender.name', answer: 'response.chatmessage_id' } } },
    { expect: { message: { sender: { name: '$(who)' } } } },
  ]

  it('come from the last matching call', async () => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('start', {}, { status: 503, faults: ['flaky'], response: null })
        journal.call('start', { sender: { name: 'Anna' } }, { response: { chatmessage_id: 'm7' } })
      })
      journal.step(3, () => journal.call('message', { sender: { name: 'Anna' } }))
    })
    expect(verdict).toMatchObject({ outcome: 'pass', captures: { who: 'Anna', answer: 'm7' } })
  })

  it('of a missing field fail their step', async () => {
    const verdict = await checked({ steps }, journal => {
      journal.stimulus(1)
      journal.step(2, () => {
        journal.call('start')
        journal.call('start')
      })
    })
    expect(verdict.failures[0]).toMatchObject({
      kind: 'expect',
      step: { number: 2 },
      happened: '#10 start has no body.sender.name to capture as who',
    })
  })

  it('are separate in each chat', async () => {
    const each = [
      { press: 'handover' },
      { expect: { start: {}, capture: { who: 'body.sender.name' } } },
      { user: 'Hi $(who)' },
    ]
    const plan = await planOf({ steps: [{ parallel: { users: 2, steps: each } }] })
    const journal = journalOf(plan)
    const conversations = plan.conversations.map(({ name }) => name).filter(name => name.startsWith('user'))
    const evaluator = new Evaluator(plan)
    const [one, two] = conversations as [string, string]
    for (const step of [1, 4]) journal.stimulus(step)
    for (const step of [2, 5]) journal.begin(step)
    journal.call('start', { sender: { name: 'A' } }, { conversation: one })
    journal.call('start', { sender: { name: 'B' } }, { conversation: two })
    for (const step of [2, 5]) journal.end(step)
    for (const entry of journal.entries) evaluator.add(entry)
    expect([one, two].map(name => evaluator.variables.scopeOf(name).who)).toEqual(['A', 'B'])
  })
})
