import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import type { EntryOf } from '../../src/platform/journal/entry.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Interception, intercept } from '../../src/testing/interceptors/interceptors.ts'

const MESSAGE = '/api/v2/handover/message/'

const started: Interception[] = []
afterEach(() => {
  for (const one of started.splice(0)) one.stop()
})

/** A new simulator with the same seed, and so the same ids and answers. */
async function simulator() {
  const sim = createPlatformSimulator({ baseUrl: 'https://bot.example.test/base' })
  started.push(intercept(sim))
  const chat = await sim.chat()
  await chat.press('handover')
  return { sim, chat }
}

const asAgent = (sim: PlatformSimulator, chatId: string, message: string): RequestInit => ({
  method: 'POST',
  headers: { Authorization: `Bearer ${sim.apiKey}`, 'Content-Type': 'application/json', 'x-trace': 'caf\xe9' },
  body: JSON.stringify({
    bot_id: sim.botId,
    chat_id: chatId,
    message,
    sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
  }),
})

/** Undici sends requests over HTTP while a tool traces them. Returns what was traced, and a function that ends it. */
function trace() {
  const traced: string[] = []
  const onRequest = (message: unknown) => void traced.push((message as { request: { path: string } }).request.path)
  subscribe('undici:request:create', onRequest)
  const end = () => void unsubscribe('undici:request:create', onRequest)
  onTestFinished(end)
  return { traced, end }
}

/** `connection` says what becomes of a connection, and there is none without HTTP. */
const comparable = (headers: object) => ({ ...headers, date: 'date' in headers, connection: 'connection' in headers })

async function outcomeOf(answer: Promise<Response>) {
  try {
    const { status, statusText, headers, url, text } = await answer.then(async response => ({
      status: response.status,
      statusText: response.statusText,
      headers: Object.fromEntries(response.headers),
      url: response.url,
      text: await response.text(),
    }))
    return { status, statusText, headers: comparable(headers), url, text }
  } catch (error) {
    const { name, message, cause } = error as Error
    return { name, message, cause: (cause as Error | undefined)?.message }
  }
}

function streamOf(text: string, failsAfterwards = false): ReadableStream<Uint8Array> {
  const pieces = [text.slice(0, 10), text.slice(10)]
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift()
      if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece))
      else if (failsAfterwards) controller.error(new Error('no more'))
      else controller.close()
    },
  })
}

const comparableEntry = (entry: EntryOf<'api'>) => ({
  ...entry,
  t_real: '',
  at_ms: 0,
  duration_ms: 0,
  request: { ...entry.request, headers: comparable(entry.request.headers) },
})

type Send = (sim: PlatformSimulator, chatId: string) => Promise<Response>

const REQUESTS: Record<string, Send> = {
  'a message': (sim, id) => fetch(sim.baseUrl + MESSAGE, asAgent(sim, id, 'Hello')),
  'a message in UTF-8': (sim, id) =>
    fetch(sim.baseUrl + MESSAGE, asAgent(sim, id, 'Hei, jeg heter Anna 👋 '.repeat(2000))),
  'a refused message': (sim, id) => fetch(sim.baseUrl + MESSAGE, { ...asAgent(sim, id, ''), body: '{"ø' }),
  'a transcript': (sim, id) =>
    fetch(`${sim.baseUrl}/api/v1/chats/${id}?a=%20b#c`, { headers: { authorization: `Bearer ${sim.botApiKey}` } }),
  'its head': (sim, id) =>
    fetch(`${sim.baseUrl}/api/v1/chats/${id}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${sim.botApiKey}` },
    }),
  'a body that is a stream': (sim, id) => {
    const init = asAgent(sim, id, 'In pieces')
    return fetch(sim.baseUrl + MESSAGE, { ...init, body: streamOf(String(init.body)), duplex: 'half' } as RequestInit)
  },
  'a form': sim => fetch(sim.baseUrl + MESSAGE, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }),
  'a method without a body': sim => fetch(`${sim.baseUrl}/nowhere`, { method: 'DELETE' }),
  'a preflight': sim =>
    fetch(sim.baseUrl + MESSAGE, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } }),
  'a missing slash': (sim, id) => fetch((sim.baseUrl + MESSAGE).slice(0, -1), asAgent(sim, id, 'Hello')),
}

/** Two simulators with equal seeds get the same request: with and without HTTP. */
async function compare(send: Send, prepare: (sim: PlatformSimulator) => unknown = () => {}) {
  const observe = async () => {
    const { sim, chat } = await simulator()
    await prepare(sim)
    const outcome = await outcomeOf(send(sim, chat.id))
    started.pop()?.stop()
    const [entry] = sim.journal.query({ kind: 'api' })
    return { outcome, entry: entry?.kind === 'api' && comparableEntry(entry) }
  }
  const direct = await observe()
  const { traced, end } = trace()
  const overHttp = await observe()
  end()
  expect(traced).toHaveLength(1)
  expect(direct).toEqual(overHttp)
  return direct
}

describe('a fetch without HTTP gets what it gets over HTTP', () => {
  it.each(Object.entries(REQUESTS))('%s', async (_, send) => {
    await compare(send)
  })

  it.each<FaultSpec>([
    { on: { api: 'any' }, reset: true },
    { on: { api: 'any' }, drop: 'before' },
    { on: { api: 'any' }, drop: 'after' },
    { on: { api: 'any' }, respond: { status: 503 } },
    { on: { api: 'any' }, latency: '5ms' },
    { on: { api: 'any' }, slow_body: '5ms' },
    { on: { api: 'any' }, malformed: true },
  ])('with the fault %j', async fault => {
    await compare(REQUESTS['a message']!, sim => sim.faults.add(fault))
  })

  it('with an answer that is written in pieces', async () => {
    const history = Array.from({ length: 20_000 }, (_, index) => ({ user: `Message ${index} 👋` }))
    const { outcome } = await compare(
      sim => fetch(`${sim.baseUrl}/api/v1/chats/long`, { headers: { authorization: `Bearer ${sim.botApiKey}` } }),
      sim => sim.chat({ id: 'long', history }),
    )
    expect(outcome).toMatchObject({ status: 200, text: expect.stringContaining('Message 19999') })
  })

  it('with an error of the simulator', async () => {
    const outcomes = []
    for (const begin of [() => {}, trace]) {
      begin()
      const handle = () => {
        throw new Error('broken')
      }
      started.push(intercept({ baseUrl: 'https://broken.example.test', handle }))
      outcomes.push(await outcomeOf(fetch('https://broken.example.test/x')))
      started.pop()?.stop()
    }
    expect(outcomes[0]).toMatchObject({ status: 500, text: expect.stringContaining('broken') })
    expect(outcomes[0]).toEqual(outcomes[1])
  })
})

describe('a fetch without HTTP', () => {
  it('that fails while it sends its body does not reach the API', async () => {
    const { sim, chat } = await simulator()
    const init = asAgent(sim, chat.id, 'Hello')
    const body = streamOf(String(init.body), true)
    const sent = fetch(sim.baseUrl + MESSAGE, { ...init, body, duplex: 'half' } as RequestInit)
    await expect(sent).rejects.toThrow(TypeError)
    await fetch(sim.baseUrl + MESSAGE, asAgent(sim, chat.id, 'Later'))
    expect(chat.transcript.at(-1)).toMatchObject({ text: 'Later' })
    expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
  })

  it('that is aborted while the API answers rejects, and the next one is answered', async () => {
    const { sim, chat } = await simulator()
    sim.faults.add({ on: { api: 'any' }, latency: '60s', times: 1 })
    const controller = new AbortController()
    const sent = fetch(sim.baseUrl + MESSAGE, { ...asAgent(sim, chat.id, 'Hello'), signal: controller.signal })
    await new Promise(resolve => setImmediate(resolve))
    controller.abort()
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' })
    sim.reset()
  })

  it('keeps the order of requests that are sent at once', async () => {
    const { sim, chat } = await simulator()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fetch(sim.baseUrl + MESSAGE, asAgent(sim, chat.id, `Message ${index}`))),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(chat.transcript.slice(-20).map(message => 'text' in message && message.text)).toEqual(
      answers.map((_, index) => `Message ${index}`),
    )
  })
})
