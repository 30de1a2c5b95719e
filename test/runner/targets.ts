/** Defines intermediaries with one defect each, and runs scenarios against them with the real command. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import type { RunResult, ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
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

const REPORTS = 'pretty,json=r.json,junit=j.xml'

/** The flags of a run against a target: a free port, and the reports that `runFiles` reads. */
export const against = ({ url }: Pick<Target, 'url'>) => ['--target', url, '--port', '0', '--report', REPORTS]

/** Runs all files of a new folder against a target; `read` returns a report, such as `j.xml`. */
export const runFiles = (files: Record<string, string>, target: Pick<Target, 'url'>, ...flags: string[]) =>
  reported(startRun(files, ['.', ...against(target), ...flags]))

/** The end of a run with its reports. */
export async function reported(run: Run) {
  const done = await finished(run)
  const read = (name: string) => readFileSync(inFolder(done.folder, name), 'utf8')
  return { ...done, read, json: JSON.parse(read('r.json')) as RunReport }
}

type ScenarioFields = 'name' | 'outcome' | 'seed' | 'conversations' | 'captures' | 'failures' | 'steps'

/** What tests read of the JSON report. */
export interface RunReport extends Pick<RunResult, 'failures' | 'causes'> {
  readonly exit_code: number
  readonly stopped: string | null
  readonly scenarios: readonly (Pick<ScenarioResult, ScenarioFields> & {
    readonly reason: string | null
    readonly warnings: readonly { readonly rule: string; readonly message: string }[]
    readonly rerun: string
    readonly started_at: string
    readonly duration_ms: number
  })[]
}

/** Makes the calls of an intermediary about the chat of an event. */
export function callsAbout(body: Record<string, never>) {
  const { chat, bot } = body as unknown as { chat: { id: string; _links: { self: string } }; bot?: { id: number } }
  const ids = { bot_id: bot?.id, chat_id: chat.id }
  return (path: string, more: object = {}) => call(new URL(chat._links.self).origin, path, { ...ids, ...more })
}

/** Takes every chat over as soon as it is asked to, after it has done `first`. */
export function startEager(first: (calls: ReturnType<typeof callsAbout>, chatId: string) => unknown = () => {}) {
  return startTarget(async (_, response, body) => {
    response.end()
    if (body.event !== ('REQUESTING TAKEOVER' as never)) return
    const calls = callsAbout(body)
    await first(calls, (body as unknown as { chat: { id: string } }).chat.id)
    await calls('start')
  })
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
