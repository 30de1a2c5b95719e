/** Makes the mistakes of docs/how-to/troubleshooting.md, and checks that the page shows what a user then sees. */
import { get } from 'node:http'
import { expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { createSimulator, type Simulator, type SimulatorOptions, startSimulator } from '../../../src/index.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { startWebhook } from '../../support/network.ts'
import { freePort } from '../../support/port.ts'
import { blocks, read } from '../pages.ts'

const accepts = async () => new Response('ok')

/** Returns the message of the error, with that of its cause. */
const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    error => [error, error.cause].filter(Boolean).map(String).join('\n'),
  )

async function start(sim: Simulator, body: object, key = sim.apiKey): Promise<string> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: 1042, ...body }),
  }
  const response = await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/start`, init))
  return `${response.status} ${await response.text()}`
}

/** Makes a wrong call in a simulator with the chat `c1`. */
async function wrongCall(body: object, key?: string): Promise<string> {
  const sim = createSimulator()
  await sim.chat({ id: 'c1' })
  return start(sim, body, key)
}

/** Presses the button and expects `start`, which does not come. */
async function failedTest(options: SimulatorOptions): Promise<string> {
  const sim = createSimulator(options)
  const ada = await sim.chat({ user: { firstName: 'Ada' } })
  const pressed = await errorOf(ada.press('handover'))
  const missed = await errorOf(ada.expectCall('start', {}, { within: '1ms' }))
  return [pressed, missed, await errorOf(sim.assertClean())].join('\n').replaceAll('within 1ms', 'within 1800ms')
}

/** Presses the button of a server whose webhook is at this URL. */
async function acknowledged(url: string | null): Promise<string> {
  await using server = await startSimulator({ port: 0, ...(url !== null && { webhook: { url } }) })
  const { id } = await server.chat()
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"button":"handover"}' }
  const response = await fetch(`${server.url}/_sim/chats/${id}/press?wait=ack`, init)
  return (await response.text()).replaceAll(url === null ? '-' : new URL(url).host, '127.0.0.1:3000')
}

/** Calls a server that has the published keys from another page or by another name. */
async function foreignCall(headers: Readonly<Record<string, string>>, path = '/api/v1/chats/c1'): Promise<string> {
  await using server = await startSimulator({ port: 0 })
  return await new Promise(resolve => {
    get(`${server.url}${path}`, { headers }, async response => resolve(String(await response.toArray())))
  })
}

async function command(argv: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
  const io = fakeIo(folderWith(files))
  await main([...argv], { NO_COLOR: '1' }, io)
  return io.stdout.text + io.stderr.text
}

/** Heading of the page -> makes the mistake, and returns what a user sees. */
const SYMPTOMS: Readonly<Record<string, () => Promise<string>>> = {
  'No webhook arrives: no URL': () => acknowledged(null),
  'No webhook arrives: nothing listens': async () => acknowledged(`http://127.0.0.1:${await freePort()}/webhook`),
  'No webhook arrives: the handover is closed': () =>
    failedTest({ webhook: { fetch: accepts }, knobs: { 'availability.initial': 'CLOSED' } }),
  'The webhook answers 401': () => failedTest({ webhook: { fetch: async () => new Response('', { status: 401 }) } }),
  'The webhook answers 404, or 204': async () => {
    await using webhook = await startWebhook((_, response) => response.writeHead(404).end())
    return await acknowledged(webhook.url)
  },
  'The platform answers 401': () => wrongCall({ chat_id: 'c1' }, 'other'),
  'The platform answers 403 to a web page': () => foreignCall({ origin: 'https://desk.example.test' }),
  'The platform answers 403 to a container': () => foreignCall({ host: 'handover-sim:4747' }),
  'The page answers 403 through a forwarded port': async () =>
    JSON.parse(await foreignCall({ origin: 'https://work-4747.app.github.dev' }, '/_sim/state')).error.message,
  'The platform answers 404: the bot': () => wrongCall({ chat_id: 'c1', bot_id: 7 }),
  'The platform answers 404: the chat': () => wrongCall({ chat_id: '8f0c1a52' }),
  'A test says that no call came': () => failedTest({ webhook: { fetch: accepts } }),
  'A test hangs': async () => {
    const seen = await failedTest({ ackTimeout: '10ms', webhook: { fetch: () => new Promise(() => {}) } })
    return seen.replaceAll('10ms', '4s')
  },
  'Events arrive twice, or out of order': async () => {
    const fetch = async (event: Request) => {
      const { chat } = await event.json()
      void start(sim, { chat_id: chat.id })
      return accepts()
    }
    const sim = createSimulator({ webhook: { fetch } })
    const ada = await sim.chat()
    sim.faults.add({ on: 'webhook', duplicate: 2, times: 1 })
    await ada.press('handover')
    await ada.expectCall('start')
    return errorOf(sim.assertClean())
  },
  'A signature differs': () => {
    const signature = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='
    const argv = ['verify', '--body', 'body.json', '--key', 'examplekey', '--signature', signature]
    return command(argv, { 'body.json': '{"foo": 1, "bar": 2}' })
  },
  'The port is in use': async () => {
    await using server = await startSimulator({ port: 0 })
    return (await errorOf(startSimulator({ port: server.port }))).replaceAll(String(server.port), '4747')
  },
  'No simulator is ready': async () => {
    const port = String(await freePort())
    return (await command(['wait', '--port', port, '--timeout', '1ms'])).replaceAll(port, '4747').replace('1ms', '30s')
  },
  'The control API asks for a token': async () => {
    await using server = await startSimulator({ port: 0, controlToken: 'mine' })
    return (await command(['trigger', 'MESSAGE FROM USER', '--url', server.url])).replaceAll(`${server.port}`, '4747')
  },
  'A scenario is inconclusive': async () => {
    await using webhook = await startWebhook()
    const steps = '[{ press: handover }, { agent: accept }, { check: { status: pending } }]'
    const files = { 's.yaml': `version: 1\nname: One\nsteps: ${steps}\n` }
    return await command(['run', 's.yaml', '--port', '0', '--target', webhook.url], files)
  },
}

const SECTIONS = new Map(
  read('docs/how-to/troubleshooting.md')
    .split('\n## ')
    .slice(1)
    .map(text => [text.split('\n')[0]!, text]),
)

/** Removes what differs in each run: durations, the process that has a port, line breaks. */
const stable = (text: string) =>
  text
    .replaceAll(/\d+(\.\d+)? ms/g, '0 ms')
    .replaceAll(/ by [^;]+ \(process \d+\)/g, '')
    .replaceAll(/--port \d{4,5}/g, '--port 4747')
    .replaceAll(/process \d+/g, 'process 0')
    .replaceAll(/\s+/g, ' ')
    .trim()

it.each(Object.entries(SYMPTOMS))('%s', async (heading, makeMistake) => {
  const [shown = '', ...others] = blocks(SECTIONS.get(heading)!, '')
  expect(others).toEqual([])
  expect(stable(await makeMistake())).toContain(stable(shown))
})
