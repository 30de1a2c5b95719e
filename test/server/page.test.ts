/** The page of the inspector and its files: who gets them, and with which headers. `npm test` builds the page first. */
import { expect, test } from 'vitest'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { type RawAnswer, sendRaw } from '../attack/attacked-server.ts'
import { startTestServer } from '../support/test-server.ts'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const PLAIN = 'text/plain; charset=utf-8'

async function start(options: PlatformServerOptions = {}) {
  const { server } = await startTestServer(options)
  const get = (path: string, headers: Record<string, string> = HTML, method = 'GET') =>
    sendRaw(server.port, { method, path, headers: { host: '127.0.0.1', ...headers }, body: new Uint8Array() })
  return { server, get }
}

/** The files that the page names, such as `/_sim/page/index-5f3a.js`. */
const filesOf = ({ body }: RawAnswer): string[] =>
  [...body.matchAll(/(?:src|href)="\.(\/_sim\/page\/[^"]+)"/g)].map(([, path]) => path ?? '')

test('browsers get the page and its files; other clients, and browsers with --no-inspector, the text', async () => {
  const { get } = await start()
  const page = await get('/')
  expect(page).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  })
  const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
  const extension = (path: string) => path.replace(/.*\./, '')
  const files = filesOf(page)
  expect(files.map(extension)).toEqual(expect.arrayContaining(Object.keys(types)))
  for (const path of files) {
    const { status, headers } = await get(path, {})
    expect([path, status, headers['cache-control']]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
    expect(headers['content-type']).toContain(types[extension(path)])
  }
  const text = await get('/', { accept: '*/*' })
  expect([text.headers['content-type'], text.body]).toEqual([PLAIN, expect.stringContaining('/_sim/openapi.json')])
  const without = await start({ inspector: false })
  expect(without.server.inspectorUrl).toBeNull()
  expect((await without.get('/')).headers['content-type']).toBe(PLAIN)
  expect((await without.get(files[0]!)).status).toBe(404)
})

test('the policy allows only own files, no frame and no text as code; the page has nothing inline', async () => {
  const { get } = await start()
  const page = await get('/')
  const policy = String(page.headers['content-security-policy'])
  const own = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]
  const none = ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"]
  expect(policy.split('; ')).toEqual(expect.arrayContaining([...own, ...none]))
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(page.body).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|https?:/)
  for (const path of ['/', filesOf(page)[0]!, '/_sim/page/missing.js']) {
    const { headers } = await get(path)
    expect(headers).toMatchObject({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  }
})

test('HEAD has the headers alone; other methods are refused', async () => {
  const { get } = await start()
  const head = await get('/', HTML, 'HEAD')
  expect([head.status, head.body, Number(head.headers['content-length'])]).toEqual([200, '', expect.any(Number)])
  expect(await get('/', HTML, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
})

test.each([
  '/_sim/page/',
  '/_sim/page/../../package.json',
  '/_sim/page/%2e%2e/%2e%2e/index.js',
  '/_sim/page/..%2f..%2findex.js',
  '/_sim/page/..\\..\\index.js',
  '/_sim/page//etc/passwd',
  '/_sim/page/index.html',
  '/_sim/page/%00.js',
])('%s is no file of the page', async path => {
  const { status, body } = await (await start()).get(path)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(body).not.toMatch(/root:|"name": "handover-sim"/)
})
