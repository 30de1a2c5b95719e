/** Causes the symptoms of docs/how-to/troubleshooting.md that calls and tests show: with the mistake, and with its fix. */
import { get } from 'node:http'
import { Script } from 'node:vm'
import { setupServer } from 'msw/node'
import { createSimulator, type Simulator, type SimulatorOptions, startSimulator } from '../../../src/index.ts'
import { intercept } from '../../../src/testing/interceptors/interceptors.ts'
import { handlers } from '../../../src/testing/msw.ts'
import { startWebhook } from '../../support/network.ts'
import { pathOf, read } from '../pages.ts'

/** Returns what a user sees: with the mistake, or after the fix of the page. */
export type Symptom = (isFixed: boolean) => Promise<string>

const accepts = async () => new Response('ok')
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

/** Returns the message of the error, with that of its cause. */
const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    error => [error, error.cause].filter(Boolean).map(String).join('\n'),
  )

type Target = Pick<Simulator, 'baseUrl' | 'fetch' | 'apiKey' | 'botApiKey'>

const request = async (sim: Target, path: string, key: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
  const response = await sim.fetch(new Request(`${sim.baseUrl}/${path}`, { ...init, headers }))
  return `${response.status} ${await response.text()}`
}

const start = (sim: Target, body: object, key = sim.apiKey, path = 'api/v2/handover/start') =>
  request(sim, path, key, { method: 'POST', body: JSON.stringify({ bot_id: 1042, sender, ...body }) })

/** A call of a simulator with one chat, `c1`. */
const withChat =
  (act: (sim: Simulator, isFixed: boolean) => Promise<string>): Symptom =>
  async isFixed => {
    const sim = createSimulator()
    await sim.chat({ id: 'c1' })
    return act(sim, isFixed)
  }

/** The failure of a test that presses the button and expects `start`. */
async function failureOf(options: SimulatorOptions, sendsStart = false): Promise<string> {
  const sim = createSimulator(options)
  const ada = await sim.chat({ user: { firstName: 'Ada' } })
  const seen = await errorOf(ada.press('handover'))
  if (sendsStart) await start(sim, { chat_id: ada.id })
  const missed = await errorOf(ada.expectCall('start', {}, { within: '100ms' }))
  return [seen, missed, await errorOf(sim.assertClean())].join('\n').replaceAll('within 100ms', 'within 1800ms')
}

/** The events of a press and the calls that an intermediary makes for them. */
async function twice(isFixed: boolean): Promise<string> {
  const started = new Set<string>()
  const answer = async (event: Request) => {
    const { chat } = await event.json()
    if (!isFixed || !started.has(chat.id)) void start(sim, { chat_id: chat.id })
    started.add(chat.id)
    return accepts()
  }
  const sim = createSimulator({ webhook: { fetch: answer } })
  const ada = await sim.chat()
  sim.faults.add({ on: 'webhook', duplicate: 2, times: 1 })
  await ada.press('handover')
  await ada.expectCall('start')
  return errorOf(sim.assertClean())
}

/** What `press?wait=ack` of a server answers. */
async function acknowledged(webhookUrl: string | undefined): Promise<string> {
  await using server = await startSimulator({ port: 0, ...(webhookUrl && { webhook: { url: webhookUrl } }) })
  const { id } = await server.chat()
  const response = await fetch(`${server.url}/_sim/chats/${id}/press?wait=ack`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"button":"handover"}',
  })
  return (await response.text()).replaceAll(webhookUrl ? new URL(webhookUrl).host : '-', '127.0.0.1:3000')
}

async function webhookAnswers(status: number): Promise<string> {
  await using webhook = await startWebhook((_, response) => response.writeHead(status).end())
  return await acknowledged(webhook.url)
}

async function fromPage(options: object, headers: Readonly<Record<string, string>>): Promise<string> {
  await using server = await startSimulator({ port: 0, ...options })
  await server.chat({ id: 'c1' })
  const authorization = `Bearer ${server.botApiKey}`
  return await new Promise(resolve => {
    get(`${server.url}/api/v1/chats/c1`, { headers: { authorization, ...headers } }, async response => {
      let text = `${response.statusCode} `
      for await (const chunk of response) text += chunk
      resolve(text)
    })
  })
}

/** A call of the intermediary with its own HTTP client. */
async function withClient(isFixed: boolean): Promise<string> {
  const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
  const interception = isFixed ? intercept(sim) : undefined
  const seen = await errorOf(fetch('https://bot.example.test/api/v1/chats/c1'))
  interception?.stop()
  // Without a network, the name is not looked up at all.
  return seen.replace('EAI_AGAIN', 'ENOTFOUND')
}

async function withMsw(isFixed: boolean): Promise<string> {
  const sim = createSimulator({ baseUrl: isFixed ? 'https://bot.example.com' : 'https://bot.example.test' })
  const server = setupServer(...handlers(sim))
  const { error } = console
  console.error = () => {}
  server.listen({ onUnhandledRequest: 'error' })
  const seen = await errorOf(fetch('https://bot.example.com/api/v1/chats/c1'))
  server.close()
  console.error = error
  return seen
}

/** jest compiles a file that it does not transform as CommonJS. */
const inJest: Symptom = async isFixed => {
  const file = read('node_modules/rettime/build/index.mjs')
  if (!isFixed) return errorOf(Promise.resolve().then(() => new Script(file, { filename: pathOf('rettime') })))
  return read('examples/jest/jest.config.js').includes('rettime') ? 'transformed' : 'SyntaxError'
}

const OWN_KEYS = { knobs: { 'keys.handover': 'key-of-mine', 'keys.bot': 'bot-key-of-mine' } }

export const CALL_SYMPTOMS: Readonly<Record<string, Symptom>> = {
  'No webhook arrives: no URL': async isFixed => (isFixed ? webhookAnswers(200) : acknowledged(undefined)),
  'No webhook arrives: nothing listens': async isFixed => {
    if (isFixed) return webhookAnswers(200)
    const webhook = await startWebhook()
    await webhook[Symbol.asyncDispose]()
    return acknowledged(webhook.url)
  },
  'No webhook arrives: the handover is closed': isFixed =>
    failureOf({ webhook: { fetch: accepts }, knobs: { 'availability.initial': isFixed ? 'OPEN' : 'CLOSED' } }, isFixed),
  'The webhook answers 401': isFixed =>
    failureOf({ webhook: { fetch: async () => new Response('', { status: isFixed ? 200 : 401 }) } }, isFixed),
  'The webhook answers 404, or 204': isFixed => webhookAnswers(isFixed ? 200 : 404),
  'The platform answers 401': withChat((sim, isFixed) => start(sim, { chat_id: 'c1' }, isFixed ? sim.apiKey : 'other')),
  'The platform answers 403 to a web page': isFixed =>
    fromPage(isFixed ? OWN_KEYS : {}, { origin: 'https://desk.example.test' }),
  'The platform answers 403 to a container': isFixed =>
    fromPage(isFixed ? OWN_KEYS : {}, { host: 'handover-sim:4747' }),
  'The platform answers 404: the bot': withChat((sim, isFixed) =>
    start(sim, { chat_id: 'c1', bot_id: isFixed ? sim.botId : 7 }),
  ),
  'The platform answers 404: the chat': withChat((sim, isFixed) =>
    start(sim, { chat_id: isFixed ? 'c1' : '8f0c1a52' }),
  ),
  'A test says that no call came': isFixed => failureOf({ webhook: { fetch: accepts } }, isFixed),
  'getaddrinfo ENOTFOUND bot.example.test': withClient,
  'A call passes msw': withMsw,
  'jest does not load msw': inJest,
  'A test hangs': async isFixed => {
    const fetch = isFixed ? accepts : () => new Promise<Response>(() => {})
    return (await failureOf({ ackTimeout: '200ms', webhook: { fetch } }, isFixed)).replaceAll('200ms', '4s')
  },
  'Events arrive twice, or out of order': twice,
}
