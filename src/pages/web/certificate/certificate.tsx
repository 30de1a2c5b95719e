/** Renders a certificate as one HTML file: what a team attaches to a release. */
import type { CertificateReport } from '../../../running/certifier/report.ts'
import { reportPage } from '../report/page.tsx'
import { collectTimelineData } from '../report/timeline-data.tsx'
import { CertificateOverview, levelHeading } from './certificate-overview.tsx'
import { CheckTable } from './check-table.tsx'
import { checkTimeline, NotableChecks } from './checks.tsx'
import { CoverageTables } from './coverage-tables.tsx'
import { NotExercised, NotShown, Varied } from './limits.tsx'
import { notableChecks } from './outcomes.ts'

export function htmlCertificate(certificate: CertificateReport): string {
  const notable = notableChecks(certificate.checks)
  const timelines = collectTimelineData(notable.map(checkTimeline))
  const children = (
    <>
      <CertificateOverview certificate={certificate} />
      <NotableChecks checks={notable} timelines={timelines} />
      <CheckTable certificate={certificate} notable={notable} />
      <NotExercised certificate={certificate} />
      <CoverageTables coverage={certificate.coverage} />
      <Varied certificate={certificate} />
      <NotShown />
    </>
  )
  return reportPage({ title: levelHeading(certificate), version: certificate.version, noun: 'check', children })
}
