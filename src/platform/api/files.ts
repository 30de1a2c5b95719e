/** Serves attachment links: `{base_url}/files/{id}/{name}` (R-ATT). */
import { fileContents, openFile } from '../rules/files.ts'
import { Refusal } from '../rules/refusal.ts'
import { assumed, type Transaction } from '../rules/state.ts'
import type { ApiPorts } from './call.ts'
import { type ApiRequest, type ApiResponse, withUnspecified } from './messages.ts'

export const FILES_PREFIX = '/files/'
const NO_BYTES = new Uint8Array(0)

export function serveFile(ports: ApiPorts, request: ApiRequest, path: string, transaction: Transaction): ApiResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refusal('method_not_allowed', `A file takes GET, got ${request.method}.`)
  }
  if (ports.platform.knobs['attachments.auth'] === 'on') {
    ports.keyring.authorize(request.headers.authorization, 'handover', ports.platform.nowMs(), { auth: 'not_checked' })
  }
  const [segment = '', name = '', ...rest] = path.slice(FILES_PREFIX.length).split('/')
  if (rest.length > 0)
    throw new Refusal('file_not_found', 'There is no such file: its name is the last part of the link.')
  const file = openFile(ports.platform, segment, decodeName(name))
  assumed(transaction, 'attachments.auth', 'attachments.ttl')
  // Replaces a media type that is not valid in a header by the one of plain bytes.
  const headers = fileHeaders(
    file.name,
    /^[\x21-\x7e][\x20-\x7e]*$/.test(file.type) ? file.type : 'application/octet-stream',
  )
  const body = request.method === 'HEAD' ? NO_BYTES : fileContents(file)
  return { status: 200, headers: withUnspecified(headers, transaction, ports.marked), body }
}

/** Types that a browser shows without running or parsing anything: no page, no XML, no PDF. */
const INERT = /^(image\/(png|jpeg|gif|webp|avif|bmp|x-icon)|(audio|video)\/[\w.+-]+|text\/plain)(; *charset=[\w-]+)?$/i

/**
 * Makes a file inert, because it shares its port with the control API: scripts do not run, and what is not surely inert
 * is downloaded. Pages of other origins may embed it, as a help desk does with images.
 */
const fileHeaders = (name: string, type: string): Record<string, string> => ({
  'content-type': type,
  'content-disposition': `${INERT.test(type) ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeName(name)}`,
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
})

/** Also encodes what `encodeURIComponent` leaves and the value of a header parameter may not have (RFC 8187). */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
