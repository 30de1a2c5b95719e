/** Reads the snapshot of `--import` and writes that of `--export`. */
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Resolved } from '../config/resolve.ts'
import { isKnob } from '../contract/knobs.ts'
import type { PlatformServerOptions } from '../server/start.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import type { Snapshot } from '../simulator/snapshot/schema.ts'
import { messageOf } from '../text/error-text.ts'
import { UsageError } from './errors.ts'

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
  const text = attempt(`--import: cannot read ${JSON.stringify(file)}`, () => readFileSync(resolve(cwd, file), 'utf8'))
  const read = attempt(`--import: ${JSON.stringify(file)} is not JSON`, (): unknown => JSON.parse(text))
  if (typeof read === 'object' && read !== null) return read as Snapshot
  throw new UsageError(`--import: ${JSON.stringify(file)} is not a snapshot: it must be a JSON object.`)
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`)
  }
}

export interface Export {
  /** Writes the state there is; a reader never sees half a file. Says why when that failed. */
  write(simulator: PlatformSimulator): string | null
}

/** Makes the folder at once, so that a wrong name fails at the start and not at the end. */
export function exportTo(file: string, cwd: string): Export {
  const path = resolve(cwd, file)
  const failure = (error: unknown) => `--export: cannot write ${JSON.stringify(file)}: ${messageOf(error)}`
  try {
    mkdirSync(dirname(path), { recursive: true })
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw new UsageError(failure(error))
  }
  const draft = `${path}.${process.pid}.tmp`
  return {
    write(simulator) {
      try {
        writeFileSync(draft, `${JSON.stringify(simulator.snapshot())}\n`)
        renameSync(draft, path)
        return null
      } catch (error) {
        rmSync(draft, { force: true })
        return failure(error)
      }
    },
  }
}
