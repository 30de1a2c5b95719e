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
  const { certificateAnnotations, certificateMarkdown } = await import('../pages/reporters/certificate-markdown.ts')
  writeToGitHub(certificateAnnotations(certificate), () => certificateMarkdown(certificate), context)
}

type Texts = Readonly<
  Record<
    Exclude<CertificateReportName, 'github'>,
    (certificate: CertificateReport, options: TextOptions) => Promise<string>
  >
>

/** Renderers by report, loaded when they are needed. */
const TEXT_OF: Texts = {
  pretty: async (certificate, { colorLevel, columns }) =>
    (await import('../pages/reporters/certificate-console.ts')).certificateText(certificate, colorLevel, columns),
  json: async certificate => (await import('../pages/reporters/certificate-json.ts')).certificateJson(certificate),
  html: async certificate => (await import('../pages/web/certificate/certificate.tsx')).htmlCertificate(certificate),
  junit: async certificate => (await import('../pages/reporters/certificate-ci.ts')).certificateJunit(certificate),
  tap: async certificate => (await import('../pages/reporters/certificate-ci.ts')).certificateTap(certificate),
  markdown: async certificate =>
    (await import('../pages/reporters/certificate-markdown.ts')).certificateMarkdown(certificate),
  badge: async certificate => (await import('../pages/reporters/certificate-badge.ts')).certificateBadge(certificate),
}
