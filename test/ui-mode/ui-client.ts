/** Starts `run --ui`, and speaks to it as its page does: requests, and a stream whose events add up to one state. */
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { Catalogue, LiveEntries, ScenarioStatus, UiStatus } from '../../src/running/ui-mode/protocol.ts'
import type { FakeIo } from '../cli/fake-io.ts'
import { call, startRun, startTarget } from '../runner/targets.ts'
import { readEvents } from '../support/event-stream.ts'

/** What the events of the stream add up to. */
export interface UiState {
  catalogue: Catalogue
  run: UiStatus['run']
  scenarios: Map<string, ScenarioStatus>
  /** By run. */
  entries: Map<number, Entry[]>
  /** Every state that a step had, in order: `Ada 2 running`. */
  steps: string[]
}

export type UiClient = Awaited<ReturnType<typeof connect>>

/** Waits for the line with the address, then follows the stream. */
export async function connect(io: FakeIo) {
  const pattern = /UI mode: (\S+)/
  const [, printed = ''] = pattern.exec(await io.stdout.until(pattern)) ?? []
  const url = new URL(printed).origin
  const send = async (method: string, path: string, body?: object): Promise<{ status: number; body: never }> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${url}/_sim/ui${path}`, { method, ...sent })
    return { status: answer.status, body: (await answer.json()) as never }
  }
  const { state, until } = follow((await fetch(`${url}/_sim/ui/events`)).body!)
  await until(({ catalogue, run }) => catalogue !== undefined && run !== undefined)
  return {
    ...{ url, state, until, send },
    get: (path: string) => send('GET', path),
    run: (...scenarios: string[]) => send('POST', '/run', scenarios.length === 0 ? {} : { scenarios }),
    result: async (name: string): Promise<ScenarioResult> =>
      (await send('GET', `/result?name=${encodeURIComponent(name)}`)).body,
  }
}

function follow(stream: ReadableStream<Uint8Array>) {
  const state = { scenarios: new Map(), entries: new Map(), steps: [] as string[] } as UiState
  const waiting = new Set<() => void>()
  const read = async () => {
    for await (const { event = '', data } of readEvents(stream)) {
      addEvent(state, event, JSON.parse(data) as never)
      for (const look of waiting) look()
    }
  }
  // The stream breaks off when the command ends.
  read().catch(() => {})
  /** Resolves when the state matches. */
  const until = (matches: (state: UiState) => boolean) =>
    new Promise<UiState>(resolve => {
      const look = () => {
        if (!matches(state)) return
        waiting.delete(look)
        resolve(state)
      }
      waiting.add(look)
      look()
    })
  return { state, until }
}

function addEvent(state: UiState, name: string, data: never): void {
  if (name === 'catalogue') state.catalogue = data
  if (name === 'entries') {
    const { run, entries }: LiveEntries = data
    state.entries.set(run, [...(state.entries.get(run) ?? []), ...entries])
  }
  if (name !== 'status') return
  const { run, scenarios }: UiStatus = data
  state.run = run
  for (const one of scenarios) {
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
export function politeTarget() {
  return startTarget((_, response, body) => {
    response.end()
    const { event, chat, bot } = Object(body)
    if (event !== 'REQUESTING TAKEOVER') return
    const platform = new URL(chat._links.self).origin
    const ids = { bot_id: bot.id, chat_id: chat.id }
    void call(platform, 'start', ids).then(() => call(platform, 'message/', { ...ids, message: 'Hello' }))
  })
}

export async function startUi(files: Record<string, string>, ...flags: string[]) {
  const target = await politeTarget()
  const run = startRun(files, ['.', '--ui', '--target', target.url, '--port', '0', ...flags])
  const early = run.code.then(code => Promise.reject(new Error(`exit ${code}: ${run.io.stderr.text}`)))
  early.catch(() => {})
  return { ...run, ui: await Promise.race([connect(run.io), early]) }
}
