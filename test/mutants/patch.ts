/** Changes the source of the example intermediary. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const EXAMPLE = fileURLToPath(new URL('../../examples/intermediary/', import.meta.url))

export interface Patch {
  /** A file of examples/intermediary. */
  readonly file: string
  /** Must occur exactly once. */
  readonly find: string
  readonly replacement: string
}

/** Makes patches of a file: a text is replaced, or gets code before or behind it. */
function changing(file: string) {
  const change = (find: string, replacement: string): Patch => ({ file, find, replacement })
  return Object.assign(change, {
    before: (find: string, code: string) => change(find, `${code}\n${find}`),
    after: (find: string, code: string) => change(find, `${find}\n${code}`),
  })
}
export const conversations = changing('conversation.js')
export const desk = changing('desk.js')
export const deskApi = changing('desk-api.js')
export const history = changing('history.js')
export const http = changing('http.js')
export const outbox = changing('outbox.js')
export const platform = changing('platform.js')
export const program = changing('main.js')
export const settings = changing('settings.js')
export const signatures = changing('signature.js')
export const webhook = changing('webhook.js')

/** Throws when the text does not occur exactly once, which means that the example has changed. */
function applyPatch(source: string, { file, find, replacement }: Patch): string {
  const count = source.split(find).length - 1
  if (count === 1) return source.replace(find, () => replacement)
  throw new Error(`Failed to patch ${file}: ${JSON.stringify(find)} occurs ${count} times, expected once.`)
}

/** Writes the program of the example to a folder, changed by these patches, and returns the path of its main file. */
export function writeExample(folder: string, patches: readonly Patch[]): string {
  for (const name of readdirSync(EXAMPLE)) {
    if (/\.js(on)?$/.test(name)) copyFileSync(join(EXAMPLE, name), join(folder, name))
  }
  for (const patch of patches) {
    const path = join(folder, patch.file)
    writeFileSync(path, applyPatch(readFileSync(path, 'utf8'), patch))
  }
  return join(folder, 'main.js')
}
