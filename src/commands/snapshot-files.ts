/** Reads the snapshot of `--import`, and writes that of `--export`. */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BUDGETS } from '../base/files/budgets.ts'
import { readRegularFile } from '../base/files/user-files.ts'
import { messageOf } from '../base/text/error-text.ts'
import { isKnob } from '../platform/contract/knobs.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import { captureSnapshot, snapshotText } from '../platform/simulator/snapshot/capture.ts'
import type { Snapshot } from '../platform/simulator/snapshot/schema.ts'
import type { Resolved } from '../server/config/resolve.ts'
import type { PlatformServerOptions } from '../server/start.ts'
import { type Io, UsageError } from './io.ts'
import { attempt, replaceFile } from './start-files.ts'

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
  const bytes = attempt(`--import: cannot read ${name}`, () => readRegularFile(resolve(cwd, file), BUDGETS.stateBytes))
  let read: unknown
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new UsageError(`--import: ${name} is not JSON: ${messageOf(error)}`)
  }
  if (typeof read === 'object' && read !== null) return read as Snapshot
  throw new UsageError(`--import: ${name} is not a snapshot: it must be a JSON object.`)
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
        replaceFile(path, [`${snapshotText(captureSnapshot(coreOf(simulator)))}\n`])
      } catch (error) {
        state = 'failed'
        stderr.write(`${failure}: ${messageOf(error)}\n`)
      }
    },
    failed: () => state === 'failed',
  }
}
