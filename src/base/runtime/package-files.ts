/** Locates files of the installed package: the reference intermediary and the shipped scenarios. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of `examples/…` or `scenarios`; null when the package has no such file. Sources and bundle lie at different depths. */
export function packagePath(name: string): string | null {
  const candidates = ['..', '../..', '../../..'].map(root => fileURLToPath(new URL(`${root}/${name}`, import.meta.url)))
  return candidates.find(existsSync) ?? null
}
