/** Announces that the simulator is ready: ready line, ready file, first commands. */
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/text/error-text.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { coreOf } from '../platform/simulator/simulator.ts'
import type { PlatformServer } from '../server/start.ts'
import { UsageError } from './io.ts'

/** The address without its credentials. */
function webhookUrlOf(server: PlatformServer): string | null {
  const { webhookUrl } = coreOf(server).address
  return webhookUrl === null ? null : withoutCredentials(webhookUrl)
}

/** The values of the ready line. `pid` is that of this process. `controlToken` exists only when the control API needs one. */
export const readyLine = (server: PlatformServer) => ({
  v: 1,
  type: 'ready',
  url: server.url,
  inspectorUrl: server.inspectorUrl,
  webhookUrl: webhookUrlOf(server),
  apiKey: server.apiKey,
  botApiKey: server.botApiKey,
  botId: server.botId,
  pid: process.pid,
  ...(server.controlToken === null ? {} : { controlToken: server.controlToken }),
})

const READY = 'Ready: '

/** The line that says to people that the simulator serves. */
export const readyText = (url: string): string => `${READY}${url}`

export const urlOfReadyLine = (line: string, isJson: boolean): string =>
  isJson ? String(JSON.parse(line).url) : line.slice(READY.length)

const JSON_HEADER = `-H 'content-type: application/json'`

/** Complete commands to type next. `desk` is the URL of the demo's help desk, where the user plays the agent. */
export function firstSteps(server: PlatformServer, desk: string | null): string {
  const rows: [string, string][] = [
    ...(server.inspectorUrl === null ? [] : [['page', server.inspectorUrl] satisfies [string, string]]),
    ['keys', 'keys.handover, keys.bot; to see them: handover-sim config --show-keys'],
    ['webhook', webhookUrlOf(server) ?? 'none: events go nowhere. Set it with --webhook-url URL, or try --demo'],
    ['a chat', curl(server, '/_sim/chats', {})],
    ['handover', curl(server, '/_sim/chats/CHAT_ID/press', { button: 'handover' })],
  ]
  if (desk !== null) {
    rows.push(['accept', `curl -s -X POST ${desk}/desk/CHAT_ID/accept`])
    rows.push(['reply', `curl -s ${desk}/desk/CHAT_ID/messages ${JSON_HEADER} -d '{"text":"Hello"}'`])
  }
  if (server.clock.mode === 'virtual')
    rows.push(['time', `stands still until: ${curl(server, '/_sim/clock/advance', { by: '10s' })}`])
  return rows.map(([name, text]) => `  ${name.padEnd(9)} ${text}\n`).join('')
}

function curl({ url, controlToken }: PlatformServer, path: string, body: unknown): string {
  const token = controlToken === null ? '' : ` -H 'authorization: Bearer ${controlToken}'`
  return `curl -s ${url}${path} ${JSON_HEADER}${token} -d '${JSON.stringify(body)}'`
}

/** Writes the ready file. Returns a function that removes it. */
export function writeReadyFile(file: string, cwd: string, text: string): () => void {
  const path = resolve(cwd, file)
  attempt(`--ready-file: cannot write ${JSON.stringify(file)}`, () => replaceFile(path, [text]))
  return () => {
    // Leaves a file that another simulator has written since.
    try {
      if (readFileSync(path, 'utf8') === text) rmSync(path)
    } catch {
      // The file was removed already.
    }
  }
}

/** Writes a file that only its owner reads, in one step, so that a reader never sees a part of it. */
export function replaceFile(path: string, pieces: Iterable<string>): void {
  const draft = `${path}.${process.pid}.tmp`
  try {
    const file = openSync(draft, 'w', 0o600)
    try {
      for (const piece of pieces) writeFileSync(file, piece)
    } finally {
      closeSync(file)
    }

    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Throws a `UsageError` that says what failed. */
export function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`)
  }
}
