/** Parts of a verdict, with what a test does not care about filled in. */

import type { StepRef } from '../../../src/evaluation/evaluator/failure.ts'
import type { Outcome, StepVerdict } from '../../../src/evaluation/evaluator/verdict.ts'
import type { FailureReport, RunReport, ScenarioReport } from '../../../src/evaluation/evaluator/wording/report.ts'

export const ref = (file: string, number: number, of: number, label: string, more: Partial<StepRef> = {}): StepRef => ({
  number,
  of,
  id: null,
  name: null,
  label,
  conversation: 'main',
  place: { file, line: 9 + number * 2, column: 5 },
  ...more,
})

/** Times count from the start of the run, whose first entry is at 5000. */
export const step = (
  of: StepRef,
  outcome: StepVerdict['outcome'],
  from?: number,
  to?: number,
  claimed: number[] = [],
): StepVerdict => ({
  ...of,
  outcome,
  startMs: from === undefined ? null : 5000 + from,
  endMs: to === undefined ? null : 5000 + to,
  claimed,
})

export const failure = (
  more: Partial<FailureReport> & Pick<FailureReport, 'kind' | 'expected' | 'happened'>,
): FailureReport => ({
  step: null,
  conversation: 'main',
  rules: [],
  nearest: [],
  entrySeqs: [],
  soft: false,
  code: 'warning',
  group: more.happened,
  ...more,
})

export const scenarioResult = (name: string, outcome: Outcome, more: Partial<ScenarioReport> = {}): ScenarioReport => {
  const file = more.file ?? 'scenarios/plain.yaml'
  return {
    name,
    outcome,
    file,
    place: { file, line: 1, column: 1 },
    reason: null,
    reasonCode: null,
    failures: [],
    warnings: [],
    steps: [],
    captures: {},
    tags: [],
    spec: [],
    seed: 1,
    clock: 'real',
    instance: 1,
    startedAt: '2024-01-01T09:00:00.000Z',
    durationMs: 1840,
    journal: [],
    conversations: {},
    rerunCommand: `npx handover-sim run ${file} --seed 1`,
    ...more,
  }
}

export const run = (scenarios: readonly ScenarioReport[], more: Partial<RunReport> = {}): RunReport => {
  const count = (outcome: Outcome) => scenarios.filter(played => played.outcome === outcome).length
  return {
    version: '0.1.0',
    startedAt: '2024-01-01T09:00:00.000Z',
    durationMs: 21_400,
    target: 'http://127.0.0.1:3000/webhook',
    seed: 1,
    scenarios,
    failures: [],
    journal: [],
    stopped: null,
    causes: [],
    counts: {
      pass: count('pass'),
      fail: count('fail'),
      error: count('error'),
      inconclusive: count('inconclusive'),
      skipped: count('skipped'),
    },
    exitCode: count('fail') > 0 ? 1 : 0,
    ...more,
  }
}
