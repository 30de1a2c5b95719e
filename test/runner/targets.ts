/** Defines intermediaries with one defect each, and runs scenarios against them with the real command. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { type FakeIo, fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'

export interface Platform {
  readonly url: string
}

export interface Target {
  readonly url: string
  readonly server: Server
  readonly requests: readonly { readonly body: Record<string, never> }[]
  /** Resolves at the first request. */
  readonly requested: Promise<void>
}

export type Behaviour = (request: IncomingMessage, response: ServerResponse, body: Record<string, never>) => void

export async function startTarget(behave: Behaviour): Promise<Target> {
  const requests: { body: Record<string, never> }[] = []
  const first = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, never>
    requests.push({ body })
    first.resolve()
    behave(request, response, body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    server,
    requests,
    requested: first.promise,
  }
}

export interface Run {
  readonly code: Promise<number>
  readonly io: FakeIo
  readonly folder: string
}

/** Runs `handover-sim run` in a new folder with these files. */
export function startRun(
  files: Record<string, string>,
  argv: readonly string[],
  env: Record<string, string> = {},
): Run {
  const folder = folderWith(files)
  const io = fakeIo(folder)
  const code = main(['run', ...argv], env, io)
  return { code, io, folder }
}

export async function finished(run: Run): Promise<{ code: number; out: string; err: string; folder: string }> {
  const code = await run.code
  return { code, out: run.io.stdout.text, err: run.io.stderr.text, folder: run.folder }
}

/** Runs all files of a new folder against a target; `read` returns a report, such as `j.xml`. */
export async function runFiles(files: Record<string, string>, target: Pick<Target, 'url'>, ...flags: string[]) {
  const reports = ['--report', 'pretty,json=r.json,junit=j.xml']
  const run = startRun(files, ['.', '--target', target.url, '--port', '0', ...reports, ...flags])
  const done = await finished(run)
  const read = (name: string) => readFileSync(inFolder(done.folder, name), 'utf8')
  return { ...done, read }
}

/** A target that answers every event with this status, and makes no call. */
export const startAnswering = (status: number): Promise<Target> =>
  startTarget((_, response) => void response.writeHead(status).end())

export const inFolder = (folder: string, file: string): string => join(folder, file)

/** A call of the platform's API as an intermediary makes it. */
export function call(base: string, path: string, body: unknown): Promise<Response | null> {
  const headers = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' }
  const sent = fetch(`${base}/api/v2/handover/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return sent.catch(() => null)
}
