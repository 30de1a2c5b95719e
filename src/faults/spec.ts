/** The shapes of a fault for code that reads no input: the schema itself is in `schema.ts`. */
import type { FaultSpec } from './schema.ts'

export type { FaultOn, FaultSpec } from './schema.ts'

/** A fault that was set, and what it did so far. */
export interface NamedFault extends FaultSpec {
  readonly name: string
  readonly hits: number
  /** How many hits it has in all; null: until it is cleared. */
  readonly of: number | null
  readonly used_up: boolean
  /** Events it keeps back right now. */
  readonly holding: number
}
