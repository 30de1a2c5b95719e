/** A proxy with programs of their own around it: the example intermediary, openssl, and a reader that is slow. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { readJournal } from '../../../src/evaluation/evaluator/journal-file.ts'
import { startSimulator } from '../../../src/index.ts'
import { folderWith } from '../../config/folder.ts'
import { freePort } from '../../support/port.ts'
import { call, deadUrl, KEY, serverWith, startProxy } from './setup.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** Starts another simulator as the real platform and the example intermediary, with a proxy between them. */
async function startIntermediary() {
  const platform = await startSimulator({
    port: 0,
    knobs: { 'keys.handover': KEY, 'keys.bot': 'the-real-bot-key-of-acme' },
  })
  onTestFinished(() => platform.close())
  const port = await freePort()
  const proxy = await startProxy(platform.url, `http://127.0.0.1:${port}/webhook`, ['--api-key', KEY])
  const file = fileURLToPath(new URL('../../../examples/intermediary/main.js', import.meta.url))
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, PORT: String(port), HANDOVER_SIM_URL: proxy.url, HANDOVER_SIM_API_KEY: KEY },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise(resolve => child.stdout.once('data', resolve))
  await platform.configure({ 'webhook.url': proxy.deliveryUrl })
  const headers = { 'content-type': 'application/json' }
  const desk = (path: string, body: object = {}) =>
    fetch(`http://127.0.0.1:${port}/desk/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { platform, proxy, desk }
}

it('records a handover in both directions as a simulator records its own', async () => {
  const { platform, proxy, desk } = await startIntermediary()
  const chat = await platform.chat()
  await chat.press('handover', { async: true })
  await proxy.waitFor('delivery')
  await desk(`${chat.id}/accept`)
  // The start, and then the transcript.
  await proxy.waitFor('api', 2)
  await desk(`${chat.id}/messages`, { text: 'Hello from Anna' })
  await proxy.waitFor('api', 3)
  await chat.says('Thank you', { async: true })
  await proxy.waitFor('delivery', 2)
  await desk(`${chat.id}/close`)
  await proxy.waitFor('api', 4)

  const entries = await proxy.entries()
  const shown = entries.filter(one => one.kind !== 'note' || !one.note.startsWith('proxy_'))
  const [, pressed, request, delivery, start, , read, message, , event, , end] = shown
  const delivered = { kind: 'delivery', observed: true, outcome: 'delivered', status: 200 }
  const called = { kind: 'api', observed: true, auth: 'valid', status: 200 }
  expect(shown).toMatchObject([
    { note: 'chat_created' },
    { kind: 'user' },
    { kind: 'event', event: 'REQUESTING TAKEOVER', observed: true, cause: pressed?.seq },
    { ...delivered, cause: request?.seq, request: { headers: { 'kindly-hmac': '*** (valid)' } } },
    { ...called, endpoint: 'start', follows: request?.seq },
    { note: 'taken_over' },
    { ...called, endpoint: 'transcript', follows: request?.seq },
    { ...called, endpoint: 'message', follows: request?.seq },
    { kind: 'user' },
    { kind: 'event', event: 'MESSAGE FROM USER' },
    { ...delivered, event: 'MESSAGE FROM USER', cause: event?.seq },
    { ...called, endpoint: 'end', follows: event?.seq },
    { note: 'handed_back' },
  ])
  for (const one of [request, delivery, start, read, message, end]) expect(one?.chat_id).toBe(chat.id)

  // The chat as the page shows it, the page itself, and the recorder.
  const { body: view } = await proxy.client('GET', `/chats/${chat.id}`)
  expect(view).toMatchObject({ status: 'bot', language: 'en', user_id: chat.userId })
  expect(view.messages).toMatchObject([
    { from: 'agent', text: 'Hello from Anna' },
    { from: 'user', text: 'Thank you' },
  ])
  const page = await fetch(`${proxy.url}/`, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<title>handover-sim')
  const recorded = await proxy.client('POST', '/record', { body: {} })
  expect(recorded.body.tried).toMatchObject({ outcome: 'pass', calls: 3, noticed: 3 })
  expect(recorded.body.yaml).toContain('- user: Thank you')

  // The file has the same entries, and the terminal shows them.
  const saved = readJournal('journal', proxy.file())
  expect(saved.journal).toEqual(entries)
  await proxy.stop()
  expect(proxy.io.stderr.text).toMatch(/intermediary -> platform +POST start as Anna/)
  expect(proxy.io.stderr.text).toMatch(/platform -> intermediary +MESSAGE FROM USER "Thank you"/)
})

it('keeps bytes for a reader that is slow in the server and not in the proxy', async () => {
  const piece = randomBytes(1_048_576)
  const total = 96
  let written = 0
  const platform = await serverWith(async (_, response) => {
    response.writeHead(200, { 'content-length': total * piece.length })
    for (let count = 0; count < total; count++) {
      written++
      if (!response.write(piece)) await once(response, 'drain')
    }
    response.end()
  })
  const proxy = await startProxy(platform.url, platform.url)
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  client.write('GET /files/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await once(client, 'readable')
  // Other calls go on meanwhile; the server has stopped far before the end.
  await expect
    .poll(async () => {
      const before = written
      await proxy.client('GET', '/livez')
      return written === before && written > 0
    })
    .toBe(true)
  expect(written).toBeLessThan(total / 2)
  let bytes = 0
  client.on('data', chunk => (bytes += chunk.length))
  await once(client, 'close')
  expect(bytes).toBeGreaterThan(total * piece.length)
})

it.skipIf(!hasOpenssl)('says when the certificate of the platform is not trusted, and how to trust it', async () => {
  const folder = folderWith()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const options = '-x509 -subj /CN=localhost -days 1 -nodes -newkey rsa:2048'.split(' ')
  execFileSync('openssl', ['req', ...options, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const proxy = await startProxy(`https://localhost:${(server.address() as AddressInfo).port}`, await deadUrl())
  const answer = await call(proxy.url, 'start', {})
  expect(answer.status).toBe(502)
  const { handover_sim: why } = await answer.json()
  expect(why.message).toMatch(/TLS: self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
  expect(why.hint).toContain('NODE_EXTRA_CA_CERTS')
})
