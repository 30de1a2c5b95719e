/** Holds conversations on a real server, with calls as an intermediary makes them, and records them over HTTP. */
import { onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { type ServerOptions, startSimulator } from '../../src/index.ts'
import { recordWith } from '../../src/running/recorder/record.ts'
import { tryScenario } from '../../src/running/recorder/try-scenario.ts'
import type { RecordScenario } from '../../src/server/control/recorder.ts'
import { type PlatformServer, type PlatformServerOptions, startServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { startWebhook } from '../support/network.ts'

// biome-ignore lint/suspicious/noExplicitAny: steps are compared as data
type Json = any

/** The answer, and the recorded scenario as text and as data. */
export interface Recorded {
  readonly status: number
  readonly body: Json
  readonly yaml: string
  readonly scenario: Json
  readonly steps: readonly Json[]
  readonly codes: readonly string[]
}

/** Tries scenarios in a thread, as users do. */
export const startRecorder = (options: ServerOptions = {}) => startWith(startSimulator, options)

/** Tries scenarios in this thread, which is quicker. */
export const startQuickRecorder = (options: PlatformServerOptions = {}) =>
  startWith(all => {
    const recordScenario: RecordScenario = (...args) => recordWith(tryScenario, ...args)
    return startServer(all, undefined, undefined, { loadRecorder: async () => ({ recordScenario }) })
  }, options)

async function startWith<Server extends PlatformServer>(
  start: (options: PlatformServerOptions & ServerOptions) => Promise<Server>,
  options: object,
) {
  let webhookStatus = 200
  const webhook = await startWebhook((_, response) => response.writeHead(webhookStatus).end())
  const sim = await start({ port: 0, webhook: { url: webhook.url }, ...options })
  onTestFinished(async () => {
    await sim.close()
    await webhook[Symbol.asyncDispose]()
  })
  const ask = createControlClient(sim)
  return {
    sim,
    /** Sets the status of the webhook from now on. */
    answerWith(status: number) {
      webhookStatus = status
    },
    /** Calls an endpoint for a chat; `body` is laid over the ids. */
    async call(endpoint: string, chat: { readonly id: string } | null, body: object = {}, key = sim.apiKey) {
      const ids = chat === null ? {} : { bot_id: sim.botId, chat_id: chat.id }
      const response = await fetch(`${sim.url}/api/v2/handover/${endpoint}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ids, ...body }),
      }).catch(() => null)
      return response?.status ?? 0
    },
    async record(request: object = {}, path = '/record'): Promise<Recorded> {
      const { status, body } = await ask('POST', path, { body: request })
      const { yaml = '', notes = [] } = body
      const scenario = parse(yaml) ?? {}
      const codes = notes.map((note: Json) => note.code)
      return { status, body, yaml, scenario, steps: scenario.steps, codes }
    },
  }
}

export const ANNA = { sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' } }
