/** Certifies the example intermediary, with or without a bug, through the command. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import type { Changes } from '../mutants/changes.ts'
import { NON_INTERACTIVE, writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'

export interface ReportedFinding {
  readonly level: 'MUST' | 'SHOULD' | 'INFO'
  readonly code: string
  readonly happened: string
  readonly hint: string
  readonly entry_seqs: readonly number[]
}

export interface ReportedCheck {
  readonly id: string
  readonly outcome: string
  readonly reason: string | null
  readonly reason_code: string | null
  readonly blocked_by: string | null
  readonly avoided: { readonly check: string } | null
  readonly findings: readonly ReportedFinding[]
  readonly measurements: Readonly<Record<string, number>>
  readonly rotated: Readonly<Record<string, unknown>>
  readonly decisive: readonly unknown[]
  readonly decisive_text: string | null
  readonly target_output: {
    readonly ended: string | null
    readonly lines: readonly string[]
    readonly file: string | null
  } | null
}

export interface ReportedCertificate {
  readonly exitCode: number
  readonly level: string | null
  /** Why the run ended early. */
  readonly stopped: string | null
  readonly checks: readonly ReportedCheck[]
  readonly counts: Readonly<Record<string, number>>
  readonly causes: readonly {
    readonly check: string
    readonly text: string
    readonly blocked: readonly string[]
    readonly repeated: readonly string[]
  }[]
  readonly stderr: string
}

/** Short, because the example answers within milliseconds. */
const OBSERVE = ['--observe', '400ms']

/** Runs `handover-sim certify` with a driver against the example with these changes. */
export async function certifyExample(changes: Changes, ...flags: string[]): Promise<ReportedCertificate> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-certify-'))
  try {
    const port = await freePort()
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', writeDriver(folder, port, changes)]
    return await certify(...where, ...OBSERVE, ...flags)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs `handover-sim certify` with these flags. */
export async function certify(...flags: string[]): Promise<ReportedCertificate> {
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  const port = flags.includes('--port') ? [] : ['--port', '0']
  const args = ['certify', ...port, '--report', 'json', ...flags]
  const exitCode = await main(args, {}, { ...NON_INTERACTIVE, stdout, stderr })
  if (stdout.text === '') throw new Error(`The command wrote no report: ${stderr.text}`)
  return { ...(JSON.parse(stdout.text) as ReportedCertificate), exitCode, stderr: stderr.text }
}

type Handler = (request: IncomingMessage, response: ServerResponse, server: Server) => void

/** Starts a webhook in this process until the end of the test, and resolves with its address. */
export async function startReceiver(handle: Handler): Promise<string> {
  const server = createServer((request, response) => handle(request, response, server))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
}
