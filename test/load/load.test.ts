/** Puts a service under load that needs no network: what begins when, what is counted, and which rate is the limit. */
import { describe, expect, it } from 'vitest'
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import type { Plan } from '../../src/evaluation/scenario/plan.ts'
import { parseArrivals } from '../../src/running/load/arrivals.ts'
import { findLimit } from '../../src/running/load/limits.ts'
import { type LoadRunOptions, runLoad } from '../../src/running/load/load.ts'
import type { Runs } from '../../src/running/load/runs.ts'
import { parseThresholds } from '../../src/running/load/thresholds.ts'

type Conversation = { readonly plan: Plan; readonly instance: number }

const planOf = (name: string) => ({ name, steps: [] }) as unknown as Plan

/** Options of a load in which `converse` gives the outcome of each conversation, or a result. */
function optionsOf(
  converse: (one: Conversation) => string | object | Promise<string>,
  more: Partial<Omit<LoadRunOptions, 'arrivals' | 'thresholds'>> & { arrivals?: string; failIf?: string } = {},
): LoadRunOptions {
  const { arrivals = '100/s', failIf = 'verdict.fail > 0', ...rest } = more
  const runs: Pick<Runs, 'run' | 'simulators'> = {
    simulators: [],
    async run(one) {
      const ended = await converse(one)
      const result = typeof ended === 'string' ? { outcome: ended } : ended
      return { journal: [], failures: [], conversations: {}, variant: null, ...result } as unknown as ScenarioResult
    },
  }
  return {
    ...{ runs: runs as Runs, mix: [{ plan: planOf('Plain'), share: 1 }], users: 100, durationMs: 100, warmUpMs: 0 },
    ...{ arrivals: parseArrivals(arrivals)!, thresholds: parseThresholds(failIf), isWatched: false, seed: 1 },
    ...{ signal: new AbortController().signal, rerun: () => '', onProgress: () => {} },
    ...rest,
  }
}

describe('a load', () => {
  it('counts the conversations after the warm-up, and keeps the first three that fail', async () => {
    const converse = ({ instance }: Conversation) =>
      instance % 2 === 0 ? 'pass' : { outcome: 'fail', failures: [{ code: 'item_missing' }] }
    const result = await runLoad(optionsOf(converse, { arrivals: '200/s', warmUpMs: 50, failIf: 'verdict.fail > 40%' }))
    expect(result).toMatchObject({ started: 20, leftOut: 10, causes: [{ code: 'item_missing', count: 5 }] })
    expect(result.all).toMatchObject({ conversations: 10, verdicts: { pass: 5, fail: 5 } })
    expect(result.failed).toHaveLength(3)
    expect(result.thresholds).toMatchObject([{ text: 'verdict.fail > 40%', measured: 50, isMet: false }])
  })

  it('begins each scenario as often as its share says', async () => {
    const started = { Often: 0, Seldom: 0 }
    const converse = ({ plan }: Conversation) => {
      started[plan.name as keyof typeof started]++
      return 'pass'
    }
    const mix = Object.keys(started).map((name, index) => ({ plan: planOf(name), share: index === 0 ? 3 : 1 }))
    await runLoad(optionsOf(converse, { mix, arrivals: '2000/s' }))
    expect(started.Often + started.Seldom).toBe(200)
    expect(Math.abs(started.Seldom - 50)).toBeLessThan(15)
  })

  it('tells conversations in which a fault was hit from the others', async () => {
    const faulty = { outcome: 'pass', journal: [{ kind: 'fault' }, { kind: 'api', status: 429 }] }
    const result = await runLoad(optionsOf(({ instance }) => (instance > 8 ? faulty : 'pass')))
    expect(result.withFaults).toMatchObject({ conversations: 2, refused: 2 })
    expect(result.all).toMatchObject({ conversations: 10, refused: 2 })
  })

  it('with fewer users than arrivals begins late, and a time counts from when it should have begun', async () => {
    const converse = () => new Promise<string>(resolve => setTimeout(resolve, 100, 'pass'))
    const result = await runLoad(optionsOf(converse, { users: 2, arrivals: '80/s', failIf: 'late > 0' }))
    expect(result).toMatchObject({ started: 8, mostActive: 2, thresholds: [{ isMet: false }] })
    expect(result.all.late).toBeGreaterThanOrEqual(6)
  })

  it('--find-limit doubles the rate until a threshold is crossed, then halves the distance', async () => {
    const options = optionsOf(({ instance }) => (instance > 5 ? 'fail' : 'pass'), { durationMs: 200 })
    const { steps, result } = await findLimit(options, 10)
    expect(steps.map(({ rate }) => rate)).toEqual([10, 20, 40, 30, 25, 27.5])
    expect(steps.filter(({ isMet }) => isMet).map(({ rate }) => rate)).toEqual([10, 20, 25])
    expect(result.started).toBe(5)
  })
})
