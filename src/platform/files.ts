/** Files the end user sends. Bytes are the uploaded ones, or made from the id when the link is opened. */

import { createRandom } from '../runtime/random.ts'
import { nextId } from './chats.ts'
import type { PlatformContext } from './context.ts'
import { Refusal } from './refusal.ts'
import type { Chat, StoredFile } from './state.ts'

export interface NewFile {
  readonly name: string
  readonly type: string
  readonly sizeKb: number
  readonly bytes?: Uint8Array | null
}

/** No URL can carry these. */
const HALF_PAIRS = /\p{Surrogate}/gu

const MAX_FILE_KB = 102_400

/** Throws the refusal for a file that cannot be sent. */
export function checkFile(platform: PlatformContext, file: NewFile): void {
  if (!Number.isSafeInteger(file.sizeKb) || file.sizeKb < 0) {
    const message = `attachments: size_kb of ${JSON.stringify(file.name)} must be a whole number, got ${file.sizeKb}.`
    throw new Refusal('invalid_parameter', message, { field: 'attachments' })
  }
  const limit = platform.knobs['limits.attachmentKb'] ?? MAX_FILE_KB
  if (file.sizeKb > limit) {
    const message = `attachments: ${JSON.stringify(file.name)} has ${file.sizeKb} KB, more than the ${limit} KB allowed.`
    throw new Refusal('payload_too_large', message, { field: 'attachments', assumed: ['limits.attachmentKb'] })
  }
}

export function storeFile(platform: PlatformContext, chat: Chat, file: NewFile): StoredFile {
  const stored: StoredFile = {
    id: nextId(chat, 'hex24', 'file'),
    name: file.name.replace(HALF_PAIRS, '\ufffd'),
    type: file.type,
    sizeKb: file.sizeKb,
    bytes: file.bytes ?? null,
    createdMs: platform.nowMs(),
  }
  platform.state.files.set(stored.id, stored)
  return stored
}

/** The file behind a link, unless its time (`attachments.ttl`) is up. */
export function openFile(platform: PlatformContext, id: string, name: string): StoredFile {
  const file = platform.state.files.get(id)
  if (file === undefined || file.name !== name) throw new Refusal('file_not_found', 'There is no such file.')
  const ttl = platform.knobs['attachments.ttl']
  if (ttl !== null && platform.nowMs() >= file.createdMs + ttl) {
    throw new Refusal('file_not_found', 'The link has expired.', { assumed: ['attachments.ttl'] })
  }
  return file
}

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
