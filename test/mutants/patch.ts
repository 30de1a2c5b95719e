/** Applies a change to the source of the example intermediary. */
export interface Patch {
  /** A file of examples/intermediary. */
  readonly file: string
  /** Must occur exactly once. */
  readonly find: string
  readonly replacement: string
}

/** Throws when the text does not occur exactly once, which means that the example has changed. */
export function applyPatch(source: string, { file, find, replacement }: Patch): string {
  const count = source.split(find).length - 1
  if (count === 1) return source.replace(find, () => replacement)
  throw new Error(`Failed to patch ${file}: ${JSON.stringify(find)} occurs ${count} times, expected once.`)
}
