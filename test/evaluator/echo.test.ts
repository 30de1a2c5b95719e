/** Users' texts in the wrong place, in journals written by hand. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { echoes, leaksBetween, makeToken, stripToken, tokensIn } from '../../src/evaluation/evaluator/echo.ts'
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import { describeFailure } from '../../src/evaluation/evaluator/wording/report.ts'
import type { Action, PlannedStep } from '../../src/evaluation/scenario/plan.ts'
import { planOf, type Written, writeJournal } from '../linter/journal.ts'

const step = (number: number, action: Action, conversation = 'ada'): PlannedStep => ({
  kind: 'step',
  number,
  id: null,
  name: null,
  conversation,
  level: 'must',
  soft: false,
  place: { file: 'hand.yaml', line: number, column: 5 },
  label: `${action.verb} step ${number}`,
  scope: {},
  turn: [],
  readsInboxOf: [],
  action,
})
const says = (number: number, text: string) => step(number, { verb: 'agent', does: 'says', text, with: null })
const writes = (number: number) => step(number, { verb: 'user', text: 'Hi', attach: [], ack: 200, async: false })

function journal(write: (journal: Written) => void) {
  const written = writeJournal()
  written.conversation('c1', 'ada')
  written.conversation('c2', 'bo')
  write(written)
  return written.entries
}
const message = (text: string) => ({ body: { message: text } })
const TOKEN = makeToken('one')
const LONG = 'My parcel is lost'

describe('echoes', () => {
  it('are reported with both entries and the step', () => {
    const entries = journal(played => {
      played.add({ kind: 'note', note: 'step_started', step: 1, verb: 'user', label: 'user Hi' })
      played.user('c1', `Hi${TOKEN}`)
      played.call('message', 'c1', message(`> Hi${TOKEN}`))
    })
    const failures = echoes(planOf([writes(1)]), entries)
    expect(failures).toMatchObject([
      { kind: 'echo', conversation: 'ada', entrySeqs: [4, 5], step: { number: 1 }, rules: ['E6.5', 'W2'] },
    ])
    expect(describeFailure(failures[0]!).expected).toContain('the user of chat "ada" never reads')
    expect(describeFailure(failures[0]!).happened).toContain(
      '#5 POST /api/v2/handover/message sent what the user of chat "ada" wrote in #4 back',
    )
  })

  it('are detected without a token in texts of at least twelve characters', () => {
    const played = (text: string) =>
      journal(one => {
        one.user('c1', text)
        one.call('message', 'c1', message(`You wrote: ${text}`))
      })
    expect(echoes(planOf(), played('twelve signs')).map(({ kind }) => kind)).toEqual(['echo'])
    expect(echoes(planOf(), played('eleven sign'))).toEqual([])
    expect(echoes(planOf(), played('  eleven sign  '))).toEqual([])
    expect(echoes(planOf(), played('👋👋👋👋👋👋👋👋👋👋👋'))).toEqual([])
  })

  it.each([
    ['word for word', `We know: ${LONG}.`, LONG],
    ['with a value', 'We know: $(what).', LONG],
    ['with a value that is not known yet', '$(captured) is our topic', `${LONG} is our topic`],
    ['with a value that contains such a value', '$(topic)', `${LONG} is our topic`],
  ])('an agent may quote a user, %s', (_, agent, sent) => {
    const entries = journal(played => {
      played.user('c1', LONG)
      played.call('message', 'c1', message(sent))
    })
    expect(
      echoes(planOf([says(1, agent)], { vars: { what: LONG, topic: '$(captured) is our topic' } }), entries),
    ).toEqual([])
    expect(echoes(planOf([says(1, 'Something else')]), entries)).toHaveLength(1)
  })

  it('do not include copies in the inbox or in other calls of the chat', () => {
    const entries = journal(played => {
      played.user('c1', LONG)
      played.driver('inbox', 'c1', { items: [{ text: LONG }] })
      played.call('start', 'c1', { body: { sender: { name: LONG } } })
    })
    expect(echoes(planOf(), entries)).toEqual([])
  })

  it('are reported once for each text', () => {
    const entries = journal(played => {
      played.user('c1', LONG)
      for (let i = 0; i < 3; i++) played.call('message', 'c1', message(LONG))
    })
    expect(echoes(planOf(), entries)).toHaveLength(1)
  })
})

describe('leaks', () => {
  it('are detected in calls of another chat', () => {
    const entries = journal(played => {
      played.user('c1', `Hi${TOKEN}`)
      played.call('message', 'c2', message(`Hi${TOKEN}`))
    })
    const [one, ...more] = echoes(planOf(), entries)
    expect(more).toEqual([])
    expect(one).toMatchObject({ kind: 'leak', conversation: 'ada', entrySeqs: [3, 4], rules: ['E6.2'] })
    expect(`${describeFailure(one!).expected} ${describeFailure(one!).happened}`).toMatch(
      /stays in chat "ada".*has in chat "bo" what/,
    )
  })

  it('are reported once for an inbox that is read repeatedly', () => {
    const entries = journal(played => {
      played.user('c1', `Hi${TOKEN}`)
      for (let i = 0; i < 3; i++) played.driver('inbox', 'c2', { items: [{ request: true }, { text: `Hi${TOKEN}` }] })
    })
    const failures = echoes(planOf(), entries)
    expect(failures).toMatchObject([{ kind: 'leak', entrySeqs: [3, 4] }])
    expect(describeFailure(failures[0]!).happened).toContain('inbox item 2')
  })

  it('do not include a text that two users wrote', () => {
    const entries = journal(played => {
      played.user('c1', LONG)
      played.user('c2', `${LONG}, again`)
      played.call('message', 'c2', message(LONG))
    })
    expect(echoes(planOf(), entries)).toEqual([])
  })

  it('are exactly the texts with tokens in other chats, for any order of chats', () => {
    const chat = fc.integer({ min: 0, max: 4 })
    fc.assert(
      fc.property(fc.array(fc.record({ from: chat, to: chat }), { maxLength: 20 }), moves => {
        const entries = journal(played => {
          moves.forEach(({ from }, i) => void played.user(`c${from}`, `Hi${makeToken(String(i))}`))
          moves.forEach(
            ({ to }, i) =>
              void played.driver('inbox', `c${to}`, { items: [{ n: i, text: `Hi${makeToken(String(i))}` }] }),
          )
        })
        const astray = moves.filter(({ from, to }) => from !== to).length
        expect(echoes(planOf(), entries).map(({ kind }) => kind)).toEqual(Array(astray).fill('leak'))
      }),
    )
  })
})

describe('between scenarios', () => {
  const played = (
    name: string,
    conversations: Record<string, string>,
    write: (journal: Written) => void,
    steps: readonly PlannedStep[] = [],
  ) => ({
    plan: planOf(steps),
    result: { name, conversations, journal: journal(write) } as unknown as ScenarioResult,
  })

  it('a leak names both scenarios and both chats', () => {
    const one = played('One', { main: 'a1' }, written => written.user('a1', `Hi${TOKEN}`))
    const two = played('Two', { main: 'b1' }, written => written.call('message', 'b1', message(`Hi${TOKEN}`)))
    const [failure, ...more] = leaksBetween([two, one])
    expect(more).toEqual([])
    expect(failure).toMatchObject({ kind: 'leak', entrySeqs: [] })
    expect(describeFailure(failure!).expected).toContain('chat "main" of "One"')
    expect(describeFailure(failure!).happened).toContain('chat "main" of "Two"')
  })

  it('neither a repeated scenario nor an agent with the same text is a leak', () => {
    const ask = (chat: string) => (written: Written) => {
      written.user(chat, LONG)
      written.driver('inbox', chat, { items: [{ text: LONG }] })
    }
    expect(leaksBetween([played('One', {}, ask('a1')), played('One', {}, ask('a2'))])).toEqual([])
    const answer = (written: Written) => void written.call('message', 'b1', message(LONG))
    const agent = played('Two', {}, answer, [says(1, LONG)])
    expect(leaksBetween([played('One', {}, ask('a1')), agent])).toEqual([])
    const silent = played('Two', {}, answer)
    expect(leaksBetween([played('One', {}, ask('a1')), silent])).toHaveLength(1)
  })

  it('an agent who repeats the token of another scenario leaks it', () => {
    const user = played('One', {}, written => void written.user('a1', `Hi${TOKEN}`))
    const copy = (written: Written) => void written.call('message', 'b1', message(`Hi${TOKEN}`))
    expect(leaksBetween([user, played('Two', {}, copy, [says(1, '$(anything)')])])).toHaveLength(1)
  })
})

it('a text of an agent with many placeholders is compared in linear time', () => {
  const plan = planOf([says(1, `Dear ${'$(captured) '.repeat(30)}bye`)])
  const played = (text: string) =>
    journal(one => {
      one.user('c1', LONG)
      one.call('message', 'c1', message(text))
    })
  expect(echoes(plan, played(`Dear ${' '.repeat(50_000)}${LONG}`))).toHaveLength(1)
  expect(echoes(plan, played(`Dear ${LONG} ${'Ada '.repeat(29)}bye`))).toEqual([])
  expect(echoes(plan, played(`Dear ${LONG} bye`))).toHaveLength(1)
})

describe('tokens', () => {
  /** Without the brackets of a token: a text may hold anything else. */
  const text = fc.string({ unit: 'binary' }).filter(value => !value.includes('⟦'))

  it('depend only on their seed text, and are different', () => {
    expect(makeToken('a')).toBe(makeToken('a'))
    expect(new Set(Array.from({ length: 10_000 }, (_, i) => makeToken(`1 Happy path main ${i}`))).size).toBe(10_000)
  })

  it('are removed without a trace', () => {
    fc.assert(
      fc.property(text, fc.string(), (own, seed) => {
        const token = makeToken(seed)
        expect(token).toMatch(/^ ⟦[0-9a-z]{6}⟧$/)
        expect(stripToken(own + token)).toBe(own)
        expect(tokensIn(own + token)).toEqual([token.trim()])
      }),
    )
    expect(stripToken('no token, but ⟦brackets⟧')).toBe('no token, but ⟦brackets⟧')
  })
})
