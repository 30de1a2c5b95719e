/** The address of a call, filled in. */
import { fill, lookUp, type Scope } from '../../scenario/interpolation.ts'

const PLACE = /\$\$\(|\$\(([^()]*)\)/g

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** `base` as it is; in `path` what is filled in is encoded, so that an id cannot lead elsewhere. */
export function addressOf({ base, path }: { base: string; path: string }, scope: Scope): string {
  const start = asText(fill(base, scope)).replace(/\/+$/, '')
  const rest = path.replace(PLACE, (_, name: string | undefined) =>
    name === undefined ? '$(' : encoded(name, asText(lookUp(name, scope))),
  )
  return start + rest
}

/** A segment of dots would be taken for a step in the path, however it is written. */
function encoded(name: string, text: string): string {
  if (/^\.\.?$/.test(text)) throw new Error(`$(${name}) is ${JSON.stringify(text)}, which cannot stand in an address`)
  return encodeURIComponent(text.toWellFormed())
}
