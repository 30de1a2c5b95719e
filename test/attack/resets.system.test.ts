/** Resets a server while many clients call it, and checks that nothing from before a reset is delivered or journaled after it. */
import { expect, test } from 'vitest'
import { wallDelay } from '../../src/base/runtime/clock.ts'
import { createRandom, type Random } from '../../src/base/runtime/random.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { type RawRequest, sendRaw, startAttackedServer } from './attacked-server.ts'
import { rounds, seed } from './rounds.ts'

const CLIENTS = 8
/** Calls of all clients between two resets. */
const MOST_CALLS = 60

/** Every text of an epoch has this form, so that an old one is found in any delivery or entry. */
const nameOf = (epoch: number) => `epoch-${epoch}-`
const isOld = (text: string, epoch: number) => text.replaceAll(nameOf(epoch), '').includes('epoch-')

const KNOBS = {
  'webhook.retry': ['5ms', '20ms'],
  'bot.delay': '3ms',
  'chat.idleTimeout': '30ms',
  'summarize.latency': '2ms',
} as const

const json = (method: string, path: string, key: string, body: object): RawRequest => ({
  method,
  path,
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: new TextEncoder().encode(JSON.stringify(body)),
})

/** Makes one call of any kind about the chat: of the intermediary, or of the end user through the control API. */
function randomCall({ apiKey, botId }: PlatformServer, chatId: string, random: Random): RawRequest {
  const text = `${chatId} says ${random.below(1000)}`
  const [name, body] = random.pick<readonly [string, object]>([
    ['start', { sender: { name: text, language_codes: ['fr'] } }],
    ['message/', { message: text }],
    ['typing_start', { timeout: 1 + random.below(20) }],
    ['summarize', {}],
    ['transcript', {}],
    ['end', {}],
    ['/messages', { text }],
    ['/messages?wait=ack', { text }],
    ['/press', { button: 'handover' }],
  ])
  if (name.startsWith('/')) return json('POST', `/_sim/chats/${chatId}${name}`, '', body)
  return json('POST', `/api/v2/handover/${name}`, apiKey, { bot_id: botId, chat_id: chatId, ...body })
}

/** A call that a reset interrupts is answered with an internal error or loses its connection. */
const sendAny = (port: number, request: RawRequest) => sendRaw(port, request).catch(() => null)

type Epoch = { readonly number: number; over: boolean }

/** Calls the server until the epoch is over. The last calls are still in flight at the reset. */
async function runClient(server: PlatformServer, epoch: Epoch, client: number, random: Random): Promise<void> {
  const history = [{ user: 'I would like to know where my parcel is' }, { user: 'Hello?' }]
  const chat = await server.chat({ id: `${nameOf(epoch.number)}${client}`, history })
  while (!epoch.over) await sendAny(server.port, randomCall(server, chat.id, random))
}

/** Answers of the webhook: quick, slow, and failing ones, which cause retries. */
async function answerWebhook(random: Random): Promise<Response> {
  if (random.below(4) === 0) await wallDelay(random.below(4))
  return new Response('', { status: random.below(3) === 0 ? 500 : 200 })
}

/** Calls that arrive after the reset are answered and journaled, but never as successful. */
const isLeftOver = (entry: Entry) => entry.kind !== 'api' || entry.status < 400

async function playEpochs(server: PlatformServer, epochs: number, began: (epoch: number) => void) {
  const random = createRandom(seed(), 'resets')
  let stopped: Promise<unknown> = Promise.resolve()
  for (let number = 1; number <= epochs; number++) {
    const epoch: Epoch = { number, over: false }
    const clients = Array.from({ length: CLIENTS }, (_, client) => runClient(server, epoch, client, random))
    const calls = server.journal.nextSeq + random.below(MOST_CALLS)
    await server.journal.waitFor(({ seq }) => seq >= calls, { withinMs: 30_000 })
    epoch.over = true
    const answer = await sendRaw(server.port, json('POST', '/_sim/reset', '', {}))
    expect(answer.status).toBe(200)
    began(number + 1)
    await stopped
    stopped = Promise.all(clients)
  }
  await stopped
}

test('nothing from before a reset is delivered or journaled after it', async () => {
  const ghosts: string[] = []
  const random = createRandom(seed(), 'webhook')
  let epoch = 1
  let deliveries = 0
  const fetch = async (request: Request) => {
    deliveries++
    const text = await request.text()
    if (isOld(text, epoch)) ghosts.push(`webhook in epoch ${epoch}: ${text}`)
    return answerWebhook(random)
  }
  const server = await startAttackedServer({ clock: 'real', knobs: KNOBS, webhook: { fetch } })
  server.journal.subscribe(entry => {
    const text = JSON.stringify(entry)
    if (isOld(text, epoch) && isLeftOver(entry)) ghosts.push(`journal in epoch ${epoch}: ${text}`)
  })
  await playEpochs(server, rounds(100), number => {
    epoch = number
  })
  await server.settled()
  expect(ghosts.slice(0, 5)).toEqual([])
  expect(deliveries).toBeGreaterThan(0)
})
