/** Announces that the simulator is ready: the ready line, the ready file, and commands to try first. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PlatformServer } from '../server/start.ts'
import { messageOf } from '../text/error-text.ts'
import { UsageError } from './errors.ts'

export interface ReadyLine {
  readonly v: 1
  readonly type: 'ready'
  readonly url: string
  readonly inspectorUrl: string | null
  readonly webhookUrl: string | null
  readonly apiKey: string
  readonly botApiKey: string
  readonly botId: number
  /** Only when the control API asks for one. */
  readonly controlToken?: string
}

function webhookUrlOf(server: PlatformServer): string | null {
  const url = server.config()['webhook.url']
  return typeof url === 'string' ? url : null
}

export function readyLine(server: PlatformServer): ReadyLine {
  return {
    v: 1,
    type: 'ready',
    url: server.url,
    inspectorUrl: null,
    webhookUrl: webhookUrlOf(server),
    apiKey: server.apiKey,
    botApiKey: server.botApiKey,
    botId: server.botId,
    ...(server.controlToken === null ? {} : { controlToken: server.controlToken }),
  }
}

const JSON_HEADER = `-H 'content-type: application/json'`

/** Complete commands to type next. `desk` is the URL of the demo's help desk, where the user plays the agent. */
export function firstSteps(server: PlatformServer, desk: string | null): string {
  const rows: [string, string][] = [
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

/** Writes the file in one step. Returns a function that removes it. */
export function writeReadyFile(file: string, cwd: string, text: string): () => void {
  const path = resolve(cwd, file)
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, text)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new UsageError(`--ready-file: cannot write ${JSON.stringify(file)}: ${messageOf(error)}`)
  }
  return () => removeOwn(path, text)
}

/** Leaves a file that another simulator has written since. */
function removeOwn(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) rmSync(path)
  } catch {
    // Already gone: that is what was wanted.
  }
}
