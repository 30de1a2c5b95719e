/** Starts `run --ui`, and speaks to it as its page does: requests, and a stream whose events add up to one state. */
import { expect } from 'vitest'
import type { ScenarioReport } from '../../src/evaluation/evaluator/wording/report.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { Catalogue, ScenarioStatus, Status } from '../../src/running/ui-mode/protocol.ts'
import type { FakeIo } from '../cli/fake-io.ts'
import { call, type Run, startRun, startTarget, type Target } from '../runner/targets.ts'

/** What the events of the stream add up to. */
export interface UiState {
  readonly catalogue: Catalogue
  readonly run: Status['run']
  readonly watch: Status['watch']
  readonly scenarios: ReadonlyMap<string, ScenarioStatus>
  /** By run. */
  readonly entries: ReadonlyMap<number, readonly Entry[]>
  /** Every state that a step had, in order: `Ada 2 running`. */
  readonly steps: readonly string[]
}

export interface UiClient {
  readonly url: string
  readonly state: UiState
  /** Resolves when the state matches. */
  until(matches: (state: UiState) => boolean): Promise<UiState>
  get(path: string): Promise<{ readonly status: number; readonly body: never }>
  send(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: never }>
  run(...scenarios: string[]): Promise<void>
  result(name: string): Promise<ScenarioReport>
}

export const stepsOf = (label: string, steps: readonly string[]) => steps.filter(one => one.startsWith(`${label} `))

/** Waits for the line with the address, then follows the stream. */
export async function connect(io: FakeIo, pattern = /UI mode: (\S+)/): Promise<UiClient> {
  const [, url = ''] = pattern.exec(await io.stdout.until(pattern)) ?? []
  const { origin } = new URL(url)
  const response = await fetch(`${origin}/_sim/ui/events`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const follower = follow(response.body!)
  const request = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${origin}/_sim/ui${path}`, init)
    return { status: answer.status, body: (await answer.json()) as never }
  }
  await follower.until(state => state.catalogue !== undefined && state.run !== undefined)
  return {
    url: origin,
    get state() {
      return follower.state
    },
    until: follower.until,
    get: path => request(path),
    send: (method, path, body) =>
      request(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    async run(...scenarios) {
      await request('/run', { method: 'POST', body: JSON.stringify(scenarios.length === 0 ? {} : { scenarios }) })
    },
    result: async name => (await request(`/result?name=${encodeURIComponent(name)}`)).body,
  }
}

interface MutableState extends Omit<UiState, 'catalogue' | 'run' | 'watch' | 'scenarios' | 'entries' | 'steps'> {
  catalogue: Catalogue
  run: Status['run']
  watch: Status['watch']
  scenarios: Map<string, ScenarioStatus>
  entries: Map<number, Entry[]>
  steps: string[]
}

function follow(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  const state = { scenarios: new Map(), entries: new Map(), steps: [] } as unknown as MutableState
  const waiting = new Set<() => void>()
  const apply = (block: string) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? []
    if (name !== undefined && data !== undefined) addEvent(state, name, JSON.parse(data) as never)
    for (const look of waiting) look()
  }
  void readBlocks(reader, apply)
  return {
    state: state as UiState,
    until: (matches: (state: UiState) => boolean) =>
      new Promise<UiState>(resolve => {
        const look = () => {
          if (!matches(state)) return
          waiting.delete(look)
          resolve(state)
        }
        waiting.add(look)
        look()
      }),
  }
}

async function readBlocks(reader: ReadableStreamDefaultReader<Uint8Array>, apply: (block: string) => void) {
  const decoder = new TextDecoder()
  let text = ''
  for (
    let part = await reader.read();
    !part.done;
    part = await reader.read().catch(() => ({ done: true, value: undefined }) as const)
  ) {
    text += decoder.decode(part.value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) apply(block)
  }
}

function addEvent(state: MutableState, name: string, data: never): void {
  if (name === 'catalogue') state.catalogue = data
  if (name === 'entries') {
    const { run, entries } = data as { run: number; entries: Entry[] }
    state.entries.set(run, [...(state.entries.get(run) ?? []), ...entries])
  }
  if (name !== 'status') return
  const status = data as Status
  state.run = status.run
  state.watch = status.watch
  for (const one of status.scenarios) {
    const before = state.scenarios.get(one.name)?.steps ?? {}
    for (const [number, step] of Object.entries(one.steps))
      if (before[Number(number)] !== step) state.steps.push(`${one.name} ${number} ${step}`)
    state.scenarios.set(one.name, one)
  }
}

export const outcomeOf = ({ scenarios }: UiState, name: string) => scenarios.get(name)?.last?.outcome

/** Whether every scenario of the list has an outcome, and nothing is running. */
export const isDone = ({ run, catalogue, scenarios }: UiState): boolean =>
  run.state === 'idle' && catalogue.scenarios.every(({ name }) => scenarios.get(name)?.last != null)

/** `expectTimeout`: how long an expectation waits before it fails. */
export const scenarioFile = (name: string, steps: string, more = '', expectTimeout = '1s'): string =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: ${expectTimeout}, settle: 150ms }\nsteps:\n${steps}`

export const ACCEPTED = '  - press: handover\n  - expect: start\n'

/** Starts a handover as soon as a user asks for one, and says "Hello" then. */
export function politeTarget(): Promise<Target> {
  return startTarget((_, response, body) => {
    response.end()
    const { event, chat, bot } = body as unknown as {
      event: string
      chat?: { id: string; _links: { self: string } }
      bot: { id: number }
    }
    if (event !== 'REQUESTING TAKEOVER' || chat === undefined) return
    const platform = new URL(chat._links.self).origin
    const ids = { bot_id: bot.id, chat_id: chat.id }
    void call(platform, 'start', ids).then(() => call(platform, 'message/', { ...ids, message: 'Hello' }))
  })
}

export async function startUi(
  files: Record<string, string>,
  ...flags: string[]
): Promise<Run & { readonly ui: UiClient }> {
  const target = await politeTarget()
  const run = startRun(files, ['.', '--ui', '--target', target.url, '--port', '0', ...flags])
  const early = run.code.then(code => Promise.reject(new Error(`exit ${code}: ${run.io.stderr.text}`)))
  early.catch(() => {})
  return { ...run, ui: await Promise.race([connect(run.io), early]) }
}
