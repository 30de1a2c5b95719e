/** Runs `handover-sim proxy`: what it refuses, and what is left of its journal after any end. */
import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { fakeIo, fakeOutput } from './fake-io.ts'

const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))
const BOTH = ['--upstream', 'https://bot.example.test', '--webhook-url', 'http://127.0.0.1:9/webhook']

async function run(args: readonly string[], files: Record<string, string> = {}) {
  const io = fakeIo(folderWith(files))
  const code = await main(['proxy', ...args], {}, io)
  return { code, error: io.stderr.text, io }
}

describe('a mistake is one line that says what to do', () => {
  it.each([
    [
      'no upstream',
      ['--webhook-url', 'http://127.0.0.1:9/'],
      /^npx handover-sim proxy needs --upstream URL \(or proxy\.upstream in the config file\)\.$/,
    ],
    [
      'no webhook',
      ['--upstream', 'https://bot.example.test'],
      /^npx handover-sim proxy needs --webhook-url URL \(or webhook\.url in the config file\)\.$/,
    ],
    [
      'another protocol',
      ['--upstream', 'ftp://bot.example.test', '--webhook-url', 'http://127.0.0.1:9/'],
      /^--upstream: must be an http or https URL such as https:\/\/bot\.example\.test, got "ftp:\/\/bot\.example\.test"\.$/,
    ],
    [
      'its own address',
      ['--upstream', 'http://localhost:4747', '--webhook-url', 'http://127.0.0.1:9/'],
      /^--upstream: http:\/\/localhost:4747\/ is the address of the proxy itself.*--port\.$/,
    ],
    [
      'its own address as webhook',
      ['--upstream', 'https://bot.example.test', '--webhook-url', 'http://127.0.0.1:4747/x'],
      /^--webhook-url: .* is the address of the proxy itself/,
    ],
    [
      'links without a key',
      [...BOTH, '--rewrite-links'],
      /^--rewrite-links changes deliveries, which must be signed again: add --api-key KEY\.$/,
    ],
    [
      'a short path',
      [...BOTH, '--delivery-path', '/hook'],
      /^--delivery-path: must be a path of at least 16 characters such as \S+, got "\/hook"\.$/,
    ],
    [
      'a path of the control API',
      [...BOTH, '--delivery-path', '/_sim/0123456789abcdef'],
      /^--delivery-path: must be a path/,
    ],
  ])('%s', async (_, args, expected) => {
    const { code, error } = await run(args)
    expect(code).toBe(2)
    expect(error.trimEnd()).toMatch(expected)
  })

  it('a journal that exists is left as it is', async () => {
    const { code, error, io } = await run([...BOTH, '--port', '0', '--journal', 'kept.jsonl'], {
      'kept.jsonl': 'precious',
    })
    expect(code).toBe(2)
    expect(error).toContain(
      'Failed to create the journal "kept.jsonl": the file exists, and a journal is never changed. Name another file with --journal.',
    )
    expect(readFileSync(join(io.cwd, 'kept.jsonl'), 'utf8')).toBe('precious')
  })

  it('a port in use', async () => {
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const { code, error } = await run([...BOTH, '--port', String(port)])
    expect(code).toBe(3)
    expect(error).toContain(`Failed to listen on 127.0.0.1:${port}: the port is in use`)
  })
})

it('takes its settings from the config file', async () => {
  const config =
    'proxy: { upstream: "https://bot.example.test", delivery_path: /_webhook/0123456789, journal: j.jsonl }\nwebhook: { url: "http://127.0.0.1:9/hook" }\n'
  const io = fakeIo(folderWith({ 'handover-sim.config.yaml': config }))
  const code = main(['proxy', '--port', '0', '--json'], {}, io)
  const ready = JSON.parse(await io.stdout.until(/\n/))
  expect(ready).toMatchObject({
    ...{ upstream: 'https://bot.example.test/', webhookUrl: 'http://127.0.0.1:9/hook', journal: 'j.jsonl' },
    deliveryUrl: `${ready.url}/_webhook/0123456789`,
  })
  io.signal('SIGTERM')
  expect(await code).toBe(143)
})

it('draws another delivery path with every start, and prints where to set it', async () => {
  const paths = new Set<string>()
  for (const _ of [1, 2]) {
    const io = fakeIo(folderWith())
    const code = main(['proxy', ...BOTH, '--port', '0', '--output', 'quiet'], {}, io)
    const text = await io.stderr.until(/journal/)
    paths.add(/https:\/\/YOUR-TUNNEL(\/_webhook\/[\w-]{32})/.exec(text)?.[1] ?? '')
    io.signal('SIGINT')
    await code
  }
  expect(paths.size).toBe(2)
  expect(paths).not.toContain('')
})

describe('the journal', () => {
  it('is complete after kill -9, with half a last line too, and can be reported', async () => {
    const webhook = createServer((request, response) => request.resume().on('end', () => response.end())).listen(
      0,
      '127.0.0.1',
    )
    onTestFinished(() => void webhook.close())
    await new Promise(resolve => webhook.once('listening', resolve))
    const cwd = folderWith()
    const port = await freePort()
    const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`
    const args = [
      'proxy',
      '--upstream',
      url,
      '--webhook-url',
      url,
      '--port',
      String(port),
      '--delivery-path',
      '/_webhook/0123456789',
      '--journal',
      'j.jsonl',
    ]
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const stdout = fakeOutput()
    child.stdout.setEncoding('utf8').on('data', stdout.write)
    await stdout.until(/Ready/)
    const event = {
      event: 'REQUESTING TAKEOVER',
      bot: { id: 1, name: 'B' },
      chat: { _links: { self: 'x' }, id: 'c-7', language: 'en', source: 'web' },
      user: { id: 'aa' },
    }
    const call = (name: string) =>
      fetch(`http://127.0.0.1:${port}/api/v2/handover/${name}`, {
        method: 'POST',
        body: JSON.stringify({ bot_id: 1, chat_id: 'c-7', message: 'm' }),
      })
    await fetch(`http://127.0.0.1:${port}/_webhook/0123456789`, { method: 'POST', body: JSON.stringify(event) })
    for (const name of ['start', 'end', 'message/']) await (await call(name)).text()
    await fetch(`http://127.0.0.1:${port}/_sim/wait?call=message&timeout=30s`)
    child.kill('SIGKILL')
    await new Promise(resolve => child.once('close', resolve))

    const lines = readFileSync(join(cwd, 'j.jsonl'), 'utf8').trimEnd().split('\n')
    const kinds = lines.slice(1).map(line => JSON.parse(line).entry.kind)
    expect(kinds.filter(kind => kind === 'api')).toHaveLength(3)
    appendFileSync(join(cwd, 'j.jsonl'), lines.at(-1)!.slice(0, 40))
    const io = fakeIo(cwd)
    expect(await main(['report', 'j.jsonl'], {}, io)).toBe(0)
    expect(io.stderr.text + io.stdout.text).toMatch(/chat c-7[\s\S]*message-after-end/)
    expect(await main(['report', 'j.jsonl', '--strict'], {}, fakeIo(cwd))).toBe(1)
    // In the middle, a line that is no JSON is not left out.
    writeFileSync(join(cwd, 'broken.jsonl'), [lines[0], '{"v":2,', lines[1]].join('\n'))
    const refused = fakeIo(cwd)
    expect(await main(['report', 'broken.jsonl'], {}, refused)).toBe(2)
    expect(refused.stderr.text).toContain('broken.jsonl:2')
  })
})
