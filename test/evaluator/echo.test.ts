/** Users' texts in the wrong place, in journals written by hand. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { echoes, leaksBetween, makeToken, stripToken, tokensIn } from '../../src/evaluation/evaluator/echo.ts'
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import { History } from '../../src/evaluation/history.ts'
import type { Action, PlannedStep } from '../../src/evaluation/scenario/plan.ts'
import { planOf, type Written, writeJournal } from '../linter/journal.ts'
import { unicodeText } from '../support/unicode-text.ts'

const step = (action: Action) =>
  ({ kind: 'step', number: 1, conversation: 'ada', level: 'must', label: 'step 1', scope: {}, action }) as PlannedStep
const says = (text: string) => step({ verb: 'agent', does: 'says', text, with: null })
const writes = step({ verb: 'user', text: 'Hi', attach: [], ack: 200, async: false })

/** Adds lines such as `user c1: Hi`: the user writes, a message or a start is sent, or the agent reads the inbox. */
function journalOf(lines: readonly string[], begin: (journal: Written) => unknown = () => {}) {
  const journal = writeJournal()
  journal.conversation('c1', 'ada')
  journal.conversation('c2', 'bo')
  begin(journal)
  for (const line of lines) {
    const [, what, chat, text] = /^(\w+) (\w+): (.*)$/s.exec(line)! as unknown as [string, string, string, string]
    if (what === 'user') journal.user(chat, text)
    else if (what === 'inbox') journal.driver('inbox', chat, { items: [{ request: true }, { text }] })
    else if (what === 'message') journal.call('message', chat, { body: { message: text } })
    else journal.call('start', chat, { body: { sender: { name: text } } })
  }
  return journal.entries
}

const found = (lines: readonly string[], agent: readonly string[] = [], vars: Record<string, unknown> = {}) =>
  echoes(planOf(agent.map(says), { vars }), new History(journalOf(lines)))

const TOKEN = makeToken('one')
const MARKED = `Hi${TOKEN}`
const LONG = 'My parcel is lost'
const WAVES = '👋'.repeat(11)
const ASKS = `user c1: ${LONG}`

describe('within a scenario', () => {
  it.each<[string, string[], string[]]>([
    ['a text of twelve characters', ['echo'], ['user c1: twelve signs', 'message c1: You wrote: twelve signs']],
    ['a text of eleven', [], ['user c1: eleven sign', 'message c1: You wrote: eleven sign']],
    ['spaces around it do not count', [], ['user c1:   eleven sign  ', 'message c1:   eleven sign  ']],
    ['code points count', [], [`user c1: ${WAVES}`, `message c1: ${WAVES}`]],
    ['the inbox and other calls of the chat', [], [ASKS, `inbox c1: ${LONG}`, `start c1: ${LONG}`]],
    ['the same text three times', ['echo'], [ASKS, ...Array(3).fill(`message c1: ${LONG}`)]],
    ['an inbox of another chat, read often', ['leak'], [`user c1: ${MARKED}`, ...Array(3).fill(`inbox c2: ${MARKED}`)]],
    ['a text that two users wrote', [], [ASKS, `user c2: ${LONG}, again`, `message c2: ${LONG}`]],
  ])('%s: %j', (_, kinds, lines) => expect(found(lines).map(({ kind }) => kind)).toEqual(kinds))

  it('an echo is reported with both entries and the step', () => {
    const lines = [`user c1: ${MARKED}`, `message c1: > ${MARKED}`]
    const begin = { kind: 'note', note: 'step_started', step: 1, verb: 'user', label: 'user Hi' } as const
    const [failure] = echoes(planOf([writes]), new History(journalOf(lines, journal => journal.add(begin))))
    expect(failure).toMatchObject({
      kind: 'echo',
      conversation: 'ada',
      entrySeqs: [4, 5],
      step: { number: 1 },
      rules: ['E6.5', 'W2'],
    })
    expect(failure!).toMatchObject({
      expected: expect.stringContaining('the user of chat "ada" never reads'),
      happened: expect.stringContaining(
        '#5 POST /api/v2/handover/message sent what the user of chat "ada" wrote in #4 back',
      ),
    })
  })

  it('a leak is reported with both chats', () => {
    const [failure] = found([`user c1: ${MARKED}`, `message c2: ${MARKED}`])
    expect(failure).toMatchObject({ kind: 'leak', conversation: 'ada', entrySeqs: [3, 4], rules: ['E6.2'] })
    const { expected, happened } = failure!
    expect(`${expected} ${happened}`).toMatch(/stays in chat "ada".*has in chat "bo" what/)
    const [inInbox] = found([`user c1: ${MARKED}`, `inbox c2: ${MARKED}`])
    expect(inInbox!.happened).toContain('inbox item 2')
  })

  it.each([
    ['word for word', `We know: ${LONG}.`, LONG],
    ['with a value', 'We know: $(what).', LONG],
    ['with a value that is not known yet', '$(captured) is our topic', `${LONG} is our topic`],
    ['with a value that contains such a value', '$(topic)', `${LONG} is our topic`],
  ])('an agent may quote a user, %s', (_, agent, sent) => {
    const lines = [ASKS, `message c1: ${sent}`]
    expect(found(lines, [agent], { what: LONG, topic: '$(captured) is our topic' })).toEqual([])
    expect(found(lines, ['Something else'])).toHaveLength(1)
  })

  it('a text of an agent with many placeholders is compared in linear time', () => {
    const agent = [`Dear ${'$(captured) '.repeat(30)}bye`]
    const count = (text: string) => found([ASKS, `message c1: ${text}`], agent).length
    expect(count(`Dear ${' '.repeat(50_000)}${LONG}`)).toBe(1)
    expect(count(`Dear ${LONG} ${'Ada '.repeat(29)}bye`)).toBe(0)
    expect(count(`Dear ${LONG} bye`)).toBe(1)
  })

  it('leaks are exactly the texts with tokens in other chats, for any order of chats', () => {
    const chat = fc.integer({ min: 0, max: 4 })
    fc.assert(
      fc.property(fc.array(fc.record({ from: chat, to: chat }), { maxLength: 20 }), moves => {
        const text = (index: number) => `Hi${makeToken(String(index))}`
        const written = moves.map(({ from }, index) => `user c${from}: ${text(index)}`)
        const read = moves.map(({ to }, index) => `inbox c${to}: ${text(index)}`)
        const astray = moves.filter(({ from, to }) => from !== to).length
        expect(found([...written, ...read]).map(({ kind }) => kind)).toEqual(Array(astray).fill('leak'))
      }),
    )
  })
})

describe('between scenarios', () => {
  const played = (name: string, lines: readonly string[], agent: readonly string[] = []) => ({
    plan: planOf(agent.map(says)),
    result: { name, conversations: { main: name }, journal: journalOf(lines) } as unknown as ScenarioResult,
  })

  it('a leak names both scenarios and both chats', () => {
    const two = played('Two', [`message Two: ${MARKED}`])
    const [failure, ...more] = leaksBetween([two, played('One', [`user One: ${MARKED}`])])
    expect(more).toEqual([])
    expect(failure).toMatchObject({ kind: 'leak', entrySeqs: [] })
    expect(failure!).toMatchObject({
      expected: expect.stringContaining('chat "main" of "One"'),
      happened: expect.stringContaining('chat "main" of "Two"'),
    })
  })

  it.each<[string, number, string, string[], string[]]>([
    ['a repeated scenario', 0, 'One', [`user a2: ${LONG}`, `inbox a2: ${LONG}`], []],
    ['an agent with the same text', 0, 'Two', [`message b1: ${LONG}`], [LONG]],
    ['a text that nobody says', 1, 'Two', [`message b1: ${LONG}`], []],
    ['an agent who repeats a token', 1, 'Two', [`message b1: ${MARKED}`], ['$(anything)']],
  ])('%s: leaks: %i', (_, count, name, lines, agent) => {
    const user = played('One', [`user a1: ${LONG}`, `inbox a1: ${LONG}`, `user a1: ${MARKED}`])
    expect(leaksBetween([user, played(name, lines, agent)])).toHaveLength(count)
  })
})

describe('tokens', () => {
  /** Without the brackets of a token: a text may hold anything else. */
  const text = unicodeText().filter(value => !value.includes('⟦'))

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
