/** One workspace: a whole simulator of its own behind the server it was made on. */
import type { SimulatorOptions } from '../simulator/options.ts'
import type { Simulator } from '../simulator.ts'

/** What is not given is as the server was started; keys, bot id, seed and webhook are the workspace's own. */
export interface WorkspaceOptions extends Omit<SimulatorOptions, 'baseUrl'> {
  /** With a name it has the same keys, bot id and seed whichever others there are. */
  readonly name?: string
}

export interface Workspace extends Simulator {
  readonly id: string
  /** As it was given; null when it was not. */
  readonly name: string | null
  /** The address of its server. */
  readonly url: string
  /** Where its control API begins. */
  readonly control: string
  /** Aborted when it is closed. */
  readonly closing: AbortSignal
}
