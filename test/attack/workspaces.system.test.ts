/** Plays random calls in eight workspaces of one server at the same time, and checks that none sees anything of another. */
import type { IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRandom, type Random } from '../../src/base/runtime/random.ts'
import { verify } from '../../src/platform/signature/index.ts'
import { startWebhook } from '../support/network.ts'
import { sendRaw, startAttackedServer } from './attacked-server.ts'
import { rounds, seed } from './rounds.ts'

const NAMES = ['anna', 'bjarne', 'carla', 'david', 'elif', 'frida', 'goran', 'hanna']
const STEPS = 40
/** The same ids in every workspace: a call that reaches the wrong one would find its chat. */
const CHATS = ['first', 'second']

interface Delivered {
  readonly workspace: string
  readonly text: string
  readonly headers: IncomingMessage['headers']
}

/** Starts one receiver for all workspaces; the path of the webhook names the workspace. */
async function startReceiver(): Promise<{ url: string; delivered: Delivered[] }> {
  const delivered: Delivered[] = []
  const webhook = await startWebhook(({ url, headers }, response) => {
    delivered.push({ workspace: url!.replace('/webhook/', ''), text: webhook.bodies.at(-1)!, headers })
    response.end()
  })
  onTestFinished(() => webhook[Symbol.asyncDispose]())
  return { url: webhook.url, delivered }
}

interface WorkspaceInfo {
  readonly api_key: string
  readonly bot_api_key: string
  readonly bot_id: number
}

interface Step {
  readonly method: string
  readonly path: string
  readonly key?: string
  readonly body?: object
  /** Whether the answer depends only on the workspace and its steps, and not on wall time. */
  readonly isRepeatable: boolean
}

/** A text that no other workspace contains. */
const secretOf = (name: string) => `secret of ${name}.`
const control = (name: string) => `/_sim/workspaces/${name}`

function randomStep(name: string, { api_key, bot_api_key, bot_id }: WorkspaceInfo, random: Random): Step {
  const chat_id = random.pick(CHATS)
  const text = `${random.below(1000)} ${secretOf(name)}`
  const sender = { name: secretOf(name), avatar: 'https://desk.example.test/a.png' }
  const attachments = [{ name: 'a.txt', type: 'text/plain', base64: btoa(secretOf(name)) }]
  const platform = (path: string, body: object): Step => ({
    method: 'POST',
    path: `/api/v2/handover/${path}`,
    key: api_key,
    body: { bot_id, chat_id, ...body },
    isRepeatable: true,
  })
  const own = (method: string, path: string, body?: object, isRepeatable = true): Step => ({
    method,
    path: control(name) + path,
    isRepeatable,
    ...(body === undefined ? {} : { body }),
  })
  return random.pick([
    platform('start', { sender, supports_attachment: true }),
    platform('message/', { message: text, sender }),
    platform('transcript', {}),
    platform('end', {}),
    { method: 'GET', path: `/api/v1/chats/${chat_id}`, key: bot_api_key, isRepeatable: true },
    own('POST', `/chats/${chat_id}/messages?wait=ack`, { text, attachments }, false),
    own('POST', `/chats/${chat_id}/press?wait=ack`, { button: 'handover' }, false),
    own('GET', `/chats/${chat_id}`),
    own('PATCH', '/config', { 'messages.open': text }),
    own('POST', '/clock/advance', { by: `${random.below(100)}s` }),
    own('GET', '/journal', undefined, false),
    own('GET', '/snapshot?journal=true', undefined, false),
    own('GET', '/state', undefined, false),
    own('POST', random.below(10) === 0 ? '/reset' : '/settle', undefined, false),
  ])
}

function send(port: number, { method, path, key, body }: Omit<Step, 'isRepeatable'>) {
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body && { 'content-type': 'application/json' }),
  }
  return sendRaw(port, { method, path, headers, body: JSON.stringify(body) ?? '' })
}

const OTHERS = new Map(NAMES.map(name => [name, NAMES.filter(other => other !== name).map(secretOf)]))

function expectNoSecretOfOthers(name: string, text: string, place: string): void {
  const found = OTHERS.get(name)!.filter(secret => text.includes(secret) || text.includes(btoa(secret)))
  expect(found, `in ${place} of ${name}`).toEqual([])
}

interface Target {
  readonly port: number
  readonly webhook: string
}

/** Creates a workspace, plays its random steps, closes it, and returns the repeatable answers. */
async function playWorkspace({ port, webhook }: Target, name: string, round: number) {
  const random = createRandom(seed(), `${name} ${round}`)
  const body = { name, clock: 'virtual', webhook_url: `${webhook}/${name}` }
  const created = await send(port, { method: 'POST', path: '/_sim/workspaces', body })
  expect(created.status, created.body).toBe(201)
  const info = JSON.parse(created.body) as WorkspaceInfo
  for (const id of CHATS) await send(port, { method: 'POST', path: `${control(name)}/chats`, body: { id } })
  await send(port, {
    method: 'POST',
    path: `${control(name)}/chats/first/press?wait=ack`,
    body: { button: 'handover' },
  })
  const answers: string[] = []
  for (let step = 0; step < STEPS; step++) answers.push(await playStep(port, name, info, random))
  await send(port, { method: 'DELETE', path: control(name) })
  return { key: info.api_key, answers }
}

async function playStep(port: number, name: string, info: WorkspaceInfo, random: Random): Promise<string> {
  const step = randomStep(name, info, random)
  const { status, body } = await send(port, step)
  const answer = `${step.method} ${step.path}: ${status} ${step.isRepeatable ? body : ''}`
  expect(status, answer).toBeLessThan(500)
  expectNoSecretOfOthers(name, body, 'an answer')
  return answer.replaceAll(`:${port}`, ':PORT')
}

async function checkDelivered(delivered: readonly Delivered[], keys: ReadonlyMap<string, string>): Promise<void> {
  expect(new Set(delivered.map(({ workspace }) => workspace)).size).toBe(NAMES.length)
  for (const { workspace, text, headers } of delivered) {
    expectNoSecretOfOthers(workspace, text, 'an event')
    expect(await verify(text, headers, keys.get(workspace)!), `signature of an event of ${workspace}`).toBe(true)
  }
}

describe('eight workspaces in parallel', () => {
  test('none sees anything of another, and each behaves as if it were alone', async () => {
    const { url: webhook, delivered } = await startReceiver()
    const options = { baseUrl: 'https://bot.example.test' }
    const shared = { port: (await startAttackedServer(options)).port, webhook }
    for (let round = 0; round < rounds(3); round++) {
      delivered.length = 0
      const played = await Promise.all(NAMES.map(name => playWorkspace(shared, name, round)))
      await checkDelivered(delivered, new Map(NAMES.map((name, index) => [name, played[index]!.key])))
      const chosen = round % NAMES.length
      const server = await startAttackedServer(options)
      const alone = await playWorkspace({ port: server.port, webhook }, NAMES[chosen]!, round)
      await server.close()
      expect(played[chosen]).toEqual(alone)
    }
  })
})
