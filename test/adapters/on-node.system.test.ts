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
    const request = send(url, { method: 'POST' }, response => {
      response.setEncoding('utf8').on('data', text => resolve(response.statusCode + ' ' + text))
    })
    request.on('error', reject).end('over http')
  })
const overFetch = async url => {
  const response = await fetch(url, { method: 'POST', body: 'over fetch' })
  return response.status + ' ' + (await response.text())
}
const answer = async request => new Response(new URL(request.url).pathname + ' ' + (await request.text()))
const print = text => process.stdout.write(text)
try {
  const { intercept } = await import(process.argv[2])
  const simulators = ['https://bot.example.test/base', 'http://bot.example.test']
  const interception = intercept(simulators.map(baseUrl => ({ baseUrl, fetch: answer })))
  const url = 'https://bot.example.test/base/x?y=1'
  const answers = [await overFetch(url), await over(https.request)(url)]
  answers.push(await over(http.request)('http://bot.example.test/z'))
  interception.stop()
  print([...answers, await overFetch(url).catch(error => error.message)].join())
} catch (error) {
  print(error.message)
}`

const MSW_USER = `
const print = text => process.stdout.write(text)
try {
  const { setupServer } = await import('msw/node')
  const { handlers } = await import('./msw.js')
  const fetch = async request => new Response('from ' + request.url)
  const server = setupServer(...handlers({ baseUrl: 'https://bot.example.test', fetch }))
  server.listen()
  print(await (await globalThis.fetch('https://bot.example.test/x')).text())
  server.close()
} catch (error) {
  print(error.message)
}`

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
  return { stdout, stderr }
}
const nodes = new Map(
  [process.execPath, systemNode ?? process.execPath].map(node => [run(node, '--version').stdout.trim(), node]),
)

describe.each([...nodes])('on Node %s', (version, node) => {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)

  it.each(['interceptors.js', 'interceptors.cjs'])('%s answers every client, or names the Node it needs', file => {
    const { stdout, stderr } = run(node, place('intercepting.mjs'), join(ROOT, 'dist', file))
    expect(stderr).toBe('')
    if (major >= 22) expect(stdout).toBe('200 /base/x over fetch,200 /base/x over http,200 /z over http,fetch failed')
    else expect(stdout).toMatch(/^handover-sim\/interceptors needs Node 22 or newer, and this is Node /)
  })

  it('handlers serve msw 2', () => {
    expect(run(node, place('msw/user.js'))).toEqual({ stdout: 'from https://bot.example.test/x', stderr: '' })
  })

  it('handlers serve msw 3, or name the Node it needs', () => {
    const { stdout } = run(node, place('msw3/user.js'))
    const isServed = major > 22 || (major === 22 && minor >= 12)
    if (isServed) expect(stdout).toBe('from https://bot.example.test/x')
    else expect(stdout).toMatch(/^msw 3\.\d+\.\d+ needs Node 22\.12\.0 or newer, and this is Node .*msw@2\.$/)
  })
})
