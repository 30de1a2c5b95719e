/** Reads the OpenAPI documents as users do, with `handover-sim openapi`. */
import { tmpdir } from 'node:os'
import type { Io } from '../../src/commands/io.ts'
import { main } from '../../src/commands/main.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by path
export async function openApiDocument(...flags: string[]): Promise<any> {
  const written: string[] = []
  const errors: string[] = []
  const io: Partial<Io> = {
    stdout: { write: text => void written.push(text), isTTY: false },
    stderr: { write: text => void errors.push(text), isTTY: false },
    cwd: tmpdir(),
    nodeVersion: process.version,
  }
  const code = await main(['openapi', ...flags], {}, io as Io)
  if (code !== 0) throw new Error(`Failed to read the OpenAPI document: ${errors.join('')}`)
  return JSON.parse(written.join(''))
}
