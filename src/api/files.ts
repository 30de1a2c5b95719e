/** Serves attachment links: `{base_url}/files/{id}/{name}` (R-ATT). */
import { fileBytes, openFile } from '../platform/files.ts'
import { REFUSAL_TEXTS, Refusal } from '../platform/refusal.ts'
import { assumed, type Transaction } from '../platform/transaction.ts'
import type { ApiPorts } from './call.ts'
import { type ApiRequest, type ApiResponse, bytesResponse, withUnspecified } from './messages.ts'

export const FILES_PREFIX = '/files/'

export function serveFile(ports: ApiPorts, request: ApiRequest, path: string, transaction: Transaction): ApiResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refusal('method_not_allowed', REFUSAL_TEXTS.fileMethod(request.method))
  }
  if (ports.platform.knobs['attachments.auth'] === 'on') {
    ports.keyring.authorize(request.headers.authorization, 'handover', ports.platform.nowMs(), () => {})
  }
  const [segment = '', name = ''] = path.slice(FILES_PREFIX.length).split('/')
  const file = openFile(ports.platform, ports.platform.links.fileId(segment) ?? '', decodeName(name))
  assumed(transaction, 'attachments.auth', 'attachments.ttl')
  const headers = {
    'content-type': headerSafe(file.type),
    'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    'x-content-type-options': 'nosniff',
  }
  return bytesResponse(fileBytes(file), withUnspecified(headers, transaction, ports.markers))
}

/** Replaces a media type that is not valid in a header by the one of plain bytes. */
const headerSafe = (type: string): string =>
  /^[\x21-\x7e][\x20-\x7e]*$/.test(type) ? type : 'application/octet-stream'

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
