/** The example intermediary in this process: its webhook and its desk as functions, its calls through a loopback port. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createNodeAdapter } from '../../src/server/http.ts'
import type { AgentFunctions } from '../../src/testing/agent.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'
import { pathOf } from '../docs/pages.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
}
type Answering = { answer(request: object, path: string): Promise<Answer> }
type Settings = { platform: Record<string, unknown> }
type Class<Made> = new (...parts: readonly unknown[]) => Made

const load = (name: string) => import(pathOf(`examples/intermediary/${name}.js`))
const { Desk } = (await load('desk')) as { Desk: Class<object> }
const { DeskApi } = (await load('desk-api')) as { DeskApi: Class<Answering> }
const { Outbox } = (await load('outbox')) as { Outbox: Class<object> }
const { Platform } = (await load('platform')) as { Platform: Class<object> }
const { Store } = (await load('store')) as { Store: Class<object> }
const { Webhook } = (await load('webhook')) as { Webhook: Class<Answering> }
const { readSettings } = (await load('settings')) as { readSettings(env: object): Settings }

export interface Reference {
  readonly sim: Simulator
  close(): Promise<void>
}

/** A simulator whose webhook is the example's, with the example's desk as its agent. */
export async function withReference(options: SimulatorOptions = {}): Promise<Reference> {
  const settings = readSettings({})
  const outbox = () => new Outbox(new Platform(settings.platform), store)
  const store = new Store(null)
  const desk = new Desk(settings, store, outbox())
  const [webhook, api] = [new Webhook(settings.platform, desk), new DeskApi(desk, settings.platform)]
  const sim = createSimulator({
    ...options,
    webhook: { fetch: request => answered(webhook, request) },
    agent: agentOf(api),
  })
  const port = createServer(createNodeAdapter(sim.handle, () => 2 ** 20))
  await new Promise<void>(resolve => port.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(port.address() as AddressInfo).port}`
  Object.assign(settings.platform, { url, apiKey: sim.apiKey, botId: sim.botId })
  return {
    sim,
    async close() {
      port.closeAllConnections()
      await new Promise(resolve => port.close(resolve))
      await sim.close()
    },
  }
}

/** As `node:http` would hand it over. */
async function answered(to: Answering, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const { status, body } = await asked(to, request.method, pathname, Buffer.from(await request.arrayBuffer()), [
    ...request.headers,
  ])
  return Response.json(body, { status })
}

async function asked(to: Answering, method: string, path: string, bytes: Buffer, headers: [string, string][] = []) {
  const rawHeaders = headers.flat()
  const request = Object.assign(Readable.from(bytes.length > 0 ? [bytes] : []), {
    method,
    url: path,
    headers: Object.fromEntries(headers),
    rawHeaders,
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
