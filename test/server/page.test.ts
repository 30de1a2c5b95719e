/** Who may load the page of the inspector and its files, and with which headers. `npm test` builds the page first. */

import { expect, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { type RawAnswer, sendRaw } from '../attack/attacked-server.ts'

const NOTHING = new Uint8Array()
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function served(options: PlatformServerOptions = {}) {
  const server = await startSimulator({ port: 0, ...options })
  const ask = (path: string, headers: Record<string, string> = HTML, method = 'GET'): Promise<RawAnswer> =>
    sendRaw(server.port, { method, path, headers: { host: `127.0.0.1:${server.port}`, ...headers }, body: NOTHING })
  return Object.assign(server, { ask })
}

/** The files that the page names, such as `./_sim/page/index-5f3a.js`. */
const filesOf = ({ body }: RawAnswer): string[] =>
  [...body.matchAll(/(?:src|href)="\.(\/_sim\/page\/[^"]+)"/g)].map(([, path]) => path ?? '')

test('browsers get the page, other clients the text', async () => {
  await using server = await served()
  const page = await server.ask('/')
  expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-store',
  ])
  const plain = await server.ask('/', { accept: '*/*' })
  expect([plain.headers['content-type'], plain.body]).toEqual([
    'text/plain; charset=utf-8',
    expect.stringContaining('/_sim/openapi.json'),
  ])
})

test('every file of the page is there, has its type, and stays the same for ever', async () => {
  await using server = await served()
  const files = filesOf(await server.ask('/'))
  expect(files.map(path => path.replace(/.*\./, '')).sort()).toEqual(expect.arrayContaining(['css', 'js', 'svg']))
  const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
  for (const path of files) {
    const { status, headers } = await server.ask(path, {})
    expect([path, status, headers['content-type'], headers['cache-control']]).toEqual([
      path,
      200,
      expect.stringContaining(types[path.replace(/.*\./, '')]!),
      'public, max-age=31536000, immutable',
    ])
  }
})

test('the policy allows only own files, no frame and no text as code; the page has nothing inline', async () => {
  await using server = await served()
  const page = await server.ask('/')
  const policy = String(page.headers['content-security-policy'])
  const rules = new Map(policy.split('; ').map(rule => [rule.split(' ')[0], rule.slice(rule.indexOf(' ') + 1)]))
  expect(Object.fromEntries(rules)).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
  })
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(page.body).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|https?:/)
  for (const path of ['/', filesOf(page)[0]!, '/_sim/page/missing.js']) {
    const { headers } = await server.ask(path)
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

test('HEAD has the headers alone; other methods and unknown files are refused', async () => {
  await using server = await served()
  const head = await server.ask('/', HTML, 'HEAD')
  expect([head.status, head.body, Number(head.headers['content-length'])]).toEqual([200, '', expect.any(Number)])
  const posted = await server.ask('/', HTML, 'POST')
  expect([posted.status, posted.headers.allow, posted.body]).toEqual([
    405,
    'GET, HEAD',
    'The page takes GET and HEAD, got POST.\n',
  ])
  expect((await server.ask('/_sim/page/missing.js')).status).toBe(404)
  expect((await server.ask('/_sim/page/')).status).toBe(404)
})

test.each([
  '/_sim/page/../../package.json',
  '/_sim/page/%2e%2e/%2e%2e/index.js',
  '/_sim/page/..%2f..%2findex.js',
  '/_sim/page/..\\..\\index.js',
  '/_sim/page//etc/passwd',
  '/_sim/page/index.html',
  '/_sim/page/%00.js',
])('%s leaves the folder of the page in no way', async path => {
  await using server = await served()
  const answer = await server.ask(path)
  expect([answer.status, answer.body]).not.toEqual([200, expect.anything()])
  expect(answer.body).not.toMatch(/root:|"name": "handover-sim"/)
})

test('a foreign host name gets neither the page nor its files', async () => {
  await using server = await served()
  const [file = ''] = filesOf(await server.ask('/'))
  for (const path of ['/', file])
    expect((await server.ask(path, { ...HTML, host: `evil.example:${server.port}` })).status).toBe(403)
  for (const host of ['localhost', 'LOCALHOST:80', '[::1]:4747'])
    expect((await server.ask('/', { ...HTML, host })).status).toBe(200)
  await using open = await served({ host: '0.0.0.0' })
  expect((await open.ask('/', { ...HTML, host: 'sim.test' })).status).toBe(200)
})

test('--no-inspector serves the text to browsers too, and no file', async () => {
  await using server = await served({ inspector: false })
  expect(server.inspectorUrl).toBeNull()
  expect((await server.ask('/')).headers['content-type']).toBe('text/plain; charset=utf-8')
  expect((await server.ask('/_sim/page/index.js')).status).toBe(404)
})

test('the address of the page has the token in its fragment', async () => {
  await using server = await served({ host: '0.0.0.0' })
  expect(server.inspectorUrl).toBe(`${server.url}/#token=${server.controlToken}`)
  await using own = await served({ controlToken: 'a&b=c#d' })
  expect(own.inspectorUrl).toBe(`${own.url}/#token=a%26b%3Dc%23d`)
})

test('behind a proxy with a prefix, the page and the control API work with a token', async () => {
  await using server = await served({ baseUrl: 'https://x.example/sim', controlToken: 'mine' })
  const through = { ...HTML, host: 'x.example' }
  const bare = await server.ask('/sim', through)
  expect([bare.status, bare.headers.location]).toEqual([308, '/sim/'])
  const page = await server.ask('/sim/', through)
  expect(page.status).toBe(200)
  for (const path of filesOf(page)) expect((await server.ask(`/sim${path}`, through)).status).toBe(200)
  const own = { 'x-handover-sim-token': 'mine', origin: 'https://x.example', 'sec-fetch-site': 'same-origin' }
  expect((await server.ask('/sim/_sim/reset', { ...own, host: 'x.example' }, 'POST')).status).toBe(200)
  expect((await server.ask('/_sim/reset', own, 'POST')).status).toBe(200)
  expect((await server.ask('/_sim/reset', { ...own, origin: 'https://evil.example' }, 'POST')).status).toBe(403)
  expect((await server.ask('/_sim/state', { ...own, host: 'evil.example' })).status).toBe(403)
})

test('without a token, the host of the base URL opens neither the page nor the control API', async () => {
  await using server = await served({ baseUrl: 'https://x.example/sim' })
  for (const path of ['/sim/', '/_sim/keys']) {
    const { status, body } = await server.ask(path, { ...HTML, host: 'x.example' })
    expect(status).toBe(403)
    expect(body.replaceAll('\\', '')).toMatch(
      /refuses the host "x.example": use .*localhost.*; to allow the host of --base-url, start with --token TOKEN\./,
    )
  }
})
