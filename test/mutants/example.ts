/** Runs the example intermediary in this process, as it is or changed: its webhook and its desk are functions of a simulator. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { AgentFunctions } from '../../src/testing/agent.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'
import { useVirtualTime } from '../support/virtual-time.ts'
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

/** The program runs from a folder of its own; nothing of it is shared with other examples. */
async function loadExample(patches: readonly Patch[]) {
  const folder = mkdtempSync(join(tmpdir(), 'handover-example-'))
  try {
    writeExample(folder, [...patches, ...IN_PROCESS])
    const load = (name: string) => import(pathToFileURL(join(folder, `${name}.js`)).href)
    const { Desk } = (await load('desk')) as { Desk: Class<object> }
    const { DeskApi } = (await load('desk-api')) as { DeskApi: Class<Answering> }
    const { Outbox } = (await load('outbox')) as { Outbox: Class<object> }
    const { Platform } = (await load('platform')) as { Platform: Class<object> }
    const { Store } = (await load('store')) as { Store: Class<object> }
    const { Webhook } = (await load('webhook')) as { Webhook: Class<Answering> }
    const { readSettings } = (await load('settings')) as { readSettings(env: object): Settings }
    const settings = readSettings({})
    const store = new Store(null)
    const desk = new Desk(settings, store, new Outbox(new Platform(settings.platform), store))
    return { settings, webhook: new Webhook(settings.platform, desk), api: new DeskApi(desk, settings.platform) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Its pauses are those of the test, and it is quiet. */
const IN_PROCESS: readonly Patch[] = [
  {
    file: 'platform.js',
    find: "import { setTimeout as sleep } from 'node:timers/promises'",
    replacement: 'const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))',
  },
  { file: 'log.js', find: '  console.error', replacement: '  void console.error && String' },
]

/** A simulator whose webhook is that of the example, with the desk of the example as its agent, in virtual time. */
export async function startExample(patches: readonly Patch[], options: SimulatorOptions = {}): Promise<Example> {
  const { settings, webhook, api } = await loadExample(patches)
  const endVirtualTime = useVirtualTime()
  const before = { fetch: globalThis.fetch, botKey: process.env.HANDOVER_SIM_BOT_API_KEY }
  const sim = createSimulator({
    ...options,
    webhook: { fetch: request => answered(webhook, request) },
    agent: agentOf(api),
  })
  Object.assign(settings.platform, { url: sim.baseUrl, apiKey: sim.apiKey, botId: sim.botId })
  globalThis.fetch = (input, init) => sim.fetch(input, init)
  process.env.HANDOVER_SIM_BOT_API_KEY = sim.botApiKey
  return {
    sim,
    async close() {
      await sim.close()
      endVirtualTime()
      globalThis.fetch = before.fetch
      if (before.botKey === undefined) delete process.env.HANDOVER_SIM_BOT_API_KEY
      else process.env.HANDOVER_SIM_BOT_API_KEY = before.botKey
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
