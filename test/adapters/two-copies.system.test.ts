/** Runs the built interceptors beside nock, which brings another copy of the same library. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Connects to a port that nothing listens on, which no copy answers. A loop would end at the limit of memory. */
const PROGRAM = `
import https from 'node:https'
import nock from 'nock'
import { createSimulator } from '${ROOT}dist/index.js'
import { intercept } from '${ROOT}dist/interceptors.js'
nock.enableNetConnect()
const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
intercept(sim)
const { status } = await fetch('https://bot.example.test/api/v1/chats/c1')
https.get('https://127.0.0.1:1/').on('error', ({ code }) => {
  console.log(status, code)
  process.exit()
})`

it.runIf(existsSync(`${ROOT}dist/interceptors.js`))('passes a TLS connection on once', async () => {
  const args = ['--max-old-space-size=200', '--input-type=module', '--eval', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, timeout: 60_000 })
  expect(stdout.trim()).toBe('401 ECONNREFUSED')
})
