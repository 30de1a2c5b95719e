import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunReport } from '../../src/evaluation/evaluator/wording/report.ts'
import { reportOfRun } from '../../src/pages/reporters/report-model.ts'
import { tapReport as tapOf } from '../../src/pages/reporters/tap.ts'
import { anyText, hostileResult } from './hostile.ts'
import { failure, result } from './run-results.ts'
import { escapedPlay, openResult, passedResult, skippedResult, unreachableResult } from './samples.ts'
import { readTap } from './tap-checker.ts'

const tapReport = (run: RunReport): string => tapOf(reportOfRun(run))

describe('tap', () => {
  it('has a point for each scenario; inconclusive ones are skipped', () => {
    const { plan, points } = readTap(
      tapReport(result([passedResult(), escapedPlay(), openResult(), unreachableResult(), skippedResult()])),
    )
    expect(plan).toBe(5)
    expect(points.map(({ ok, number, text, skip }) => [ok, number, text, skip])).toEqual([
      [true, 1, 'scenarios/short.yaml > Short and good', null],
      [false, 2, 'scenarios/happy.yaml > Happy path', null],
      [true, 3, 'scenarios/agent.yaml > With an agent', 'inconclusive: the agent driver has no verb "transfer"'],
      [false, 4, 'scenarios/desk.yaml > No desk', null],
      [true, 5, 'scenarios/later.yaml > Later', 'not tagged smoke'],
    ])
  })

  it('reports cause, place and command of a failure', () => {
    const [, failed] = readTap(tapReport(result([passedResult(), escapedPlay()]))).points
    expect(failed!.facts).toMatchObject({
      message: `step 7: nearest: #12, message differs (only HTML escaping)`,
      severity: 'fail',
      at: 'scenarios/happy.yaml:19:5',
      duration_ms: 6400,
      seed: 1,
    })
    expect(failed!.facts.story).toContain('rerun: npx handover-sim run scenarios/happy.yaml --seed 1')
  })

  it('adds a point for failures outside of scenarios, and bails out of a stopped run', () => {
    const failures = [failure({ happened: 'a call for chat "nobody"' })]
    const { plan, points, bail } = readTap(tapReport(result([passedResult()], { failures, stopped: 'interrupted' })))
    expect([plan, points.length, points[1]!.ok, points[1]!.facts.message, bail]).toEqual([
      2,
      2,
      false,
      'a call for chat "nobody" (expected: expect message)',
      'interrupted',
    ])
  })

  it('has valid lines for any texts', () => {
    fc.assert(
      fc.property(anyText, text => {
        const scenarios = [
          hostileResult(text),
          hostileResult(text, 'error'),
          hostileResult(text, 'skipped'),
          hostileResult(text, 'pass'),
        ]
        const { plan, points } = readTap(tapReport(result(scenarios, { stopped: text })))
        expect(plan).toBe(4)
        expect(points.map(({ ok, skip }) => [ok, skip !== null])).toEqual([
          [false, false],
          [false, false],
          [true, true],
          [true, false],
        ])
      }),
    )
  })
})
