/** Presents journal entries outside of the simulator: without keys and signatures, and with failures in words. */
import type { Entry } from '../journal/entry.ts'
import { maskEntry } from '../journal/mask.ts'
import { failureText } from './delivery.ts'
import { driverFailureText } from './run-failures.ts'

/** `signatureHeader` is the name in force. */
export function presentEntry(entry: Entry, signatureHeader = ''): Entry {
  const masked = maskEntry(entry, signatureHeader)
  if (masked.kind === 'delivery' && masked.failure !== undefined)
    return Object.assign({}, masked, { error: failureText(masked.failure) })
  if (masked.kind === 'driver' && masked.failure !== undefined)
    return Object.assign({}, masked, { error: driverFailureText(masked.failure) })
  return masked
}
