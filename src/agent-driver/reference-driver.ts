/** The built-in reference intermediary, started, with its own agent driver. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSource } from '../files/document.ts'
import { readText } from '../files/user-files.ts'
import { type DriverOptions, driverOf } from './create-driver.ts'
import type { Driver } from './driver.ts'
import { readDriver } from './read-driver.ts'
import { referenceFile, referenceStart } from './reference-program.ts'
import type { TargetLaunch } from './start-target.ts'
import { createTarget, type TargetProcess } from './target.ts'

export interface ReferenceDriver extends Driver {
  /** The same after every restart. */
  readonly url: string
  readonly webhookUrl: string
}

const STOP_WITHIN_MS = 2_000

export interface ReferenceOptions extends DriverOptions {
  /** Whether its chats survive a restart: it writes a file with every change then. Default true. */
  readonly remembers?: boolean
}

/** Running already. Rejects with `TargetProblem`. */
export async function referenceDriver({
  env,
  sim,
  onExit,
  remembers = true,
}: ReferenceOptions): Promise<ReferenceDriver> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-reference-'))
  const forget = () => rmSync(folder, { recursive: true, force: true })
  const start = (): TargetLaunch => {
    const port = target.url === null ? '0' : new URL(target.url).port
    return referenceStart('The reference intermediary', env, sim, {
      PORT: port,
      ...(remembers ? { STATE_FILE: join(folder, 'state.json') } : {}),
    })
  }
  const target: TargetProcess = createTarget({ start, stopTimeoutMs: STOP_WITHIN_MS, onExit })
  try {
    await target.start()
  } catch (error) {
    forget()
    throw error
  }
  const driver = driverOf(readReference(target.url!), env, target)
  const close = () => driver.close().finally(forget)
  return { ...driver, url: target.url!, webhookUrl: `${target.url}/webhook`, close }
}

function readReference(url: string) {
  const path = referenceFile('driver.yaml')
  const text = readText({ name: path, path, extension: '.yaml' })
  const source = parseSource(path, text, false)
  const value = { ...(source.value as object), http: url }
  const origin = { name: 'the reference driver', folder: dirname(path), http: null, commands: false, prompt: null }
  return readDriver({ ...source, value }, { ...origin, functions: {} })
}
