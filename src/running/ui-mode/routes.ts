/** Defines the routes of UI mode below `/_sim/ui`: files and scenarios, their results, runs, and a stream of what changes. */
import * as z from 'zod/mini'
import { ConfigError } from '../../base/files/errors.ts'
import { readText } from '../../base/files/user-files.ts'
import { nextMacrotask } from '../../base/runtime/clock.ts'
import { suggest } from '../../base/text/error-text.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import { named } from '../../platform/contract/schemas.ts'
import {
  createEventReader,
  type EventReader,
  type OpenStreams,
  serverSentEvents,
} from '../../server/control/event-stream.ts'
import { ControlProblem, unknownId } from '../../server/control/problems.ts'
import { type ControlRoute, ok, routesOf } from '../../server/control/route.ts'
import { checkStreams, HEARTBEAT_MS } from '../../server/control/routes/journal.ts'
import {
  type ExplorationProgress,
  NameQuery,
  OpenBody,
  RunBody,
  type RunStatus,
  type UiEvents,
  WatchBody,
  type WatchSetting,
} from './protocol.ts'
import type { UiActions, UiSession } from './session.ts'

const route = routesOf('ui')

const document = (id: string, description: string) => ({
  200: { description, schema: z.looseObject({}).check(named(id, description)) },
})

export const uiRoutes = (session: UiSession, secrets: Redactor): ControlRoute[] => [
  route('GET /ui', {
    id: 'getUi',
    summary: 'Lists files and scenarios of UI mode, with their states',
    responses: document('Ui', 'Files, scenarios and states'),
    run: () => ok({ catalogue: session.catalogue(), status: session.status(0).status }),
  }),
  route('GET /ui/events', {
    id: 'followUi',
    summary: 'Streams what changes in UI mode',
    responses: { 200: { description: 'Server-sent events', schema: null, type: 'text/event-stream' } },
    run({ closing, streams }) {
      checkStreams(streams)
      const options = { session, secrets, closing, streams, heartbeatMs: HEARTBEAT_MS }
      const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
      return new Response(
        serverSentEvents(() => createUiReader(options)),
        { headers },
      )
    },
  }),
  route('GET /ui/file', {
    id: 'getUiFile',
    summary: 'Returns the text of a scenario file, or of a part that one includes',
    query: NameQuery,
    responses: { ...document('UiFile', 'The text'), 404: 'UI mode does not have this file' },
    run({ query: { name } }) {
      try {
        const file = session.findFile(name)
        if (file !== undefined) return ok({ name, text: readText(file) })
      } catch (error) {
        if (error instanceof ConfigError) throw new ControlProblem(404, 'file_unreadable', error.message)
        throw error
      }
      throw fileNotFound(name)
    },
  }),
  route('POST /ui/open', {
    id: 'openUiFile',
    summary: 'Opens a scenario file in the editor that runs on this machine, or that LAUNCH_EDITOR names',
    body: OpenBody,
    example: { name: 'scenarios/happy.yaml', line: 8 },
    responses: {
      ...document('UiOpened', 'The editor was asked to open it'),
      404: 'UI mode does not have this file',
      409: 'There is no editor',
    },
    async run({ body: { name, line = 1 } }) {
      const file = session.findFile(name)
      if (file === undefined) throw fileNotFound(name)
      await openInEditor(file.path, line)
      return ok({ opened: true })
    },
  }),
  route('GET /ui/result', {
    id: 'getUiResult',
    summary: 'Returns the last result of a scenario, with its journal, as the JSON report has it',
    query: NameQuery,
    responses: { ...document('UiResult', 'The result'), 404: 'The scenario has no result' },
    run({ query: { name } }) {
      const report = session.report(name)
      if (report !== null) return ok(report)
      throw new ControlProblem(404, 'no_result', `${JSON.stringify(name)} has no result: it was not run yet.`)
    },
  }),
  route('POST /ui/run', {
    id: 'startUiRun',
    summary: 'Runs scenarios, now or after the run that is under way',
    body: RunBody,
    example: { scenarios: ['Happy path'] },
    responses: {
      202: document('UiQueued', 'The names of the scenarios; those of broken files are left out')[200],
      404: 'There is no such scenario; lists those there are',
      409: 'A saved run, or an exploration',
    },
    run({ body }) {
      const { run } = actionsOf(session)
      const names = session.catalogue().scenarios.map(({ name }) => name)
      const unknown = body.scenarios?.find(name => !names.includes(name))
      if (unknown === undefined) return { status: 202, body: { scenarios: run(body) } }
      const message = `There is no scenario ${JSON.stringify(unknown)}${suggest(unknown, names)} GET /_sim/ui lists all ${names.length}.`
      throw unknownId('scenario_not_found', 'scenarios', message, names)
    },
  }),
  route('POST /ui/stop', {
    id: 'stopUi',
    summary: 'Ends the run that is under way, and empties the queue',
    responses: { ...document('UiStopped', 'Nothing is running'), 409: 'A saved run, or an exploration' },
    async run() {
      await actionsOf(session).stop()
      return ok({ stopped: true })
    },
  }),
  route('PUT /ui/watch', {
    id: 'watchUi',
    summary: 'Sets the files whose scenarios are run again when they change',
    body: WatchBody,
    example: { all: true, files: [] },
    responses: {
      ...document('UiWatched', 'The setting'),
      404: 'UI mode does not have one of the files',
      409: 'A saved run, or an exploration',
    },
    run({ body }) {
      const { watch } = actionsOf(session)
      // A file that is watched may have been deleted, and come back.
      const { files } = session.status(0).status.watch
      const unknown = body.files.find(name => session.findFile(name) === undefined && !files.includes(name))
      if (unknown !== undefined) throw fileNotFound(unknown)
      watch(body)
      return ok(body)
    },
  }),
]

const fileNotFound = (name: string) =>
  new ControlProblem(404, 'file_not_found', `UI mode does not have the file ${JSON.stringify(name)}.`)

async function openInEditor(path: string, line: number): Promise<void> {
  const { default: launchEditor } = await import('launch-editor')
  let problem: string | null = null
  launchEditor(`${path}:${line}`, (_, message) => {
    problem = message ?? 'no editor runs'
  })
  // A program that does not exist is reported after it was started.
  await nextMacrotask()
  if (problem !== null)
    throw new ControlProblem(
      409,
      'no_editor',
      `No editor could be opened: ${problem}. Open your editor, or name its command in the environment variable LAUNCH_EDITOR, such as LAUNCH_EDITOR=code.`,
    )
}

function actionsOf({ actions }: UiSession): UiActions {
  if (actions !== null) return actions
  throw new ControlProblem(409, 'read_only', 'This page only shows scenarios: run them with npx handover-sim run --ui.')
}

interface UiStreamOptions {
  readonly session: UiSession
  readonly secrets: Redactor
  readonly closing: AbortSignal
  readonly heartbeatMs: number
  readonly streams: OpenStreams
}

/** Of one scenario in one event. */
const MAX_ENTRIES = 200

/**
 * Streams what changes: a stream begins with the whole state, and then sends what is new since its last event. It reads
 * the state when the client requests more, so a slow client misses steps in between and delays only itself. It
 * receives every entry of a scenario until its run ends; the result then has all of them.
 */
function createUiReader({ session, secrets, ...stream }: UiStreamOptions): EventReader {
  let catalogueVersion = 0
  let statesVersion = 0
  let runStatus: RunStatus | null = null
  let watch: WatchSetting | null = null
  let exploration: ExplorationProgress | null = null
  /** The last entry that was sent, by run. */
  const seqs = new Map<number, number>()
  const event = <Name extends keyof UiEvents>(name: Name, data: UiEvents[Name]): string =>
    `event: ${name}\ndata: ${JSON.stringify(secrets.redactDeep(data))}\n\n`

  /** Renders what has changed since its last call. */
  function take(): string {
    let text = ''
    const catalogue = session.catalogue()
    if (catalogue.version !== catalogueVersion) {
      catalogueVersion = catalogue.version
      text += event('catalogue', catalogue)
    }
    const { version, status } = session.status(statesVersion)
    if (status.scenarios.length > 0 || status.run !== runStatus || status.watch !== watch) {
      statesVersion = version
      runStatus = status.run
      watch = status.watch
      text += event('status', status)
    }
    const explored = session.exploration()
    if (explored !== null && explored !== exploration) text += event('exploration', explored)
    exploration = explored
    const active = session.active()
    for (const run of seqs.keys()) if (active.every(activeRun => activeRun.run !== run)) seqs.delete(run)
    for (const { name, run, entriesAfter } of active) {
      const entries = entriesAfter(seqs.get(run) ?? 0, MAX_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) continue
      seqs.set(run, last.seq)
      text += event('entries', { name, run, entries })
    }
    return text
  }
  return createEventReader({ subscribe: session.subscribe, take, ...stream })
}
