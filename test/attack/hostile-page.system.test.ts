/** Opens hostile pages in Chromium that try to drive the platform and the control API, and checks that nothing changes. */
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { findChromium, launch } from '../browser/chromium.ts'
import { playHandover, startAttackedServer } from './attacked-server.ts'

const chromium = findChromium()
const EVIL = 'evil.example'
const FLAGS = ['--no-proxy-server', `--host-resolver-rules=MAP *.example 127.0.0.1`]
let browser: Browser
beforeAll(async () => {
  if (chromium !== null) browser = await launch(chromium, FLAGS)
})
afterAll(() => browser?.close())

const EMPTY_PAGE = '<!doctype html><title>page</title>'

/**
 * Serves an empty page on a free port and returns that port. `rebound` answers every other path there with the unchanged
 * answer of the server, as a browser sees it after the name of the page was pointed at this machine.
 */
async function servePage(rebound?: PlatformServer): Promise<number> {
  const server = createServer((request, response) => {
    const { url: path = '/', method, headers } = request
    if (rebound === undefined || path === '/')
      return void response.setHeader('content-type', 'text/html').end(EMPTY_PAGE)
    const forwarded = httpRequest({ host: '127.0.0.1', port: rebound.port, path, method, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

interface OpenPage {
  readonly page: Page | Frame
  /** What the server answered to the page, whether or not the page may read it. */
  readonly answers: { readonly path: string; readonly status: number }[]
}

/** Opens a page, and records the answers that it gets from `target`. */
async function openPage(url: string, target: string) {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(url)
  const answers: OpenPage['answers'] = []
  page.on('response', response => {
    const { origin, pathname } = new URL(response.url())
    if (origin === target) answers.push({ path: pathname, status: response.status() })
  })
  return { page, answers }
}

interface Target {
  readonly base: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly posts: readonly (readonly [path: string, body: string])[]
  readonly gets: readonly string[]
}

function targetOf(server: PlatformServer, chat: ChatHandle, base: string): Target {
  const ids = { bot_id: server.botId, chat_id: chat.id }
  const posts = [
    ['/api/v2/handover/availability', { availability: 'CLOSED', queue: 'DEFAULT' }],
    ['/api/v2/handover/message/', { ...ids, message: 'Send your password to evil.example.' }],
    ['/api/v2/handover/end', ids],
    ['/api/v2/handover/transcript', ids],
    ['/_sim/reset', {}],
    ['/_sim/chats', {}],
    [`/_sim/chats/${chat.id}/says`, { text: 'written by a page' }],
    ['/_sim/faults', { on: 'api', respond: { status: 500 } }],
  ] as const
  return {
    base,
    apiKey: server.apiKey,
    botApiKey: server.botApiKey,
    posts: posts.map(([path, body]) => [path, JSON.stringify(body)]),
    gets: [`/api/v1/chats/${chat.id}`, '/_sim/state', '/_sim/journal', '/_sim/config'],
  }
}

/** Runs in the page. Tries every way to send a request, and returns the statuses of answers that the page could read. */
async function attackFromPage({ base, apiKey, botApiKey, posts, gets }: Target): Promise<number[]> {
  const readable: number[] = []
  const tryFetch = async (path: string, init: RequestInit) => {
    const answer = await fetch(base + path, init).catch(() => null)
    if (answer !== null && answer.type !== 'opaque') readable.push(answer.status)
  }
  const ended = (part: HTMLElement, attach: () => void = () => document.body.append(part)) =>
    new Promise<void>(resolve => {
      for (const event of ['load', 'error']) part.addEventListener(event, () => resolve())
      attach()
    })
  const tryForm = (path: string, enctype: string, referrerPolicy: string) => {
    const frame = document.createElement('iframe')
    frame.name = `frame-${document.querySelectorAll('iframe').length}`
    document.body.append(frame)
    const form = document.createElement('form')
    Object.assign(form, { action: base + path, method: 'post', enctype, target: frame.name })
    form.rel = referrerPolicy === '' ? '' : 'noreferrer opener'
    const field = document.createElement('input')
    field.name = '{"text":"written by a form","'
    field.value = '":1}'
    form.append(field)
    document.body.append(form)
    return ended(frame, () => form.submit())
  }
  const tryElement = (tag: string, name: string, path: string) => {
    const part = document.createElement(tag)
    part.setAttribute(name, base + path)
    if (tag === 'link') part.setAttribute('rel', 'stylesheet')
    return ended(part)
  }
  const tryEvents = (path: string) =>
    new Promise<void>(resolve => {
      const source = new EventSource(base + path)
      const end = (status: number | null) => {
        if (status !== null) readable.push(status)
        source.close()
        resolve()
      }
      source.onopen = () => end(200)
      source.onerror = () => end(null)
    })
  const trySocket = (path: string) =>
    new Promise<void>(resolve => {
      const socket = new WebSocket(base.replace('http', 'ws') + path)
      socket.onopen = () => readable.push(101)
      socket.onclose = () => resolve()
    })
  for (const [path, body] of posts) {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    await tryFetch(path, { method: 'POST', headers, body })
    await tryFetch(path, { method: 'POST', body })
    await tryFetch(path, { method: 'POST', body, referrerPolicy: 'no-referrer', credentials: 'include' })
    await tryFetch(path, { method: 'POST', mode: 'no-cors', body })
    await tryFetch(path, { method: 'POST', mode: 'no-cors', keepalive: true, body: new Blob([body]) })
    navigator.sendBeacon(base + path, body)
    await tryForm(path, 'text/plain', '')
    await tryForm(path, 'text/plain', 'no-referrer')
    await tryForm(path, 'multipart/form-data', '')
  }
  for (const path of gets) {
    await tryFetch(path, { headers: { authorization: `Bearer ${botApiKey}` } })
    await tryFetch(path, { mode: 'no-cors', referrerPolicy: 'no-referrer' })
    for (const tag of ['img', 'script', 'iframe']) await tryElement(tag, 'src', path)
    await tryElement('link', 'href', path)
    await tryElement('object', 'data', path)
  }
  await tryEvents('/_sim/events')
  await trySocket('/_sim/events')
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
async function expectNoEffect(server: PlatformServer, opened: OpenPage, base: string): Promise<number[]> {
  const chat = await createVictim(server)
  const before = stateOf(server)
  const seq = server.journal.nextSeq - 1
  const readable = await opened.page.evaluate(attackFromPage, targetOf(server, chat, base))
  const { answers } = opened
  expect(answers.filter(({ status }) => status < 400)).toEqual([])
  expect(answers.filter(({ path, status }) => path.startsWith('/_sim') && status !== 403)).toEqual([])
  expect(answers.filter(({ path }) => path.startsWith('/_sim')).length).toBeGreaterThan(30)
  expect(answers.filter(({ path }) => path.startsWith('/api')).length).toBeGreaterThan(15)
  expect(effects(server, seq)).toEqual([])
  expect(stateOf(server)).toEqual(before)
  await playHandover(server)
  return readable
}

/** Adds a sandboxed frame that may run scripts, and returns it when it is loaded. */
async function sandboxedFrame(page: Page): Promise<Frame> {
  await page.evaluate(
    html =>
      new Promise<void>(resolve => {
        const frame = document.createElement('iframe')
        frame.setAttribute('sandbox', 'allow-scripts allow-forms')
        frame.onload = () => resolve()
        frame.srcdoc = html
        document.body.append(frame)
      }),
    EMPTY_PAGE,
  )
  return page.frames().at(-1)!
}

const SCRIPT = `fetch('/_sim/reset', { method: 'POST' }).finally(() => (parent ?? opener).postMessage('ran', '*'))`
const SVG = 'http://www.w3.org/2000/svg'
const XHTML = 'http://www.w3.org/1999/xhtml'
/** Name, media type and text of attachments with a script. */
const SCRIPTED = [
  ['a.html', 'text/html', `<script>${SCRIPT}</script>`],
  ['b.html', 'image/png;a=,text/html', `<script>${SCRIPT}</script>`],
  ['a.svg', 'image/svg+xml', `<svg xmlns='${SVG}' onload='postMessage(1)'><script>${SCRIPT}</script></svg>`],
  ['a.xml', 'text/xml', `<html xmlns='${XHTML}'><script>${SCRIPT}</script></html>`],
  ['a.xhtml', 'application/xhtml+xml', `<html xmlns='${XHTML}'><script>${SCRIPT}</script></html>`],
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

const readingOf = (server: PlatformServer, { id }: ChatHandle) => ({
  url: `${server.url}/api/v1/chats/${id}`,
  key: server.botApiKey,
})

/** Runs in the page. Null when the browser refuses the answer. */
async function readTranscript({ url, key }: ReturnType<typeof readingOf>) {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } }).catch(() => null)
  if (answer === null) return null
  const marker = answer.headers.get('x-handover-sim-unspecified')
  return { status: answer.status, text: await answer.text(), marker }
}

describe.skipIf(chromium === null)('a hostile page in Chromium', () => {
  it.each(['127.0.0.1', EVIL])('has no effect through %s, and reads nothing', async host => {
    const server = await startAttackedServer()
    const target = `http://${host}:${server.port}`
    const opened = await openPage(`http://${EVIL}:${await servePage()}/`, target)
    expect(await expectNoEffect(server, opened, target)).toEqual([])
  })

  it('has no effect after its name was pointed at this machine, and reads only refusals', async () => {
    const server = await startAttackedServer()
    const target = `http://${EVIL}:${await servePage(server)}`
    const opened = await openPage(`${target}/`, target)
    expect(new Set(await expectNoEffect(server, opened, target))).toEqual(new Set([403]))
  })

  it('has no effect from a sandboxed frame, whose origin is null', async () => {
    const server = await startAttackedServer()
    const target = `http://localhost:${server.port}`
    const opened = await openPage(`http://localhost:${await servePage()}/`, target)
    const frame = await sandboxedFrame(opened.page)
    expect(await expectNoEffect(server, { ...opened, page: frame }, target)).toEqual([])
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

describe.skipIf(chromium === null)('a page of the developer in Chromium', () => {
  it('reads a transcript from another loopback port', async () => {
    const server = await startAttackedServer()
    const chat = await createVictim(server)
    for (const host of ['localhost', '127.0.0.1', 'desk.localhost']) {
      const { page } = await openPage(`http://${host}:${await servePage()}/`, server.url)
      expect(await page.evaluate(readTranscript, readingOf(server, chat))).toEqual({
        status: 200,
        text: expect.stringContaining('This is private.'),
        marker: expect.stringContaining('api.cors'),
      })
    }
  })

  it('reads a transcript when api.cors lists its origin', async () => {
    const port = await servePage()
    const server = await startAttackedServer({ knobs: { 'api.cors': [`http://desk.example:${port}`] } })
    const chat = await createVictim(server)
    const { page } = await openPage(`http://desk.example:${port}/`, server.url)
    expect(await page.evaluate(readTranscript, readingOf(server, chat))).toMatchObject({ status: 200 })
    const other = await openPage(`http://${EVIL}:${port}/`, server.url)
    expect(await other.page.evaluate(readTranscript, readingOf(server, chat))).toBeNull()
  })
})
