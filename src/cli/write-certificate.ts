/** Writes the requested reports of a certificate. */
import { resolve } from 'node:path'
import type { CertificateReport } from '../certifier/report.ts'
import { saveText } from '../files/user-files.ts'
import { certificateText } from '../reporters/certificate-console.ts'
import { certificateJson } from '../reporters/certificate-json.ts'
import type { ReportRequest } from '../reporters/report-option.ts'
import { type Context, colorLevel, columnsOf } from './io.ts'

export async function writeCertificate(
  certificate: CertificateReport,
  requests: readonly ReportRequest[],
  { io, env }: Context,
): Promise<void> {
  for (const { report, file } of requests) {
    const level = file === null ? colorLevel(env, io.stdout.isTTY) : 0
    const text =
      report === 'json' ? certificateJson(certificate) : certificateText(certificate, level, columnsOf(env, io.stdout))
    if (file === null) io.stdout.write(text)
    else await saveText(resolve(io.cwd, file), text)
  }
}
