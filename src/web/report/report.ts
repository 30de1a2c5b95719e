/** A run as one HTML file that needs nothing else: no network, no server, and for reading no scripts. */
import type { RunResult } from '../../evaluator/verdict.ts'
import { gatherEvidence } from './evidence.ts'
import { inOrder } from './order.ts'
import { orphans } from './orphans.ts'
import { overview, verdictOf } from './overview.ts'
import { page } from './page.ts'
import { playSection } from './play/play.ts'
import { scenarioList } from './scenario-list.ts'
import { warningsByRule } from './warnings.ts'

export function htmlReport(result: RunResult): string {
  const plays = inOrder(result.plays)
  const evidence = gatherEvidence(plays)
  const sections = plays.map((placed, index) => playSection(placed, evidence[index]!, index === firstToOpen(plays)))
  return page({
    title: verdictOf(result),
    version: result.version,
    parts: [overview(result), orphans(result), scenarioList(result, sections, evidence), warningsByRule(plays)],
  })
}

/** The first failure is open when the page is. */
const firstToOpen = (plays: ReturnType<typeof inOrder>) =>
  plays.findIndex(({ played }) => played.outcome === 'fail' || played.outcome === 'error')
