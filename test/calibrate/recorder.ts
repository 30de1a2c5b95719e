/** Records on the wire what a simulator, which plays the real platform, exchanges with its clients and its webhook. */
import { createSimulator } from '../../src/index.ts'
import type { ChatOptions } from '../../src/platform/simulator/new-chat.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import { exercise } from './exercise.ts'

type Fields = Readonly<Record<string, unknown>>

/** A plain exchange, as a line of a recording has it. */
export interface RecordedExchange {
  time: string
  duration_ms: number
  request: { method: string; url: string; headers: Record<string, string>; body: string }
  response: { status: number; headers: Record<string, string>; body: string }
}

export interface SentOptions {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | null>>
  /** Bytes in place of the JSON of the fields. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  /** Bytes as a recorder shows them, when they are no text. */
  readonly shown?: string
}

/** What the webhook answers to the next events. */
export interface WebhookAnswer {
  readonly status: number
  readonly headers?: Record<string, string>
  /** Answers after this, and after this much time of the recording. */
  readonly wait?: { readonly until: Promise<unknown>; readonly ms: number }
}

/** Shows a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

export type Recorder = Awaited<ReturnType<typeof createRecorder>>

export const WEBHOOK = 'https://intermediary.example.test/webhook'

export const pathOf = (name: string, { path }: SentOptions): string =>
  path ?? `/api/v2/handover/${name}${name === 'message' ? '/' : ''}`

export function sentHeaders(key: string, { headers = {} }: SentOptions): Headers {
  const sent = new Headers({ 'content-type': 'application/json', authorization: `Bearer ${key}` })
  for (const [header, value] of Object.entries(headers)) {
    if (value === null) sent.delete(header)
    else sent.set(header, value)
  }
  return sent
}

export function bodyBytes(body: Fields, { raw }: SentOptions): Uint8Array<ArrayBuffer> {
  const bytes = raw ?? JSON.stringify(body)
  return typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
}

/** The lines of a recording of the exercise with a platform that has these settings. */
export async function recordedExercise(knobs: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  await using recorder = await createRecorder({ knobs: { 'keys.more': ['second-key:2002'], ...knobs } })
  await exercise(recorder)
  return recorder.lines()
}

export async function createRecorder(options: PlatformSimulatorOptions) {
  const exchanges: RecordedExchange[] = []
  const answers: WebhookAnswer[] = []
  /** Time of the recording that the clock of the simulator does not show. */
  let extraMs = 0
  const nowMs = () => sim.clock.now() + extraMs
  const receive = async (request: Request): Promise<Response> => {
    const startMs = nowMs()
    const exchange = await begin(request, startMs)
    const { status, headers = {}, wait } = answers.shift() ?? { status: 200 }
    await wait?.until
    extraMs += wait?.ms ?? 0
    exchange.duration_ms = nowMs() - startMs
    exchange.response = { status, headers, body: 'ok' }
    return new Response('ok', { status, headers })
  }
  const begin = async (request: Request, startMs: number, shown?: string): Promise<RecordedExchange> => {
    const { method, url } = request
    const body = shown ?? UTF8.decode(await request.clone().arrayBuffer())
    const exchange: RecordedExchange = {
      time: new Date(startMs).toISOString(),
      duration_ms: 0,
      request: { method, url, headers: Object.fromEntries(request.headers), body },
      response: { status: 0, headers: {}, body: '' },
    }
    exchanges.push(exchange)
    return exchange
  }
  const sim = createSimulator({ ...options, webhook: { url: WEBHOOK, fetch: receive } })

  async function send(request: Request, shown?: string) {
    const exchange = await begin(request, nowMs(), shown)
    const response = await sim.fetch(request)
    const headers = Object.fromEntries(response.headers)
    exchange.response = { status: response.status, headers, body: await response.text() }
  }

  return {
    sim,
    exchanges,
    webhookUrl: WEBHOOK,
    lastEvent: () => JSON.parse(exchanges.findLast(({ request }) => request.url === WEBHOOK)?.request.body ?? '{}'),
    lines: () => exchanges.map(exchange => JSON.stringify(exchange)),
    answerNext: (...next: WebhookAnswer[]) => void answers.push(...next),
    clearAnswers: () => void answers.splice(0),
    advance: (ms: number) => sim.clock.advance(`${ms}ms`),
    async call(name: string, body: Fields, options: SentOptions = {}) {
      const init = { method: 'POST', headers: sentHeaders(sim.apiKey, options), body: bodyBytes(body, options) }
      await send(new Request(new URL(pathOf(name, options), sim.baseUrl), init), options.shown)
    },
    async get(url: string, key: string | null) {
      const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
      await send(new Request(new URL(url, sim.baseUrl), { headers }))
    },
    chat: (chatOptions?: ChatOptions) => sim.chat(chatOptions),
    [Symbol.asyncDispose]: () => sim.close(),
  }
}
