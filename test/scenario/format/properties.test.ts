/** Tests rules that hold for every scenario, with generated scenarios. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSources } from '../../../src/base/files/document.ts'
import { type Step, toYaml } from '../../../src/evaluation/scenario/build/index.ts'
import { compile } from '../../../src/evaluation/scenario/compile/compile.ts'
import { loadValues } from '../../../src/evaluation/scenario/load/load.ts'
import {
  isCheck,
  isStimulus,
  type Plan,
  type PlannedItem,
  type PlannedStep,
} from '../../../src/evaluation/scenario/plan.ts'
import { anyCheck, anyPassing, anyScenario, anyStimulus } from './some-scenario.ts'
import { allSteps } from './written.ts'

const planOf = async (value: unknown): Promise<Plan> =>
  compile(await loadValues([value], { cwd: '/', nodeVersion: process.version }))[0]!

/** As 2.1 of the format has it, for steps one after the other. */
function turnsOneByOne(steps: readonly PlannedStep[]): number[][] {
  return steps.map((_, index) => {
    const before = steps.slice(0, index + 1)
    const stimuli = before.filter(isStimulus)
    const openers = stimuli.filter(one => {
      const previous = before.filter(other => other.number < one.number && (isStimulus(other) || isCheck(other))).at(-1)
      return previous === undefined || isCheck(previous)
    })
    return openers.slice(-1).map(({ number }) => number)
  })
}

const CHATTY: readonly string[] = ['user', 'press', 'bot', 'sees', 'expect', 'none', 'deliver']

const leaves = (items: readonly PlannedItem[]): number =>
  items.reduce(
    (sum, item) => sum + (item.kind === 'step' ? 1 : item.branches.reduce((of, one) => of + leaves(one), 0)),
    0,
  )

describe('every scenario', () => {
  it('compiles to numbered steps; earlier stimuli open the turns, and an inbox is read before a sees', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async scenario => {
        const plan = await planOf(scenario)
        const steps = allSteps(plan)
        expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1))
        expect(plan.count).toBe(steps.length)
        expect(leaves(plan.steps)).toBe(steps.length)
        for (const { turn, number, action, conversation, label } of steps) {
          expect(turn.every(one => one <= number && isStimulus(steps[one - 1]!))).toBe(true)
          expect([...turn].sort((a, b) => a - b)).toEqual(turn)
          if (action.verb === 'sees')
            for (const one of turn) expect(steps[one - 1]!.readsInboxOf).toContain(conversation)
          expect(label).toMatch(/^[^\n]{1,100}$/u)
          if (CHATTY.includes(action.verb)) expect(plan.conversations.map(({ name }) => name)).toContain(conversation)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('without branches, a stimulus after a check opens a turn', async () => {
    const step = fc.oneof(anyStimulus, anyCheck, anyPassing)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), anyCheck, async (steps: Step[], last) => {
        const planned = allSteps(await planOf({ version: 1, name: 'T', steps: [...steps, last] }))
        expect(planned.map(({ turn }) => turn)).toEqual(turnsOneByOne(planned))
      }),
      { numRuns: 200 },
    )
  })

  it('stays the same when it is written as YAML and read again', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async scenario => {
        const [source, ...others] = parseSources('s.yaml', toYaml(scenario), false)
        expect(others).toEqual([])
        expect(source!.value).toEqual(scenario)
        expect(await planOf(source!.value)).toEqual(await planOf(scenario))
      }),
      { numRuns: 100 },
    )
  })

  it('several scenarios become documents of one file', () => {
    fc.assert(
      fc.property(fc.array(anyScenario, { minLength: 1, maxLength: 3 }), scenarios => {
        expect(parseSources('s.yaml', toYaml(scenarios), false).map(({ value }) => value)).toEqual(scenarios)
      }),
      { numRuns: 50 },
    )
  })
})
