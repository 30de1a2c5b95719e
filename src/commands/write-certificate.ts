/** Writes the requested reports of a certificate. */

import type { CertificateReportName, ReportRequest } from '../pages/reporters/report-option.ts'
import { type CertificateReport, withExitCode } from '../running/certifier/report.ts'
import { type ReportContext, type TextOptions, writeRequested, writeText, writeToGitHub } from './write-requested.ts'

type Request = ReportRequest<CertificateReportName>

/** Resolves with the problems; never rejects. */
export async function writeCertificate(
  certificate: CertificateReport,
  requests: readonly Request[],
  context: ReportContext,
): Promise<string[]> {
  const write = (request: Request, exitCode: number) => writeOne(withExitCode(certificate, exitCode), request, context)
  return writeRequested(requests, certificate.exitCode, write, context.io)
}

async function writeOne(certificate: CertificateReport, request: Request, context: ReportContext): Promise<void> {
  const { report } = request
  if (report === 'github') return annotate(certificate, context)
  await writeText(async options => [await TEXT_OF[report](certificate, options)], request, context)
}

async function annotate(certificate: CertificateReport, context: ReportContext): Promise<void> {
  const { githubAnnotations, markdownReport } = await import('../pages/reporters/github.ts')
  const report = await modelOf(certificate)
  writeToGitHub(githubAnnotations(report), () => markdownReport(report), context)
}

const modelOf = async (certificate: CertificateReport) =>
  (await import('../pages/reporters/report-model.ts')).reportOfCertificate(certificate)

type Texts = Readonly<
  Record<
    Exclude<CertificateReportName, 'github'>,
    (certificate: CertificateReport, options: TextOptions) => Promise<string>
  >
>

/** Renderers by report, loaded when they are needed. */
const TEXT_OF: Texts = {
  pretty: async (certificate, options) =>
    (await import('../pages/reporters/pretty-certificate.ts')).certificateText(certificate, options),
  json: async certificate => (await import('../pages/reporters/json.ts')).certificateJson(certificate),
  html: async certificate => (await import('../pages/web/report/certificate.tsx')).htmlCertificate(certificate),
  junit: async certificate => (await import('../pages/reporters/junit.ts')).junitReport(await modelOf(certificate)),
  tap: async certificate => (await import('../pages/reporters/tap.ts')).tapReport(await modelOf(certificate)),
  markdown: async certificate =>
    (await import('../pages/reporters/github.ts')).markdownReport(await modelOf(certificate)),
  badge: async certificate => (await import('../pages/reporters/badge.ts')).certificateBadge(certificate),
}
