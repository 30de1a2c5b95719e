/** Presents journal entries outside of the simulator: without keys and signatures, and with texts for codes. */
import type { ApiContent, Entry } from '../journal/entry.ts'
import { maskEntry } from '../journal/mask.ts'
import { driverFailureText, failureText } from './failures.ts'

/** `signatureHeader` is the name in force. */
export function presentEntry(entry: Entry, signatureHeader = ''): Entry {
  const masked = maskEntry(entry, signatureHeader)
  if (masked.kind === 'delivery' && masked.failure !== undefined)
    return Object.assign({}, masked, { error: failureText(masked.failure) })
  if (masked.kind === 'driver' && masked.failure !== undefined)
    return Object.assign({}, masked, { error: driverFailureText(masked.failure) })
  return masked
}

export const assumedIn = ({ unspecified }: Pick<ApiContent, 'unspecified'>): string[] =>
  Object.entries(unspecified).map(([name, value]) => (value === null ? name : `${name}=${String(value)}`))
