/** Finds the versions of Node on this machine, to test the built package on each. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** Returns the Node on PATH when its version differs from the pinned development dependency. */
function systemNode(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  const found = folders.map(folder => join(folder, 'node')).find(existsSync)
  return found === undefined || ['', process.version].includes(versionOf(found)) ? null : found
}
const other = systemNode()

/** The path is null when there is no second version. */
export const NODES: readonly [name: string, node: string | null][] = [
  [process.version, process.execPath],
  [other === null ? "the system's version (none, or the same)" : versionOf(other), other],
]
