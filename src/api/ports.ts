/** What the API needs from the rest of the house. */
import type { Engines, InOrder } from '../engines/engines.ts'
import type { ApiContent } from '../journal/entry.ts'
import type { Room } from '../platform/room.ts'
import type { Effect } from '../platform/tx.ts'
import type { Keyring } from './keyring.ts'

export interface ApiPorts {
  readonly room: Room
  readonly keyring: Keyring
  readonly engines: Engines
  readonly inOrder: InOrder
  /** Whether answers carry the header that names assumptions. */
  readonly markers: boolean
  /** Appends the call and then what it caused. */
  commit(call: ApiContent, effects: readonly Effect[]): void
  /** Seq of the latest webhook event of a chat. */
  lastEvent(chatId: string): number | null
  /** Something asynchronous started; call what is returned when it has ended. */
  inFlight(): () => void
  /** Wall-clock latency, cut short by a reset. */
  delay(ms: number): Promise<void>
  /** A number that grows with every reset. */
  epoch(): number
}
