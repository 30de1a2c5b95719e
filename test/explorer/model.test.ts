/** Checks the model of conversations, the generator, and that every list of acts becomes a scenario that is valid. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keysOf } from '../../src/base/objects.ts'
import { toYaml } from '../../src/evaluation/scenario/build/yaml.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadScenarioText, loadValues } from '../../src/evaluation/scenario/load/load.ts'
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
import { actsOf } from '../mutants/conversation-bugs.ts'
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
        const [plan] = compile(await loadScenarioText('any.yaml', toYaml(scenario), LOAD))
        const [direct] = compile(await loadValues([scenario], LOAD))
        const labels = (one: typeof plan) => one!.steps.map(item => (item.kind === 'step' ? item.label : item.kind))
        expect(labels(plan)).toEqual(labels(direct))
        expect(actOfStep.length).toBe(plan!.steps.length)
      }),
    )
  })

  it.each([
    ['says, says/quick', 'quick'],
    // The agent has to see a text of the user first, also before a text of its own.
    ['user, says/quick', 'human'],
    ['says, user/quick, says/quick', 'human'],
  ])('after %s an agent leaves at the pace %s', (between, pace) => {
    const acts = actsOf(`press, accept, ${between}, leave/quick`)
    expect(inModel({ acts }).at(-1)?.act.pace).toBe(pace)
  })

  it('a text that is written again is not delivered twice, because nothing tells its items apart', () => {
    const faultsWith = (text: string) => {
      const acts = actsOf(`press, accept, user:plain=one, user:plain=${text}`)
      acts[2] = { ...acts[2]!, fault: 'event-twice' }
      return inModel({ acts }).flatMap(({ act }) => act.fault ?? [])
    }
    expect(faultsWith('two')).toEqual(['event-twice'])
    expect(faultsWith('one')).toEqual([])
  })

  const stepsOf = (acts: readonly Act[]) => toScenario({ seed: 1, acts, knobs: {} }, SETTINGS).scenario.steps

  it('the checks of quick acts follow the last of them, in the order of the acts', () => {
    const acts = actsOf('press, accept, says:plain=one, says:plain=two/quick, leave/quick')
    expect(stepsOf(acts).slice(-8)).toEqual([
      { agent: { says: 'one' } },
      { agent: { says: 'two' } },
      { agent: 'leave' },
      { expect: { message: { message: 'one' } } },
      { expect: { message: { message: 'two' } } },
      { expect: 'end' },
      { check: { status: 'bot' } },
      { check: { status: 'bot', typing: false } },
    ])
  })

  it.each([
    [undefined, '150ms'],
    ['refused', '150ms'],
    ['answer-lost', '3s'],
    ['request-lost', '3s'],
  ] as const)(
    'the act after a call with the fault %s waits %s, until the intermediary has repeated it',
    (fault, wait) => {
      const acts = actsOf('press, accept, says/quick')
      if (fault) acts[1] = { ...acts[1]!, fault }
      expect(stepsOf(acts).flatMap(step => step.wait ?? [])).toEqual(['150ms', wait])
    },
  )

  it('a text that looks like a placeholder is written as it is', () => {
    const steps = stepsOf(actsOf('press, accept, user:unicode=$(chat.id), user:html=not read'))
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
    const kinds = ['user', 'press', 'accept', 'leave'] as const
    const few: Vocabulary = { kinds, faults: [], knobs: [], hasFiles: false, paces: ALL.paces }
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
