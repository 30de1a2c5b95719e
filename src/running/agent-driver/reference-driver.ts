/** Starts the reference intermediary of this package, with its own agent driver. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSource } from '../../base/files/document.ts'
import { readText } from '../../base/files/user-files.ts'
import { packagePath } from '../../base/runtime/node.ts'
import { type DriverOptions, driverOf } from './create-driver.ts'
import type { Driver, DriverSpec, Environment } from './driver.ts'
import { readDriver } from './read-driver.ts'
import {
  type SimulatorAccess,
  simulatorVariables,
  type TargetLaunch,
  TargetProcess,
  TargetStartError,
} from './target.ts'

export interface ReferenceDriver extends Driver {
  /** Stays the same after a restart. */
  readonly url: string
  readonly webhookUrl: string
}

const STOP_TIMEOUT_MS = 2_000

export interface ReferenceOptions extends DriverOptions {
  /** Whether it stores its chats in a file, so that they survive a restart. Default true. */
  readonly storesChats?: boolean
}

/** Resolves when it is ready. Rejects with `TargetStartError`. */
export async function referenceDriver(options: ReferenceOptions): Promise<ReferenceDriver> {
  const { env, sim, onExit, storesChats = true } = options
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-reference-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  const start = (): TargetLaunch => {
    const variables = {
      PORT: target.url === null ? '0' : new URL(target.url).port,
      ...(storesChats && { STATE_FILE: join(folder, 'state.json') }),
    }
    return referenceStart('The reference intermediary', env, sim, variables)
  }
  const target: TargetProcess = new TargetProcess({ start, stopTimeoutMs: STOP_TIMEOUT_MS, onExit })
  try {
    await target.start()
  } catch (error) {
    removeFolder()
    throw error
  }
  const url = String(target.url)
  const driver = driverOf(referenceSpec(url), env, target)
  const close = () => driver.close().finally(removeFolder)
  return { ...driver, url, webhookUrl: `${url}/webhook`, close }
}

/** The driver of a reference intermediary at `url`. */
export function referenceSpec(url: string): DriverSpec {
  const path = referenceFile('driver.yaml')
  const text = readText({ name: path, path, extension: '.yaml' })
  const source = parseSource(path, text, false)
  const value = { ...Object(source.value), http: url }
  return readDriver({ ...source, value }, { name: 'the reference driver', folder: dirname(path) })
}

const READY_TIMEOUT_MS = 15_000

/** Variables that other programs may use for purposes of their own: the reference intermediary does not inherit them. */
const NOT_INHERITED = ['HOST', 'STATE_FILE', 'AGENT_NAME', 'AGENT_AVATAR', 'AGENT_LANGUAGES']

/** Describes its start. `variables` are added to the environment. */
export function referenceStart(
  name: string,
  env: Environment,
  sim: SimulatorAccess,
  variables: Readonly<Record<string, string>>,
): TargetLaunch {
  const inherited = { ...env }
  for (const name of NOT_INHERITED) delete inherited[name]
  const main = referenceFile('main.js')
  return {
    name,
    command: [process.execPath, main],
    cwd: dirname(main),
    env: { ...inherited, ...simulatorVariables(sim), ...variables },
    ready: null,
    readyTimeoutMs: READY_TIMEOUT_MS,
  }
}

/** Throws `TargetStartError`. */
function referenceFile(name: string): string {
  const found = packagePath(`examples/intermediary/${name}`)
  if (found !== null) return found
  throw new TargetStartError('The reference intermediary', { code: 'not_installed' })
}
