/** Types of a workspace: a separate simulator behind a shared server. */
import type { SimulatorOptions } from '../options.ts'
import type { Simulator } from '../simulator.ts'

/** Missing options default to those of the server, except keys, bot id, seed and webhook. */
export interface WorkspaceOptions extends Omit<SimulatorOptions, 'baseUrl'> {
  /** Determines keys, bot id and seed. */
  readonly name?: string
}

export interface Workspace extends Simulator {
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
