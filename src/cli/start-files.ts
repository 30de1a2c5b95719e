/** Announces that the simulator is ready (ready line, ready file, first commands), and reads and writes snapshots as files. */
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Resolved } from '../config/resolve.ts'
import { isKnob } from '../contract/knobs.ts'
import { BUDGETS } from '../files/budgets.ts'
import { readTextParts } from '../files/user-files.ts'
import type { PlatformServer, PlatformServerOptions } from '../server/start.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { captureLazily } from '../simulator/snapshot/capture.ts'
import type { Snapshot } from '../simulator/snapshot/schema.ts'
import { messageOf } from '../text/error-text.ts'
import { jsonPieces } from '../text/json-pieces.ts'
import { createJsonReader, JsonDepthError } from '../text/json-reader.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { type Io, UsageError } from './io.ts'

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
  return () => removeOwn(path, text)
}

/** Writes a file that only its owner reads, in one step, so that a reader never sees a part of it. */
function replaceFile(path: string, pieces: Iterable<string>): void {
  const draft = `${path}.${process.pid}.tmp`
  try {
    writePieces(draft, pieces)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function* jsonLine(value: unknown, present: (part: unknown) => unknown): Generator<string, void> {
  yield* jsonPieces(value, present)
  yield '\n'
}

function writePieces(path: string, pieces: Iterable<string>): void {
  const file = openSync(path, 'w', 0o600)
  try {
    for (const piece of pieces) writeFileSync(file, piece)
  } finally {
    closeSync(file)
  }
}

/** Leaves a file that another simulator has written since. */
function removeOwn(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) rmSync(path)
  } catch {
    // The file was removed already.
  }
}

/** Options that fit the snapshot. Flags and variables win over the settings in it. */
export function withSnapshot(file: string, cwd: string, { options, sources, values }: Resolved): PlatformServerOptions {
  const snapshot = readSnapshot(file, cwd)
  if (isTyped(sources.seed) && values.seed !== snapshot.seed) {
    const message = `--import: ${JSON.stringify(file)} has seed ${snapshot.seed}, and ${sources.seed} says ${values.seed}: leave that out.`
    throw new UsageError(message)
  }
  const typed = Object.entries(values).filter(([name]) => isKnob(name) && isTyped(sources[name]))
  const config = { ...snapshot.config, ...Object.fromEntries(typed) }
  return { ...options, ...clockFor(snapshot, sources.clock), snapshot: { ...snapshot, config } }
}

const isTyped = (from = '') => from.startsWith('--') || from.startsWith('HANDOVER_SIM_')

/** Uses the clock of the snapshot unless the user has chosen one. */
function clockFor({ clock }: Snapshot, from: string | undefined): Pick<PlatformServerOptions, 'clock'> {
  if (from !== 'default') return {}
  return { clock: clock?.mode === 'virtual' ? 'virtual' : 'real' }
}

function readSnapshot(file: string, cwd: string): Snapshot {
  const name = JSON.stringify(file)
  const parts = readTextParts(resolve(cwd, file), BUDGETS.snapshotBytes)
  const reader = createJsonReader(BUDGETS.snapshotNesting)
  for (;;) {
    const part = attempt(`--import: cannot read ${name}`, () => parts.next())
    if (part.done) break
    parseJson(name, () => reader.write(part.value))
  }
  const read = parseJson(name, reader.end)
  if (typeof read === 'object' && read !== null) return read as Snapshot
  throw new UsageError(`--import: ${name} is not a snapshot: it must be a JSON object.`)
}

function parseJson<T>(name: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof JsonDepthError)) throw new UsageError(`--import: ${name} is not JSON: ${messageOf(error)}`)
    throw new UsageError(`--import: ${name} is nested more than ${BUDGETS.snapshotNesting} levels deep.`)
  }
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`)
  }
}

export interface SnapshotExport {
  /** Writes the state at the first call, because closing removes state. A failure is reported on stderr. */
  write(simulator: PlatformSimulator): void
  failed(): boolean
}

/** Creates the folder at once, so that a wrong name fails at the start and not at the end. */
export function createSnapshotExport(file: string, { cwd, stderr }: Io): SnapshotExport {
  const path = resolve(cwd, file)
  const failure = `--export: cannot write ${JSON.stringify(file)}`
  attempt(failure, () => {
    mkdirSync(dirname(path), { recursive: true })
    accessSync(dirname(path), constants.W_OK)
  })
  let state: 'open' | 'written' | 'failed' = 'open'
  return {
    write(simulator) {
      if (state !== 'open') return
      state = 'written'
      try {
        const core = coreOf(simulator)
        replaceFile(path, jsonLine(captureLazily(core, {}), core.secrets.redactDeep))
      } catch (error) {
        state = 'failed'
        stderr.write(`${failure}: ${messageOf(error)}\n`)
      }
    },
    failed: () => state === 'failed',
  }
}
