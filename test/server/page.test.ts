/** Who may load the page of the inspector and its files, and with which headers. `npm test` builds the page first. */
import { expect, test } from 'vitest'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { type RawAnswer, sendRaw } from '../attack/attacked-server.ts'
import { startTestServer } from '../support/test-server.ts'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const PLAIN = 'text/plain; charset=utf-8'

async function start(options: PlatformServerOptions = {}) {
  const { server } = await startTestServer(options)
  const get = (path: string, headers: Record<string, string> = HTML, method = 'GET'): Promise<RawAnswer> => {
    const sent = { host: `127.0.0.1:${server.port}`, ...headers }
    return sendRaw(server.port, { method, path, headers: sent, body: new Uint8Array() })
  }
  return { server, get }
}

/** The files that the page names, such as `/_sim/page/index-5f3a.js`. */
const filesOf = ({ body }: RawAnswer): string[] =>
  [...body.matchAll(/(?:src|href)="\.(\/_sim\/page\/[^"]+)"/g)].map(([, path]) => path ?? '')

test('browsers get the page and its files; other clients, and browsers with --no-inspector, the text', async () => {
  const { get } = await start()
  const page = await get('/')
  expect([page.status, page.headers]).toMatchObject([
    200,
    { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  ])
  const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
  const files = filesOf(page)
  expect(files.map(path => path.replace(/.*\./, ''))).toEqual(expect.arrayContaining(Object.keys(types)))
  for (const path of files) {
    const { status, headers } = await get(path, {})
    expect([path, status, headers]).toMatchObject([
      ...[path, 200],
      {
        'content-type': expect.stringContaining(types[path.replace(/.*\./, '')]!),
        'cache-control': 'public, max-age=31536000, immutable',
      },
    ])
  }
  expect(await get('/', { accept: '*/*' })).toMatchObject({
    headers: { 'content-type': PLAIN },
    body: expect.stringContaining('/_sim/openapi.json'),
  })
  const without = await start({ inspector: false })
  expect(without.server.inspectorUrl).toBeNull()
  expect((await without.get('/')).headers['content-type']).toBe(PLAIN)
  expect((await without.get(files[0]!)).status).toBe(404)
})

test('the policy allows only own files, no frame and no text as code; the page has nothing inline', async () => {
  const { get } = await start()
  const page = await get('/')
  const policy = String(page.headers['content-security-policy'])
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
      ...["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"],
    ]),
  )
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
  '/_sim/page/missing.js',
  '/_sim/page/',
  '/_sim/page/../../package.json',
  '/_sim/page/%2e%2e/%2e%2e/index.js',
  '/_sim/page/..%2f..%2findex.js',
  '/_sim/page/..\\..\\index.js',
  '/_sim/page//etc/passwd',
  '/_sim/page/index.html',
  '/_sim/page/%00.js',
])('%s is no file of the page', async path => {
  const { get } = await start()
  const { status, body } = await get(path)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(body).not.toMatch(/root:|"name": "handover-sim"/)
})

test('a foreign host name gets neither the page nor its files', async () => {
  const { server, get } = await start()
  const [file = ''] = filesOf(await get('/'))
  const status = async (path: string, host: string) => (await get(path, { ...HTML, host })).status
  for (const path of ['/', file]) expect(await status(path, `evil.example:${server.port}`)).toBe(403)
  for (const host of ['localhost', 'LOCALHOST:80', '[::1]:4747']) expect(await status('/', host)).toBe(200)
  const open = await start({ host: '0.0.0.0' })
  expect((await open.get('/', { ...HTML, host: 'sim.test' })).status).toBe(200)
})

test('the address of the page has the token in its fragment', async () => {
  const { server } = await start({ host: '0.0.0.0' })
  expect(server.inspectorUrl).toBe(`${server.url}/#token=${server.controlToken}`)
  const own = (await start({ controlToken: 'a&b=c#d' })).server
  expect(own.inspectorUrl).toBe(`${own.url}/#token=a%26b%3Dc%23d`)
})

test('behind a proxy with a prefix, the page and the control API work with a token', async () => {
  const { get } = await start({ baseUrl: 'https://x.example/sim', controlToken: 'mine' })
  const through = { ...HTML, host: 'x.example' }
  expect(await get('/sim', through)).toMatchObject({ status: 308, headers: { location: '/sim/' } })
  const page = await get('/sim/', through)
  expect(page.status).toBe(200)
  for (const path of filesOf(page)) expect((await get(`/sim${path}`, through)).status).toBe(200)
  const own = { 'x-handover-sim-token': 'mine', origin: 'https://x.example', 'sec-fetch-site': 'same-origin' }
  expect((await get('/sim/_sim/reset', { ...own, host: 'x.example' }, 'POST')).status).toBe(200)
  expect((await get('/_sim/reset', own, 'POST')).status).toBe(200)
  expect((await get('/_sim/reset', { ...own, origin: 'https://evil.example' }, 'POST')).status).toBe(403)
  expect((await get('/_sim/state', { ...own, host: 'evil.example' })).status).toBe(403)
})

test.each(['/sim/', '/_sim/keys'])('without a token, the host of the base URL does not open %s', async path => {
  const { get } = await start({ baseUrl: 'https://x.example/sim' })
  const { status, body } = await get(path, { ...HTML, host: 'x.example' })
  expect([status, body]).toEqual([403, expect.stringMatching(/x\.example.*--base-url, start with --token TOKEN/s)])
})
