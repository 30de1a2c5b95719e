/** Attachment links: `{base_url}/files/{id}/{name}` (R-ATT, assumption 30). */
import { fileBytes } from '../platform/file-bytes.ts'
import { openFile } from '../platform/files.ts'
import { Refusal } from '../platform/refusal.ts'
import { lean, type Tx } from '../platform/tx.ts'
import { bytes, withMarker } from './answers.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { ApiPorts } from './ports.ts'

export const FILES_PREFIX = '/files/'

export function serveFile(ports: ApiPorts, exchange: Exchange, path: string, tx: Tx): Answer {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    throw new Refusal('method_not_allowed', `A file takes GET, got ${exchange.method}.`)
  }
  if (ports.room.knobs['attachments.auth'] === 'on') {
    ports.keyring.authorize(exchange.headers.authorization, 'handover', ports.room.nowMs(), () => {})
  }
  const [segment = '', name = ''] = path.slice(FILES_PREFIX.length).split('/')
  const file = openFile(ports.room, ports.room.links.fileId(segment) ?? '', decodeName(name))
  lean(tx, 30)
  const headers = {
    'content-type': headerSafe(file.type),
    'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    'x-content-type-options': 'nosniff',
  }
  return bytes(fileBytes(file), withMarker(headers, tx.rows, ports.markers))
}

/** A media type no header can carry is served as plain bytes. */
const headerSafe = (type: string): string =>
  /^[\x21-\x7e][\x20-\x7e]*$/.test(type) ? type : 'application/octet-stream'

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
