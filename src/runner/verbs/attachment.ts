/** Files the end user attaches: described, or read from disk beside the scenario. */
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import type { NewFile } from '../../platform/files.ts'
import { StepProblem } from './step-context.ts'

interface Described {
  readonly file?: string
  readonly name?: string
  readonly type?: string
  readonly size_kb?: number
}

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.zip': 'application/zip',
}

export async function fileFrom(wanted: unknown, scenarioFile: string): Promise<NewFile> {
  const { file, name, type, size_kb } = wanted as Described
  if (file === undefined) return { name: name!, type: type!, sizeKb: size_kb ?? 0, bytes: null }
  const bytes = await readFile(resolve(dirname(scenarioFile), file)).catch((error: Error) => {
    throw new StepProblem(`The attachment ${JSON.stringify(file)} cannot be read: ${error.message}`)
  })
  const shown = name ?? basename(file)
  const guessed = TYPES[extname(shown).toLowerCase()] ?? 'application/octet-stream'
  return { name: shown, type: type ?? guessed, sizeKb: Math.ceil(bytes.length / 1024), bytes: new Uint8Array(bytes) }
}
