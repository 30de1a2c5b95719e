/** Files the end user sends. Bytes are the uploaded ones, or made from the id when the link is opened. */
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
