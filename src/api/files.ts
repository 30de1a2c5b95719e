/** Attachment links: `{base_url}/files/{id}/{name}` (R-ATT). */
import { fileBytes, openFile } from '../platform/files.ts'
import { Refusal } from '../platform/refusal.ts'
import { assumed, type Transaction } from '../platform/transaction.ts'
import { bytes, withUnspecified } from './answers.ts'
import type { ApiPorts } from './call.ts'
import type { Answer, Exchange } from './exchange.ts'

export const FILES_PREFIX = '/files/'

export function serveFile(ports: ApiPorts, exchange: Exchange, path: string, transaction: Transaction): Answer {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    throw new Refusal('method_not_allowed', `A file takes GET, got ${exchange.method}.`)
  }
  if (ports.platform.knobs['attachments.auth'] === 'on') {
    ports.keyring.authorize(exchange.headers.authorization, 'handover', ports.platform.nowMs(), () => {})
  }
  const [segment = '', name = ''] = path.slice(FILES_PREFIX.length).split('/')
  const file = openFile(ports.platform, ports.platform.links.fileId(segment) ?? '', decodeName(name))
  assumed(transaction, 'attachments.auth', 'attachments.ttl')
  const headers = {
    'content-type': headerSafe(file.type),
    'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    'x-content-type-options': 'nosniff',
  }
  return bytes(fileBytes(file), withUnspecified(headers, transaction, ports.markers))
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
