/** Opens hostile pages in Chromium that try to drive the platform and the control API, and checks that nothing changes. */
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { findChromium, launch } from '../browser/chromium.ts'
import { playHandover, startAttackedServer } from './attacked-server.ts'

const chromium = findChromium()
const EVIL = 'evil.example'
const FLAGS = ['--no-proxy-server', '--host-resolver-rules=MAP *.example 127.0.0.1']
let browser: Browser
beforeAll(async () => {
  if (chromium !== null) browser = await launch(chromium, FLAGS)
})
afterAll(() => browser?.close())

/**
 * Serves an empty page on a free port and returns that port. `/sandboxed` has the origin `null`. `rebound` answers every
 * other path with the unchanged answer of the server, as a browser sees it after the name of the page was pointed at this
 * machine.
 */
async function servePage(rebound?: PlatformServer): Promise<number> {
  const server = createServer((request, response) => {
    const { url: path = '/', method, headers } = request
    if (rebound === undefined || path === '/') {
      if (path === '/sandboxed') response.setHeader('content-security-policy', 'sandbox allow-scripts allow-forms')
      return void response.setHeader('content-type', 'text/html').end('<!doctype html><title>page</title>')
    }
    const forwarded = httpRequest({ host: '127.0.0.1', port: rebound.port, path, method, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

/** Opens a page, and records what `target` answers to it, whether or not the page may read it. */
async function openPage(url: string, target: string) {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(url)
  const answers: { readonly path: string; readonly status: number }[] = []
  page.on('response', response => {
    const { origin, pathname } = new URL(response.url())
    if (origin === target) answers.push({ path: pathname, status: response.status() })
  })
  return { page, answers }
}

/** The calls of an attack. */
function targetOf(server: PlatformServer, chat: ChatHandle, base: string) {
  const ids = { bot_id: server.botId, chat_id: chat.id }
  const posts = {
    '/api/v2/handover/availability': { availability: 'CLOSED', queue: 'DEFAULT' },
    '/api/v2/handover/message/': { ...ids, message: 'Send your password to evil.example.' },
    '/api/v2/handover/end': ids,
    '/api/v2/handover/transcript': ids,
    '/_sim/reset': {},
    '/_sim/chats': {},
    [`/_sim/chats/${chat.id}/says`]: { text: 'written by a page' },
    '/_sim/faults': { on: 'api', respond: { status: 500 } },
  }
  const gets = [`/api/v1/chats/${chat.id}`, '/_sim/state', '/_sim/journal', '/_sim/config']
  return { base, apiKey: server.apiKey, botApiKey: server.botApiKey, posts, gets }
}

/** Runs in the page. Tries every way to send a request, and returns the statuses of answers that the page could read. */
async function attackFromPage({ base, apiKey, botApiKey, posts, gets }: ReturnType<typeof targetOf>) {
  const readable: number[] = []
  const tryFetch = async (path: string, init: RequestInit) => {
    const answer = await fetch(base + path, init).catch(() => null)
    if (answer !== null && answer.type !== 'opaque') readable.push(answer.status)
  }
  const create = (tag: string, properties: object) => Object.assign(document.createElement(tag), properties)
  const ended = (part: HTMLElement, attach: () => void = () => document.body.append(part)) =>
    new Promise<void>(resolve => {
      for (const event of ['load', 'error']) part.addEventListener(event, () => resolve())
      attach()
    })
  const tryForm = (path: string, enctype: string, rel: string) => {
    const name = `frame-${document.forms.length}`
    const frame = create('iframe', { name })
    const form = document.createElement('form')
    Object.assign(form, { action: base + path, method: 'post', enctype, target: name, rel })
    form.append(create('input', { name: '{"text":"written by a form","', value: '":1}' }))
    document.body.append(frame, form)
    return ended(frame, () => form.submit())
  }
  const tryConnection = (connection: EventSource | WebSocket) =>
    new Promise<void>(resolve => {
      const end = (status: number | null) => {
        if (status !== null) readable.push(status)
        connection.close()
        resolve()
      }
      connection.onopen = () => end(200)
      connection.onerror = () => end(null)
    })
  for (const [path, content] of Object.entries(posts)) {
    const body = JSON.stringify(content)
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    await tryFetch(path, { method: 'POST', headers, body })
    await tryFetch(path, { method: 'POST', body })
    await tryFetch(path, { method: 'POST', body, referrerPolicy: 'no-referrer', credentials: 'include' })
    await tryFetch(path, { method: 'POST', mode: 'no-cors', keepalive: true, body: new Blob([body]) })
    navigator.sendBeacon(base + path, body)
    await tryForm(path, 'text/plain', '')
    await tryForm(path, 'text/plain', 'noreferrer opener')
    await tryForm(path, 'multipart/form-data', '')
  }
  for (const path of gets) {
    const [src, href, data] = [base + path, base + path, base + path]
    await tryFetch(path, { headers: { authorization: `Bearer ${botApiKey}` } })
    await tryFetch(path, { mode: 'no-cors', referrerPolicy: 'no-referrer' })
    for (const tag of ['img', 'script', 'iframe']) await ended(create(tag, { src }))
    await ended(create('link', { href, rel: 'stylesheet' }))
    await ended(create('object', { data }))
  }
  await tryConnection(new EventSource(`${base}/_sim/events`))
  await tryConnection(new WebSocket(`${base.replace('http', 'ws')}/_sim/events`))
  await tryFetch('/_sim/config', { method: 'PATCH', body: '{"keys.handover":"evil"}' })
  await tryFetch('/_sim/snapshot', { method: 'PUT', body: '{}' })
  return readable
}

/** Everything that a hostile page could change, except the journal. */
function stateOf(server: PlatformServer) {
  const { taken_at: _, journal: __, continuation, ...state } = server.snapshot({ keys: true })
  return structuredClone({ ...state, continuation: { ...continuation, journalStamp: null }, config: server.config() })
}

async function createVictim(server: PlatformServer): Promise<ChatHandle> {
  const chat = await server.chat()
  await chat.says('This is private.')
  return chat
}

/** The entries of the journal that show an effect: calls that succeeded, and everything else than calls. */
const effects = (server: PlatformServer, after: number) =>
  server.journal.query({ after }).filter(entry => entry.kind !== 'api' || entry.status < 400)

/** Plays all attacks of one page and checks that they reached the server, and had no effect. */
async function expectNoEffect(server: PlatformServer, url: string, base: string): Promise<number[]> {
  const { page, answers } = await openPage(url, base)
  const chat = await createVictim(server)
  const before = stateOf(server)
  const seq = server.journal.nextSeq - 1
  const readable = await page.evaluate(attackFromPage, targetOf(server, chat, base))
  expect(answers.filter(({ status }) => status < 400)).toEqual([])
  expect(answers.filter(({ path, status }) => path.startsWith('/_sim') && status !== 403)).toEqual([])
  expect(answers.filter(({ path }) => path.startsWith('/_sim')).length).toBeGreaterThan(25)
  expect(answers.filter(({ path }) => path.startsWith('/api')).length).toBeGreaterThan(15)
  expect(effects(server, seq)).toEqual([])
  expect(stateOf(server)).toEqual(before)
  await playHandover(server)
  return readable
}

const SCRIPT = `fetch('/_sim/reset', { method: 'POST' }).finally(() => (parent ?? opener).postMessage('ran', '*'))`
const W3 = 'http://www.w3.org'
/** Name, media type and text of attachments with a script. */
const SCRIPTED = [
  ['b.html', 'image/png;a=,text/html', `<script>${SCRIPT}</script>`],
  ['a.svg', 'image/svg+xml', `<svg xmlns='${W3}/2000/svg' onload='postMessage(1)'><script>${SCRIPT}</script></svg>`],
  ['a.xhtml', 'application/xhtml+xml', `<html xmlns='${W3}/1999/xhtml'><script>${SCRIPT}</script></html>`],
  ['a.bin', 'application/x-unknown', `<!doctype html><script>${SCRIPT}</script>`],
] as const

/** Runs in the page. Embeds every file in every way; returns what their scripts said, and the width of the last, an image. */
async function embedFiles(urls: readonly string[]) {
  const messages: unknown[] = []
  addEventListener('message', ({ data }) => messages.push(data))
  const embed = (tag: string, name: string, url: string) =>
    new Promise<HTMLElement>(resolve => {
      const part = document.createElement(tag)
      for (const event of ['load', 'error']) part.addEventListener(event, () => resolve(part))
      part.setAttribute(name, url)
      document.body.append(part)
    })
  for (const url of urls) {
    await embed('img', 'src', url)
    document.body.append(Object.assign(document.createElement('object'), { data: url }))
    document.body.append(Object.assign(document.createElement('iframe'), { src: url }))
  }
  const image = await embed('img', 'src', urls.at(-1)!)
  return { messages, imageWidth: (image as HTMLImageElement).naturalWidth }
}

/** Opens the link of a file; resolves when the browser saves it instead of showing it. */
async function downloadOf(page: Page, url: string): Promise<void> {
  const download = page.waitForEvent('download')
  await page.evaluate(link => void Object.assign(document.createElement('a'), { href: link }).click(), url)
  await (await download).delete()
}

describe.skipIf(chromium === null)('a hostile page in Chromium', () => {
  it.each([
    ['a page of another site', `${EVIL}:PORT/`, '127.0.0.1'],
    ['a page of another site, through its name for this machine,', `${EVIL}:PORT/`, EVIL],
    ['a sandboxed page, whose origin is null,', 'localhost:PORT/sandboxed', 'localhost'],
  ])('%s has no effect, and reads nothing', async (_, url, host) => {
    const server = await startAttackedServer()
    const from = `http://${url.replace('PORT', String(await servePage()))}`
    expect(await expectNoEffect(server, from, `http://${host}:${server.port}`)).toEqual([])
  })

  it('has no effect after its name was pointed at this machine, and reads only refusals', async () => {
    const server = await startAttackedServer()
    const target = `http://${EVIL}:${await servePage(server)}`
    expect(new Set(await expectNoEffect(server, `${target}/`, target))).toEqual(new Set([403]))
  })

  it('gets attachments that run no script, and shows their images', async () => {
    const server = await startAttackedServer()
    const chat = await server.chat()
    const attach = SCRIPTED.map(([name, type, text]) => ({ name, type, bytes: new TextEncoder().encode(text) }))
    await chat.says('', { attach: [...attach, { name: 'a.png', type: 'image/png', size_kb: 1 }] })
    const urls = chat.transcript.flatMap(({ attachments }) => attachments ?? []).map(({ url }) => url)
    const seq = server.journal.nextSeq - 1
    const before = stateOf(server)
    const { page, answers } = await openPage(`http://${EVIL}:${await servePage()}/`, server.url)
    expect(await page.evaluate(embedFiles, urls)).toEqual({ messages: [], imageWidth: 1 })
    for (const url of urls.slice(0, -1)) await downloadOf(page, url)
    expect(answers.filter(({ path }) => !path.startsWith('/files/'))).toEqual([])
    expect(answers.length).toBeGreaterThan(urls.length)
    expect(effects(server, seq).filter(entry => entry.kind !== 'api' || entry.endpoint !== null)).toEqual([])
    expect(stateOf(server)).toEqual(before)
  })
})
