/** The versions of Node that what is built runs on here. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** The Node of this machine, when it is another one than the pinned one of the development dependencies. */
function systemNode(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  const found = folders.map(folder => join(folder, 'node')).find(existsSync)
  return found === undefined || ['', process.version].includes(versionOf(found)) ? null : found
}
const other = systemNode()

/** Null for a path: there is no other. */
export const NODES: readonly [name: string, node: string | null][] = [
  [process.version, process.execPath],
  [other === null ? "the system's own, which is the same or not there" : versionOf(other), other],
]
