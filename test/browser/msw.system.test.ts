import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rolldown } from 'rolldown'
import { describe, expect, it, onTestFinished } from 'vitest'
import { browserVariants } from '../../scripts/browser-variants.ts'
import { createSimulator } from '../../src/index.ts'
import { ROOT } from '../architecture/files.ts'
import { chromium, openPage } from './page-pool.ts'

/** Returns every file of a bundle by URL path, and the imports of the bundle. */
async function bundle(input: string, alias: Record<string, string> = {}, external: RegExp[] = []) {
  const build = await rolldown({
    cwd: ROOT,
    input,
    platform: 'browser',
    external: [/^node:/, ...external],
    resolve: { alias },
    plugins: [browserVariants()],
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'esm', entryFileNames: 'page.js' })
  const chunks = output.filter(file => file.type === 'chunk')
  const imports = chunks.flatMap(chunk => [...chunk.imports, ...chunk.dynamicImports])
  return { files: new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code])), imports }
}

async function serve(files: ReadonlyMap<string, string>): Promise<string> {
  const server = createServer((request, response) => {
    const script = files.get(request.url!)
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript')
    response.end(script ?? '<!doctype html><script type="module" src="/page.js"></script>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Plays the same conversation in Node; the seed makes ids and signatures equal. */
async function conversationInNode() {
  const signatures: (string | null)[] = []
  const webhook = async (request: Request) => {
    signatures.push(request.headers.get('kindly-hmac'))
    return new Response()
  }
  const sim = createSimulator({ webhook: { fetch: webhook } })
  const ada = await sim.chat({ language: 'nb', history: [{ user: 'Hvor er pakken min?' }, { bot: 'Et øyeblikk 📦' }] })
  await ada.press('handover')
  const headers = { authorization: `Bearer ${sim.botApiKey}` }
  const response = await sim.fetch(new Request(`${sim.baseUrl}/api/v1/chats/${ada.id}`, { headers }))
  return { chat: ada.id, transcript: { status: response.status, body: await response.json() }, signatures }
}

it.each(['src/index.ts', 'src/testing/msw.ts'])('the browser bundle of %s imports nothing of Node', async input => {
  const { files, imports } = await bundle(input, {}, [/^msw/])
  expect(imports.filter(name => !files.has(`/${name}`))).toEqual(input.endsWith('msw.ts') ? ['msw'] : [])
  expect([...files.values()].filter(code => /\brequire\(["']|^[^*\n]*from ["']node:/m.test(code))).toEqual([])
})

describe.skipIf(chromium === null).each(['msw', 'msw3'])('in a page with the service worker of %s', name => {
  it('a simulator in a page gives the same answers as in Node', async () => {
    const { files } = await bundle('test/browser/msw-page.ts', { msw: name })
    files.set('/mockServiceWorker.js', readFileSync(`${ROOT}node_modules/${name}/lib/mockServiceWorker.js`, 'utf8'))
    // A context of its own keeps the service worker to this test.
    const page = await openPage({ serviceWorkers: 'allow' })
    const problems: string[] = []
    page.on('pageerror', error => problems.push(String(error)))
    await page.goto(await serve(files))
    const found = await page.evaluate('conversation()')
    expect(problems).toEqual([])
    expect(found).toEqual({
      ...(await conversationInNode()),
      unknown: 404,
      lost: 'TypeError',
      overridden: 418,
      server: expect.stringContaining('needs Node'),
      calls: 3,
    })
  })
})
