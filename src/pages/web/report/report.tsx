/** Renders a run as one HTML file. */
import type { RunReport } from '../../../evaluation/evaluator/wording/report.ts'
import { Causes, OutsideFailures, Overview, verdictHeading, Warnings } from './overview.tsx'
import { reportPage } from './page.tsx'
import { ReportScenarios } from './report-scenarios.tsx'
import { linkScenarios } from './scenario-links.ts'
import { collectTimelineData, scenarioTimeline } from './timeline-data.tsx'

export function htmlReport(result: RunReport): string {
  const scenarios = linkScenarios(result.scenarios)
  const timelines = collectTimelineData(scenarios.map(scenarioTimeline))
  const children = (
    <>
      <Overview result={result} />
      <Causes result={result} linked={scenarios} />
      <OutsideFailures result={result} />
      <ReportScenarios result={result} scenarios={scenarios} timelines={timelines} />
      <Warnings scenarios={scenarios} />
    </>
  )
  return reportPage({ title: verdictHeading(result), version: result.version, noun: 'scenario', children })
}
