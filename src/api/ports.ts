/** What the API needs from the rest of the house. */

import type { FaultRegistry } from '../faults/registry.ts'
import type { ApiContent, FaultContent } from '../journal/entry.ts'
import type { PlatformContext } from '../platform/context.ts'
import type { Engines, InOrder } from '../platform/engines.ts'
import type { Effect } from '../platform/transaction.ts'
import type { Keyring } from './keyring.ts'
import type { RateLimit } from './rate-limit.ts'

export interface ApiPorts {
  readonly platform: PlatformContext
  readonly keyring: Keyring
  readonly rateLimit: RateLimit
  readonly engines: Engines
  readonly inOrder: InOrder
  /** Whether answers carry the header that names assumptions. */
  readonly markers: boolean
  readonly faults: Pick<FaultRegistry, 'onApi' | 'takeApi'>
  /** Appends the call, the faults that struck it, and then what it caused. */
  commit(call: ApiContent, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Seq of the latest webhook event of a chat. */
  lastEvent(chatId: string): number | null
  /** Something asynchronous started; call what is returned when it has ended. */
  inFlight(): () => void
  /** Wall-clock latency, cut short by a reset. */
  delay(ms: number): Promise<void>
  /** A number that grows with every reset. */
  epoch(): number
  /** Aborts with the next reset. */
  resetSignal(): AbortSignal
}
