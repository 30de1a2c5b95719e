/** Runs the built adapters, which depend on internals of Node and msw, on the pinned Node and on the installed one. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'

const folder = mkdtempSync(join(tmpdir(), 'adapters-'))
const place = (...parts: string[]) => join(folder, ...parts)

/** Sends one request with each client, prints the answers, and what the first client gets after the interception. */
const INTERCEPTING = `
import http from 'node:http'
import https from 'node:https'
const over = send => url =>
  new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST' }, async response => resolve(Buffer.concat(await response.toArray())))
    request.on('error', reject).end('over http')
  })
const overFetch = async url => (await fetch(url, { method: 'POST', body: 'over fetch' })).text()
const answer = async request => new Response(new URL(request.url).pathname + ' ' + (await request.text()))
const { intercept } = await import(process.argv[2])
const bot = 'bot.example.test'
const interception = intercept(['https://' + bot + '/base', 'http://' + bot].map(baseUrl => ({ baseUrl, fetch: answer })))
const url = 'https://' + bot + '/base/x?y=1'
const answers = [await overFetch(url), await over(https.request)(url), await over(http.request)('http://' + bot + '/z')]
interception.stop()
console.log([...answers, await overFetch(url).catch(error => error.message)].join())`

const MSW_USER = `
const { setupServer } = await import('msw/node')
const { handlers } = await import('./msw.js')
const fetch = async request => new Response('from ' + request.url)
const server = setupServer(...handlers({ baseUrl: 'https://bot.example.test', fetch }))
server.listen()
console.log(await (await globalThis.fetch('https://bot.example.test/x')).text())
server.close()`

beforeAll(() => {
  writeFileSync(place('intercepting.mjs'), INTERCEPTING)
  for (const name of ['msw', 'msw3']) {
    mkdirSync(place(name, 'node_modules'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), place(name, 'node_modules/msw'))
    writeFileSync(place(name, 'package.json'), '{"type":"module"}')
    cpSync(join(ROOT, 'dist/msw.js'), place(name, 'msw.js'))
    writeFileSync(place(name, 'user.js'), MSW_USER)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const systemNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(path => !path.includes('node_modules'))
  .map(path => join(path, 'node'))
  .find(existsSync)

const run = (node: string, ...args: string[]) => {
  const { stdout, stderr } = spawnSync(node, args, { encoding: 'utf8' })
  return stdout + stderr
}

describe.each([...new Set([process.execPath, systemNode ?? process.execPath])])('on %s', node => {
  const [major = 0, minor = 0] = run(node, '--version').slice(1).split('.').map(Number)

  it.each(['interceptors.js', 'interceptors.cjs'])('%s answers every client, or names the Node it needs', file => {
    const output = run(node, place('intercepting.mjs'), join(ROOT, 'dist', file))
    if (major >= 22) expect(output).toBe('/base/x over fetch,/base/x over http,/z over http,fetch failed\n')
    else expect(output).toMatch(/: handover-sim\/interceptors needs Node 22 or newer, and this is Node /)
  })

  it.each([
    ['msw', true],
    ['msw3', major > 22 || (major === 22 && minor >= 12)],
  ])('handlers serve %s, or name the Node it needs', (name, isServed) => {
    const output = run(node, place(name, 'user.js'))
    if (isServed) expect(output).toBe('from https://bot.example.test/x\n')
    else expect(output).toMatch(/: msw 3\.\d+\.\d+ needs Node 22\.12\.0 or newer, and this is Node .*msw@2\.$/m)
  })
})
