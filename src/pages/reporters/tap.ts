/** Renders TAP 14: a test point per scenario, with a YAML block of details. */

import { visible } from '../../base/text/terminal-text.ts'
import type { FailureReport, RunReport, ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { placeText } from '../../evaluation/scenario/plan.ts'
import { causeOf, detailLines, headlineOf, outsideDetailLines, outsideText, PLAIN_LAYOUT } from './failures.ts'
import { titleOf } from './pretty.ts'

export function tapReport(result: RunReport): string {
  const outside = result.failures.length > 0 ? [outsidePoint(result)] : []
  const points = [...result.scenarios.map(pointOf), ...outside]
  const numbered = points.map(({ ok, text, block }, index) => [
    `${ok ? 'ok' : 'not ok'} ${index + 1} - ${text}`,
    ...block,
  ])
  const lines = ['TAP version 14', `1..${points.length}`, ...numbered.flat()]
  return `${[...lines, ...(result.stopped === null ? [] : [`Bail out! ${visible(result.stopped)}`])].join('\n')}\n`
}

interface Point {
  readonly ok: boolean
  readonly text: string
  readonly block: readonly string[]
}

/** Escapes `#`, which begins a directive. */
export const description = (text: string) => visible(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#')

/** Reports scenarios without a verdict as skipped, with the reason, so that they never count as passed. */
function pointOf(scenario: ScenarioReport): Point {
  const { outcome, reason } = scenario
  const ok = outcome !== 'fail' && outcome !== 'error'
  const why = description(reason ?? causeOf(scenario))
  const directive =
    outcome === 'skipped' ? ` # SKIP ${why}` : outcome === 'inconclusive' ? ` # SKIP inconclusive: ${why}` : ''
  return { ok, text: `${description(titleOf(scenario))}${directive}`.trimEnd(), block: blockOf(factsOf(scenario, ok)) }
}

function factsOf(scenario: ScenarioReport, ok: boolean): Facts {
  const { durationMs, seed, outcome, failures } = scenario
  const common = { duration_ms: Math.round(durationMs), seed }
  if (ok) return common
  const message = causeOf(scenario)
  return {
    message,
    severity: outcome,
    at: whereOf(scenario, failures[0]),
    ...common,
    story: detailLines(scenario, PLAIN_LAYOUT),
  }
}

function whereOf({ place, file }: ScenarioReport, failure: FailureReport | undefined): string {
  const at = failure?.step?.place ?? place
  return at === null ? file : visible(placeText(at))
}

function outsidePoint(result: RunReport): Point {
  const facts = {
    message: result.failures.slice(0, 1).map(headlineOf).join(),
    severity: 'fail',
    story: outsideDetailLines(result, PLAIN_LAYOUT),
  }
  return { ok: false, text: outsideText(), block: blockOf(facts) }
}

type Facts = Readonly<Record<string, string | number | readonly string[]>>

/** Writes texts as JSON strings, which are valid YAML. */
export function blockOf(facts: Facts): string[] {
  const lines = Object.entries(facts).flatMap(([key, value]) =>
    Array.isArray(value) ? [`${key}:`, ...value.map(line => `  - ${scalar(line)}`)] : [`${key}: ${scalar(value)}`],
  )
  return ['---', ...lines, '...'].map(line => `  ${line}`)
}

const scalar = (value: unknown) => JSON.stringify(typeof value === 'string' ? visible(value) : value)
