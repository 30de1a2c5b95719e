/** Plays random calls in eight workspaces of one server at the same time, and checks that none sees anything of another. */
import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
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
async function startReceiver() {
  const delivered: Delivered[] = []
  const webhook = await startWebhook(({ url, headers }, response) => {
    delivered.push({ workspace: url!.replace('/webhook/', ''), text: webhook.bodies.at(-1)!, headers })
    response.end()
  })
  onTestFinished(() => webhook[Symbol.asyncDispose]())
  return { url: webhook.url, delivered }
}

interface Step {
  readonly method: string
  readonly path: string
  readonly key?: string
  readonly body?: object
}

/** A text that no other workspace contains. */
const secretOf = (name: string) => `secret of ${name}.`
const control = (name: string) => `/_sim/workspaces/${name}`

/** `repeatable` steps have answers that depend only on the workspace and its steps, and not on wall time. */
function randomSteps(name: string, { api_key, bot_api_key, bot_id }: Record<string, string>, random: Random) {
  const chat_id = random.pick(CHATS)
  const text = `${random.below(1000)} ${secretOf(name)}`
  const sender = { name: secretOf(name), avatar: 'https://desk.example.test/a.png' }
  const attachments = [{ name: 'a.txt', type: 'text/plain', base64: btoa(secretOf(name)) }]
  const platform = (path: string, body: object) =>
    ({ method: 'POST', path: `/api/v2/handover/${path}`, key: api_key!, body: { bot_id, chat_id, ...body } }) as Step
  const own = (method: string, path: string, body?: object) =>
    ({ method, path: control(name) + path, ...(body && { body }) }) as Step
  const repeatable: Step[] = [
    platform('start', { sender, supports_attachment: true }),
    platform('message/', { message: text, sender }),
    platform('transcript', {}),
    platform('end', {}),
    { method: 'GET', path: `/api/v1/chats/${chat_id}`, key: bot_api_key! },
    own('GET', `/chats/${chat_id}`),
    own('PATCH', '/config', { 'messages.open': text }),
    own('POST', '/clock/advance', { by: `${random.below(100)}s` }),
  ]
  const others = [
    own('POST', `/chats/${chat_id}/messages?wait=ack`, { text, attachments }),
    own('POST', `/chats/${chat_id}/press?wait=ack`, { button: 'handover' }),
    own('GET', '/journal'),
    own('GET', '/snapshot?journal=true'),
    own('GET', '/state'),
    own('POST', random.below(10) === 0 ? '/reset' : '/settle'),
  ]
  return { repeatable, others }
}

function send(port: number, { method, path, key, body }: Step) {
  const auth: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const headers = { 'content-type': 'application/json', ...auth }
  return sendRaw(port, { method, path, headers, body: JSON.stringify(body) ?? '' })
}

function expectNoSecretOfOthers(name: string, text: string, place: string): void {
  const names = NAMES.filter(one => text.includes(secretOf(one)) || text.includes(btoa(secretOf(one))))
  expect(
    names.filter(one => one !== name),
    `in ${place} of ${name}`,
  ).toEqual([])
}

/** Creates a workspace, plays its random steps, closes it, and returns the repeatable answers. */
async function playWorkspace(port: number, webhook: string, name: string, round: number) {
  const random = createRandom(seed(), `${name} ${round}`)
  const post = (path: string, body: object) => send(port, { method: 'POST', path, body })
  const created = await post('/_sim/workspaces', { name, clock: 'virtual', webhook_url: `${webhook}/${name}` })
  expect(created.status, created.body).toBe(201)
  const info = JSON.parse(created.body) as Record<string, string>
  for (const id of CHATS) await post(`${control(name)}/chats`, { id })
  await post(`${control(name)}/chats/first/press?wait=ack`, { button: 'handover' })
  const answers: string[] = []
  for (let count = 0; count < STEPS; count++) {
    const { repeatable, others } = randomSteps(name, info, random)
    const step = random.pick([...repeatable, ...others])
    const { status, body } = await send(port, step)
    const answer = `${step.method} ${step.path}: ${status} ${repeatable.includes(step) ? body : ''}`
    expect(status, answer).toBeLessThan(500)
    expectNoSecretOfOthers(name, body, 'an answer')
    answers.push(answer.replaceAll(`:${port}`, ':PORT'))
  }
  await send(port, { method: 'DELETE', path: control(name) })
  return { key: info.api_key!, answers }
}

async function checkDelivered(delivered: readonly Delivered[], keys: ReadonlyMap<string, string>): Promise<void> {
  expect(new Set(delivered.map(({ workspace }) => workspace)).size).toBe(NAMES.length)
  for (const { workspace, text, headers } of delivered) {
    expectNoSecretOfOthers(workspace, text, 'an event')
    expect(await verify(text, headers, keys.get(workspace)!), `signature of an event of ${workspace}`).toBe(true)
  }
}

test('of eight workspaces in parallel, none sees anything of another, and each behaves as if it were alone', async () => {
  const { url: webhook, delivered } = await startReceiver()
  const options = { baseUrl: 'https://bot.example.test' }
  const { port } = await startAttackedServer(options)
  for (let round = 0; round < rounds(3); round++) {
    delivered.length = 0
    const played = await Promise.all(NAMES.map(name => playWorkspace(port, webhook, name, round)))
    await checkDelivered(delivered, new Map(NAMES.map((name, index) => [name, played[index]!.key])))
    const chosen = round % NAMES.length
    const server = await startAttackedServer(options)
    const alone = await playWorkspace(server.port, webhook, NAMES[chosen]!, round)
    await server.close()
    expect(played[chosen]).toEqual(alone)
  }
})
