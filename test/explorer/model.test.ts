/** Checks the model of conversations, the generator, and that every list of acts becomes a scenario that is valid. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keysOf } from '../../src/base/objects.ts'
import { toYaml } from '../../src/evaluation/scenario/build/yaml.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadText, loadValues } from '../../src/evaluation/scenario/load/load.ts'
import { generateSequence, nextSequence, simplerTexts, type Vocabulary } from '../../src/running/explorer/generate.ts'
import {
  ACT_FAULTS,
  ACT_RULES,
  type Act,
  type ActSequence,
  inModel,
  isPossible,
  PACES,
} from '../../src/running/explorer/model.ts'
import { countSituations, situationsOf, type Tried } from '../../src/running/explorer/situations.ts'
import { toScenario } from '../../src/running/explorer/to-scenario.ts'
import { ALL, SETTINGS } from './vocabulary.ts'

const LOAD = { cwd: process.cwd(), nodeVersion: process.version }

const textArbitrary = fc.record({
  kind: fc.constantFrom('plain', 'again', 'digits', 'emoji', 'html'),
  value: fc.string({ unit: 'grapheme', minLength: 1 }),
})

/** Any act, also one that is not possible where it stands. */
const actArbitrary: fc.Arbitrary<Act> = fc
  .record({
    kind: fc.constantFrom(...keysOf(ACT_RULES)),
    chat: fc.nat({ max: 2 }),
    pace: fc.constantFrom(...PACES),
    text: textArbitrary,
    fault: fc.option(fc.constantFrom(...keysOf(ACT_FAULTS)), { nil: undefined }),
  })
  .map(({ text, fault, ...act }) => ({
    ...act,
    ...((act.kind === 'user' || act.kind === 'says') && { text }),
    ...(fault && { fault }),
  }))
const actsArbitrary = fc.array(actArbitrary, { minLength: 1, maxLength: 25 })

async function stepsOfPlan(sequence: ActSequence, settings = SETTINGS): Promise<number> {
  const { scenario } = toScenario(sequence, settings)
  const loaded = await loadValues([scenario], LOAD)
  expect(loaded.flatMap(({ warnings }) => warnings)).toEqual([])
  return compile(loaded)[0]!.count
}

describe('the model', () => {
  it('leaves out what is not possible, numbers the chats from 0, and keeps one fault', () => {
    fc.assert(
      fc.property(actsArbitrary, acts => {
        const allowed = inModel({ acts })
        for (const { act, before } of allowed) expect(isPossible(before, act)).toBe(true)
        const chats = new Set(
          acts.filter(({ kind }) => !['away', 'back', 'restart'].includes(kind)).map(one => one.chat),
        )
        for (const { act } of allowed) expect(act.chat).toBeLessThan(Math.max(1, chats.size))
        expect(allowed.filter(({ act }) => act.fault !== undefined).length).toBeLessThanOrEqual(1)
        expect(allowed[0]?.act.pace ?? 'human').toBe('human')
        // What is left is a conversation as it is.
        const again = inModel({ acts: allowed.map(({ act }) => act) })
        expect(again).toEqual(allowed)
      }),
    )
  })

  it('a chat is with an agent between accept and leave only', () => {
    fc.assert(
      fc.property(actsArbitrary, acts => {
        const has = new Map<number, boolean>()
        for (const { act } of inModel({ acts })) {
          if (act.kind === 'accept') has.set(act.chat, true)
          if (act.kind === 'says' || act.kind === 'leave') expect(has.get(act.chat)).toBe(true)
          if (act.kind === 'leave') has.set(act.chat, false)
        }
      }),
    )
  })
})

describe('scenarios of acts', () => {
  it('every list of acts compiles without warnings, for each kind of help desk', async () => {
    await fc.assert(
      fc.asyncProperty(actsArbitrary, fc.boolean(), fc.boolean(), async (acts, inbox, notices) => {
        const settings = { ...SETTINGS, inbox, requests: inbox, notices }
        expect(await stepsOfPlan({ seed: 1, acts, knobs: {} }, settings)).toBeGreaterThan(0)
      }),
    )
  })

  it('the YAML of a scenario loads as the same plan', async () => {
    await fc.assert(
      fc.asyncProperty(actsArbitrary, async acts => {
        const { scenario, actOfStep } = toScenario({ seed: 1, acts, knobs: { 'ids.chat': 'hex24' } }, SETTINGS)
        const [plan] = compile(await loadText('any.yaml', toYaml(scenario), LOAD))
        const [direct] = compile(await loadValues([scenario], LOAD))
        const labels = (one: typeof plan) => one!.steps.map(item => (item.kind === 'step' ? item.label : item.kind))
        expect(labels(plan)).toEqual(labels(direct))
        expect(actOfStep.length).toBe(plan!.steps.length)
      }),
    )
  })

  it('an agent leaves at human pace when it has to see a text of the user first, also before a text of its own', () => {
    const paceOfLeave = (...kinds: readonly Act['kind'][]) => {
      const acts = ['press', 'accept', ...kinds, 'leave'].map(
        (kind, at) =>
          ({ kind, chat: 0, pace: at < 3 ? 'human' : 'quick', text: { kind: 'plain', value: kind } }) as Act,
      )
      return inModel({ acts }).at(-1)?.act.pace
    }
    expect(paceOfLeave('says', 'says')).toBe('quick')
    expect(paceOfLeave('user', 'says')).toBe('human')
    expect(paceOfLeave('says', 'user', 'says')).toBe('human')
  })

  it('a text that is written again is not delivered twice, because nothing tells its items apart', () => {
    const faultsWith = (text: string) => {
      const user = (value: string): Act => ({ kind: 'user', chat: 0, pace: 'human', text: { kind: 'plain', value } })
      const begun = (['press', 'accept'] as const).map((kind): Act => ({ kind, chat: 0, pace: 'human' }))
      const acts: Act[] = [...begun, { ...user('one'), fault: 'event-twice' }, user(text)]
      return inModel({ acts }).flatMap(({ act }) => act.fault ?? [])
    }
    expect(faultsWith('two')).toEqual(['event-twice'])
    expect(faultsWith('one')).toEqual([])
  })

  it('the checks of quick acts follow the last of them, in the order of the acts', () => {
    const act = (kind: Act['kind'], pace: Act['pace'], value?: string): Act => ({
      kind,
      chat: 0,
      pace,
      ...(value !== undefined && { text: { kind: 'plain', value } }),
    })
    const acts = [
      act('press', 'human'),
      act('accept', 'human'),
      act('says', 'human', 'one'),
      act('says', 'quick', 'two'),
      act('leave', 'quick'),
    ]
    const { steps } = toScenario({ seed: 1, acts, knobs: {} }, SETTINGS).scenario
    expect(steps.slice(-8)).toEqual(
      [
        { wait: '150ms' },
        { agent: { says: 'one' } },
        { agent: { says: 'two' } },
        { agent: 'leave' },
        { expect: { message: { message: 'one' } } },
        { expect: { message: { message: 'two' } } },
        { expect: 'end' },
        { check: { status: 'bot' } },
      ]
        .concat([{ check: { status: 'bot', typing: false } }] as never)
        .slice(-8),
    )
  })

  it('the act after a lost call waits until the intermediary has repeated it', () => {
    const waitsAfter = (fault?: Act['fault']) => {
      const acts: Act[] = [
        { kind: 'press', chat: 0, pace: 'human' },
        { kind: 'accept', chat: 0, pace: 'human', ...(fault && { fault }) },
        { kind: 'says', chat: 0, pace: 'quick', text: { kind: 'plain', value: 'Hello' } },
      ]
      const { steps } = toScenario({ seed: 1, acts, knobs: {} }, SETTINGS).scenario
      return steps.flatMap(({ wait }) => wait ?? [])
    }
    expect(waitsAfter()).toEqual(['150ms', '150ms'])
    expect(waitsAfter('refused')).toEqual(['150ms', '150ms'])
    expect(waitsAfter('answer-lost')).toEqual(['150ms', '3s'])
    expect(waitsAfter('request-lost')).toEqual(['150ms', '3s'])
  })

  it('a text that looks like a placeholder is written as it is', () => {
    const acts: Act[] = [
      { kind: 'press', chat: 0, pace: 'human' },
      { kind: 'accept', chat: 0, pace: 'human' },
      { kind: 'user', chat: 0, pace: 'human', text: { kind: 'unicode', value: '$(chat.id)' } },
      { kind: 'user', chat: 0, pace: 'human', text: { kind: 'html', value: 'not read' } },
    ]
    const { steps } = toScenario({ seed: 1, acts, knobs: {} }, SETTINGS).scenario
    expect(steps.flatMap(({ user }) => user ?? [])).toEqual(['$$(chat.id)', '$(texts.html)'])
  })
})

describe('the generator', () => {
  it('makes the same conversation from the same number, and others from others', () => {
    const first = [1, 2, 3, 4, 5].map(seed => generateSequence(seed, ALL))
    expect([1, 2, 3, 4, 5].map(seed => generateSequence(seed, ALL))).toEqual(first)
    expect(new Set(first.map(({ acts }) => JSON.stringify(acts))).size).toBe(5)
  })

  it('makes conversations that the model allows as they are, and that compile', async () => {
    for (let index = 0; index < 60; index++) {
      const sequence = nextSequence(7, index, ALL, new Map())
      expect(inModel(sequence).length).toBe(sequence.acts.length)
      expect(await stepsOfPlan(sequence)).toBeGreaterThan(0)
    }
  })

  it('leaves out what the vocabulary does not have', () => {
    const few: Vocabulary = {
      kinds: ['user', 'press', 'accept', 'leave'],
      faults: [],
      knobs: [],
      hasFiles: false,
      paces: ALL.paces,
    }
    for (let seed = 0; seed < 200; seed++) {
      const { acts, knobs } = generateSequence(seed, few)
      expect(acts.filter(({ kind, fault, files }) => !few.kinds.includes(kind) || fault || files)).toEqual([])
      expect(knobs).toEqual({})
    }
  })

  it('prefers what was tried least: as many conversations try more situations than without a memory', () => {
    const distinct = (isGuided: boolean) => {
      const tried = new Map<string, Tried>()
      const seen = new Set<string>()
      for (let index = 0; index < 120; index++) {
        const sequence = nextSequence(3, index, ALL, isGuided ? tried : new Map())
        countSituations(tried, sequence)
        for (const situation of situationsOf(sequence)) seen.add(situation)
      }
      return seen.size
    }
    expect(distinct(true)).toBeGreaterThan(distinct(false))
  })

  it('simpler texts end with the simplest, and a plain text has none', () => {
    expect(simplerTexts({ kind: 'plain', value: 'Question 1' }, 1)).toEqual([])
    const simpler = simplerTexts({ kind: 'unicode', value: 'xyzzy plugh' }, 1)
    expect(simpler[0]!.kind).toBe('plain')
    for (const { value } of simpler.slice(1)) expect(value.length).toBeLessThanOrEqual('xyzzy plugh'.length)
  })
})
