/** How a step came out. */
import type { Told } from './watch.ts'

export interface Ruling {
  /** open: not decided yet. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'open'
  readonly told?: Told
  /** Why, when inconclusive. */
  readonly reason?: string
}

export const PASSED: Ruling = { outcome: 'pass' }
export const OPEN: Ruling = { outcome: 'open' }
