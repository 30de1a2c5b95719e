/** Types of a workspace: a separate simulator behind a shared server. */
import type { PlatformSimulatorOptions } from '../options.ts'
import type { PlatformSimulator } from '../simulator.ts'

/** Missing options default to those of the server, except keys, bot id, seed and webhook. */
export interface PlatformWorkspaceOptions extends Omit<PlatformSimulatorOptions, 'baseUrl'> {
  /** Determines keys, bot id and seed. */
  readonly name?: string
}

export interface PlatformWorkspace extends PlatformSimulator {
  readonly id: string
  /** Null if the workspace was created without a name. */
  readonly name: string | null
  /** The address of its server. */
  readonly url: string
  /** The base URL of its control API. */
  readonly control: string
  /** Aborts when the workspace is closed. */
  readonly closing: AbortSignal
}
