/** Starts a simulator and an example intermediary, and plays the agent with the example's driver.yaml. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { startSimulator } from '../../src/index.ts'
import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import type { Entry, EntryOf } from '../../src/platform/journal/entry.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { EXAMPLES, type Example, launch, type Program } from './program.ts'

const WITHIN_MS = 30_000

/** One call of driver.yaml: a method with a path, and the body. */
type Verb = Readonly<Record<string, unknown>>
interface Driver {
  readonly does: Readonly<Record<string, Verb>>
  readonly [verb: string]: unknown
}
const driver = parse(readFileSync(join(EXAMPLES, 'intermediary/driver.yaml'), 'utf8')) as Driver

export type InboxItem = {
  readonly request?: true
  readonly text?: string
  readonly attachments?: readonly { readonly name: string; readonly url: string; readonly type: string }[]
}

export interface Agent {
  does(verb: string, chatId: string, fields?: Readonly<Record<string, string>>): Promise<unknown>
  inbox(chatId: string): Promise<InboxItem[]>
  /** Lists all conversations of the desk. */
  desk(): Promise<{ id: string; status: string }[]>
}

export interface ExampleSetup {
  readonly sim: PlatformServer
  readonly agent: Agent
  readonly program: Program
  /** Waits for the next call of an endpoint and expects success without findings. */
  call(endpoint: EndpointId): Promise<EntryOf<'api'>>
  /** Starts the program again after its process has ended. */
  relaunch(): Promise<void>
}

export async function setUpExample(
  example: Example,
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleSetup> {
  const sim = await startSimulator({ port: 0 })
  onTestFinished(() => sim.close())
  const settings = { HANDOVER_SIM_URL: sim.url, HANDOVER_SIM_API_KEY: sim.apiKey, ...env }
  const start = async () => {
    const program = await launch(example, settings)
    await sim.configure({ 'webhook.url': `${program.url}/webhook` })
    return program
  }
  let program = await start()
  let after = 0
  return {
    sim,
    get program() {
      return program
    },
    agent: createAgent(() => program.url),
    async call(endpoint) {
      const wanted = (entry: Entry): entry is EntryOf<'api'> => entry.kind === 'api' && entry.endpoint === endpoint
      const entry = await sim.journal.waitFor(wanted, { after, withinMs: WITHIN_MS })
      after = entry.seq
      expect(entry).toMatchObject({ status: 200, auth: 'valid', findings: [] })
      return entry
    },
    async relaunch() {
      program = await start()
    },
  }
}

function createAgent(url: () => string): Agent {
  const ask = async (verb: Verb, fields: Readonly<Record<string, string>>) => {
    const method = 'GET' in verb ? 'GET' : 'POST'
    const json = JSON.stringify(verb.json)
    const body =
      json === undefined ? {} : { body: interpolate(json, fields, value => JSON.stringify(value).slice(1, -1)) }
    const path = interpolate(String(verb[method]), fields, encodeURIComponent)
    const response = await fetch(url() + path, { method, ...body, signal: AbortSignal.timeout(WITHIN_MS) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as unknown
  }
  return {
    does(verb, chatId, fields = {}) {
      const known = (driver[verb] ?? driver.does[verb]) as Verb
      return ask(known, { 'chat.id': chatId, ...fields })
    },
    inbox: chatId => ask(driver.inbox as Verb, { 'chat.id': chatId }) as Promise<InboxItem[]>,
    desk: () => ask({ GET: '/desk' }, {}) as Promise<{ id: string; status: string }[]>,
  }
}

const interpolate = (text: string, fields: Readonly<Record<string, string>>, encode: (value: string) => string) =>
  text.replace(/\$\(([\w.]+)\)/g, (_, name: string) => encode(fields[name]!))
