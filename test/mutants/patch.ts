/** A change of the example intermediary's source: what stands there, and what stands there instead. */
export interface Patch {
  /** Of examples/intermediary. */
  readonly file: string
  /** Has to be there exactly once. */
  readonly find: string
  readonly replacement: string
}

/** Throws when the place is not there, or not the only one: then the example has changed. */
export function applyPatch(source: string, { file, find, replacement }: Patch): string {
  const count = source.split(find).length - 1
  if (count === 1) return source.replace(find, () => replacement)
  throw new Error(`${file} has ${count} places reading ${JSON.stringify(find)}; a patch needs exactly one.`)
}
