/** Deterministic contents for files that were only described: real headers for the usual types, exact sizes. */
import { createRandom } from '../runtime/random.ts'
import type { StoredFile } from './state.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

/** One white pixel; readers ignore what follows the end marker. */
const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='),
  char => char.charCodeAt(0),
)
const GIF = Uint8Array.from(atob('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='), char => char.charCodeAt(0))

const PDF = ascii(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
)

function startOf(file: StoredFile): Uint8Array {
  if (file.type === 'image/png') return PNG
  if (file.type === 'image/gif') return GIF
  if (file.type === 'application/pdf') return PDF
  return new Uint8Array(0)
}

/** Exactly `size_kb` x 1024 bytes; the same file always has the same ones. */
export function fileBytes(file: StoredFile): Uint8Array {
  if (file.bytes !== null) return file.bytes
  const bytes = new Uint8Array(file.sizeKb * 1024)
  const start = startOf(file).subarray(0, bytes.length)
  bytes.set(start)
  if (file.type.startsWith('text/')) fillWithText(bytes, file)
  else fillWithNoise(bytes, start.length, file.id)
  return bytes
}

function fillWithText(bytes: Uint8Array, file: StoredFile): void {
  const line = ascii(`${file.name}: a line of a file made by handover-sim.\n`)
  for (let at = 0; at < bytes.length; at += line.length) bytes.set(line.subarray(0, bytes.length - at), at)
}

function fillWithNoise(bytes: Uint8Array, from: number, label: string): void {
  const random = createRandom(0, label)
  for (let at = from; at < bytes.length; at++) bytes[at] = random.below(256)
}
