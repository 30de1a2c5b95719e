/** Serves the inspector or UI mode at `/`, always the inspector at `/inspector`, and their files below `/_sim/page/`. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { packagePath } from '../base/runtime/node.ts'
import { hostIn } from '../base/text/hosts.ts'
import { findForeignCaller } from '../platform/api/access.ts'
import { pathOf } from '../platform/api/call.ts'
import { refusedHostText, type ServerCallers } from './control/callers.ts'
import { INSPECTOR, type Listener, PAGE_FILES } from './http.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The page runs only its own files and connects only to its own server, so avatars of other servers are not loaded.
 * Frames, forms, plug-ins and text as code are off.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** A file whose name has a hash of its content never changes. */
const FOREVER = 'public, max-age=31536000, immutable'

/** Names of files that the build makes. Others are 404, so that no path leaves the folder. */
const FILE_NAME = /^[\w.-]+\.(js|css|svg)$/

/** The inspector, or UI mode. */
export type PageName = 'index.html' | 'ui-mode.html'

export function createPage(callers: ServerCallers, page: PageName): Listener {
  return (request, response) => {
    request.resume()
    const { method = 'GET' } = request
    const caller = findForeignCaller({ method, headers: request.headers as Record<string, string> }, callers.page)
    if (caller !== null)
      return send(response, 403, `The page ${refusedHostText(hostIn(caller.value ?? ''), callers)}\n`)
    if (method !== 'GET' && method !== 'HEAD')
      return send(response, 405, `The page takes GET and HEAD, got ${method}.\n`, { allow: 'GET, HEAD' })
    void serve(request, response, page)
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, page: PageName): Promise<void> {
  const path = pathOf(request.url ?? '/')
  const isPage = !path.startsWith(PAGE_FILES)
  const name = isPage ? (path === INSPECTOR ? 'index.html' : page) : path.slice(PAGE_FILES.length)
  const content = isPage || FILE_NAME.test(name) ? await read(isPage ? name : `_sim/page/${name}`) : null
  if (content === null)
    return send(response, 404, isPage ? NOT_BUILT : `The page has no file ${JSON.stringify(name)}.\n`)
  response.writeHead(200, {
    ...HEADERS,
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-length': content.length,
    'cache-control': isPage ? 'no-store' : FOREVER,
  })
  response.end(request.method === 'HEAD' ? undefined : content)
}

const NOT_BUILT = 'The page is not built. In a checkout of handover-sim, run: npm run build\n'

async function read(name: string): Promise<Buffer | null> {
  const folder = packagePath('dist/web')
  if (folder === null) return null
  return readFile(join(folder, name)).catch(() => null)
}

function send(response: ServerResponse, status: number, text: string, more: Record<string, string> = {}): void {
  response.writeHead(status, { ...HEADERS, ...more, 'content-type': 'text/plain; charset=utf-8' })
  response.end(text)
}
