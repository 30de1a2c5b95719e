/** Runs the example intermediary in this process, as it is or changed: its webhook and its desk are functions of a simulator. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
// Modules that src loads when they are needed: loading takes real time.
import '@faker-js/faker/locale/ar'
import '@faker-js/faker/locale/de'
import '@faker-js/faker/locale/en'
import '@faker-js/faker/locale/nb_NO'
import '../../src/platform/api/handle.ts'
import '../../src/platform/simulator/shipped-transcripts.ts'
import '../../src/running/agent-driver/function-driver.ts'
import type { AgentFunctions } from '../../src/testing/agent.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'
import { useVirtualTime } from '../support/virtual-time.ts'
import { type Changes, patchesOf } from './changes.ts'
import { type Patch, writeExample } from './patch.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
}
type Answering = { answer(request: object, path: string): Promise<Answer> }
type Settings = { platform: Record<string, unknown> }
type Class<Made> = new (...parts: readonly unknown[]) => Made

export interface Example {
  readonly sim: Simulator
  close(): Promise<void>
}

/** Its pauses are those of the test, its calls reach only the simulator of this example, and it is quiet. */
function inProcess(key: string): Patch[] {
  const fetch = `const fetch = globalThis[${JSON.stringify(key)}]`
  const sleep = 'const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))'
  const sleepOfNode = "import { setTimeout as sleep } from 'node:timers/promises'"
  return [
    { file: 'platform.js', find: sleepOfNode, replacement: `${fetch}\n${sleep}` },
    { file: 'webhook.js', find: 'export class Webhook {', replacement: `${fetch}\nexport class Webhook {` },
    { file: 'log.js', find: '  console.error', replacement: '  void String' },
  ]
}

/** Loads the program from a folder of its own, so that examples share nothing. It makes its calls with this `fetch`. */
async function loadExample(changes: Changes, fetch: typeof globalThis.fetch) {
  const folder = mkdtempSync(join(tmpdir(), 'handover-example-'))
  Reflect.set(globalThis, folder, fetch)
  try {
    writeExample(folder, [...patchesOf(changes), ...inProcess(folder)])
    const load = (name: string) => import(pathToFileURL(join(folder, `${name}.js`)).href)
    const { Desk } = (await load('desk')) as { Desk: Class<object> }
    const { DeskApi } = (await load('desk-api')) as { DeskApi: Class<Answering> }
    const { Outbox } = (await load('outbox')) as { Outbox: Class<object> }
    const { Platform } = (await load('platform')) as { Platform: Class<object> }
    const { Store } = (await load('store')) as { Store: Class<object> }
    const { Webhook } = (await load('webhook')) as { Webhook: Class<Answering> }
    const { readSettings } = (await load('settings')) as { readSettings(env: object): Settings }
    return () => {
      const settings = readSettings({})
      const store = new Store(null)
      const desk = new Desk(settings, store, new Outbox(new Platform(settings.platform), store))
      return { settings, webhook: new Webhook(settings.platform, desk), api: new DeskApi(desk, settings.platform) }
    }
  } finally {
    Reflect.deleteProperty(globalThis, folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A simulator whose webhook is that of the example, with the desk of the example as its agent, in virtual time. */
export async function startExample(changes: Changes, options: SimulatorOptions = {}): Promise<Example> {
  let isClosed = false
  const create = await loadExample(changes, (input, init) =>
    isClosed ? new Promise(() => {}) : sim.fetch(input as string, init),
  )
  const endVirtualTime = useVirtualTime()
  const { settings, webhook, api } = create()
  const sim = createSimulator({
    ...options,
    webhook: { fetch: request => answered(webhook, request) },
    agent: agentOf(api),
  })
  const { baseUrl: url, apiKey, botApiKey, botId } = sim
  Object.assign(settings.platform, { url, apiKey, botApiKey, botId })
  process.env.HANDOVER_SIM_BOT_API_KEY = botApiKey
  return {
    sim,
    async close() {
      isClosed = true
      delete process.env.HANDOVER_SIM_BOT_API_KEY
      await sim.close()
      endVirtualTime()
    },
  }
}

/** As `node:http` would hand it over. */
async function answered(to: Answering, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const bytes = Buffer.from(await request.arrayBuffer())
  const { status, body } = await asked(to, request.method, pathname, bytes, [...request.headers])
  return Response.json(body, { status })
}

async function asked(to: Answering, method: string, path: string, bytes: Buffer, headers: [string, string][] = []) {
  const request = Object.assign(Readable.from(bytes.length > 0 ? [bytes] : []), {
    method,
    url: path,
    headers: Object.fromEntries(headers),
    rawHeaders: headers.flat(),
    socket: { remoteAddress: '127.0.0.1' },
  })
  try {
    return await to.answer(request, path)
  } catch (error) {
    return (error as { toAnswer?(): Answer }).toAnswer?.() ?? { status: 500, body: String(error) }
  }
}

/** What examples/intermediary/driver.yaml says, without HTTP. */
function agentOf(api: Answering): AgentFunctions {
  const call = async (method: string, path: string, body?: object) => {
    const { status, body: said } = await asked(api, method, path, Buffer.from(body ? JSON.stringify(body) : ''))
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(said)}`)
    return said
  }
  const post = (path: string, body?: object) => call('POST', `/desk/${path}`, body)
  return {
    accept: ({ chat }) => post(`${chat?.id}/accept`),
    says: ({ chat, text }) => post(`${chat?.id}/messages`, { text }),
    type: ({ chat }) => post(`${chat?.id}/typing`, { on: true }),
    stop: ({ chat }) => post(`${chat?.id}/typing`, { on: false }),
    leave: ({ chat }) => post(`${chat?.id}/close`),
    away: () => post('availability', { open: false }),
    back: () => post('availability', { open: true }),
    inbox: async ({ chat }) => (await call('GET', `/desk/${chat?.id}/inbox`)) as [],
    does: {
      transfer: ({ chat, with: parameters }) => post(`${chat?.id}/transfer`, { team: parameters?.team }),
      announce: ({ chat }) => post(`${chat?.id}/announce`),
    },
  }
}
