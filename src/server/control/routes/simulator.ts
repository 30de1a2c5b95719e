/** Reports that the server runs and accepts requests, and serves the OpenAPI documents. */
import * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { isoMicros, LATEST_MS } from '../../../base/runtime/clock.ts'
import { type Duration, parseDuration } from '../../../base/text/quantities.ts'
import { platformOpenApi } from '../../../platform/contract/openapi.ts'
import { AnyFields, named } from '../../../platform/contract/schemas.ts'
import { VERSION } from '../../../platform/contract/version.ts'
import type { Core } from '../../../platform/simulator/core.ts'
import { snapshotText } from '../../../platform/simulator/snapshot/capture.ts'
import type { Snapshot } from '../../../platform/simulator/snapshot/schema.ts'
import { ControlProblem } from '../problems.ts'
import { booleanFlag, type ControlRoute, DurationSchema, ok, routesOf } from '../route.ts'

const HealthResponse = z
  .object({ status: z.enum(['live', 'ready', 'closing']), version: z.string() })
  .check(named('Health', 'Whether the server runs and accepts requests'))

const OpenApiResponse = z.looseObject({ openapi: z.string() }).check(named('OpenApiDocument', 'OpenAPI 3.1'))

const AdvanceClockBody = z
  .strictObject({ by: DurationSchema })
  .check(named('AdvanceClock', 'By how much to advance a virtual or a paused clock'))

const EmptyBody = z.strictObject({}).check(named('EmptyBody', 'No fields; the body may be left out'))

const SettledResponse = z
  .object({ settled: z.literal(true), next_seq: z.int() })
  .check(named('Settled', 'Nothing is in flight and no timer is due'))

export const clock = z.object({
  mode: z.enum(['real', 'virtual']),
  paused: z.boolean().check(z.describe('Whether it stands still until it is advanced; a virtual clock always does')),
  now: z.string(),
  next_due: z
    .nullable(z.string())
    .check(z.describe('When the next timer fires; null when none is set, and at an earlier moment')),
})

const ClockResponse = clock.check(named('ClockNow', 'The clock of the simulator'))

const ResetResponse = z.object({ reset: z.literal(true) }).check(named('Reset', 'The simulator was reset'))

const SnapshotBody = AnyFields.check(named('SnapshotInput', 'A snapshot from `GET /_sim/snapshot`'))

const SnapshotQuery = z.strictObject({
  keys: booleanFlag('Include the unmasked API keys'),
  journal: booleanFlag('Include the journal'),
})

const SnapshotResponse = z
  .looseObject({
    v: z.literal(1),
    handover_sim: z.string().check(z.describe('The version that captured it')),
    taken_at: z.string().check(z.describe('Wall-clock time, ISO 8601')),
    seed: z.int(),
    config: z.record(z.string(), z.unknown()),
  })
  .check(named('Snapshot', 'The whole state. Further fields depend on `v`: store them unchanged'))

const RestoredResponse = z
  .object({
    restored: z.literal(true),
    handover_sim: z.string(),
    taken_at: z.string(),
    chats: z.int(),
    next_seq: z.int(),
  })
  .check(named('Restored', 'The restored snapshot; `next_seq` is the seq of the next journal entry'))

const StoppingResponse = z
  .object({
    stopping: z.literal(true),
    pid: z.int().check(z.describe('The process that ends, as its own machine or container numbers it')),
  })
  .check(named('Stopping', 'The simulator ends after deliveries and answers in flight'))

const documentsRoute = routesOf('documents')
const healthRoute = routesOf('health')
const snapshotRoute = routesOf('snapshot')
const timeRoute = routesOf('time')

export const HEALTH_ROUTES: readonly ControlRoute[] = [
  healthRoute('GET /livez', {
    id: 'livez',
    summary: 'Reports that the process responds',
    open: true,
    responses: { 200: { description: 'It responds', schema: HealthResponse } },
    run: () => ok({ status: 'live', version: VERSION }),
  }),
  healthRoute('GET /readyz', {
    id: 'readyz',
    summary: 'Reports whether the server accepts requests',
    open: true,
    responses: {
      200: { description: 'Ready', schema: HealthResponse },
      503: { description: 'Closing', schema: HealthResponse },
    },
    run: ({ closing }) =>
      closing.aborted
        ? { status: 503, body: { status: 'closing', version: VERSION } }
        : ok({ status: 'ready', version: VERSION }),
  }),
]

const NOT_STOPPABLE =
  'Only a simulator that `npx handover-sim start` started stops on request; end the program that started this one.'

export const STOP_ROUTES: readonly ControlRoute[] = [
  healthRoute('POST /stop', {
    id: 'stop',
    summary: 'Ends the simulator, as SIGTERM does',
    description: 'Deliveries and answers in flight may finish, for three seconds at most.',
    body: EmptyBody,
    responses: {
      200: { description: 'It begins to stop', schema: StoppingResponse },
      409: 'Another program than `npx handover-sim start` runs the simulator',
    },
    run({ onStopRequested }) {
      if (onStopRequested === undefined) throw new ControlProblem(409, 'not_stoppable', NOT_STOPPABLE)
      onStopRequested()
      return ok({ stopping: true, pid: process.pid })
    },
  }),
]

export const DOCUMENT_ROUTES: readonly ControlRoute[] = [
  documentsRoute('GET /openapi.json', {
    id: 'controlOpenApi',
    summary: 'Describes this API',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    run: async ({ openApi }) => ok(await openApi()),
  }),
  documentsRoute('GET /platform-openapi.json', {
    id: 'platformOpenApi',
    summary: 'Describes the nine endpoints of the platform and its webhooks',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    run: ({ simulator }) => ok(platformOpenApi({ baseUrl: simulator.baseUrl })),
  }),
]

export function clockNow({ clock }: Core) {
  const due = clock.nextDue()
  return {
    mode: clock.mode,
    paused: clock.isPaused(),
    now: isoMicros(clock.now() * 1000),
    next_due: due === null ? null : isoMicros(due * 1000),
  }
}

/** Before the entries of the timers that become due. An advance beyond the last possible time is refused. */
function noteAdvance({ clock, journal }: Core, by: Duration): void {
  const to = clock.now() + (parseDuration(by) ?? 0)
  if (to > LATEST_MS) return
  journal.append({ kind: 'note', note: 'clock_advanced', by, to: isoMicros(to * 1000) }, null)
}

const REAL_CLOCK =
  'A real clock must be paused to be advanced: call POST /_sim/clock/pause first, or start the simulator with --clock virtual.'

const VIRTUAL_CLOCK =
  'A virtual clock never runs by itself: move it with POST /_sim/clock/advance, or start the simulator with --clock real.'

export const TIME_ROUTES: readonly ControlRoute[] = [
  timeRoute('POST /settle', {
    id: 'settle',
    summary: 'Waits until nothing is in flight and no timer is due',
    body: EmptyBody,
    responses: { 200: { description: 'Nothing is in flight', schema: SettledResponse } },
    async run({ core, simulator }) {
      await simulator.settled()
      return ok({ settled: true, next_seq: core.journal.nextSeq })
    },
  }),
  timeRoute('POST /clock/advance', {
    id: 'advanceClock',
    summary: 'Advances a virtual or a paused clock; timers that become due fire in order',
    body: AdvanceClockBody,
    example: { by: '10m' },
    responses: {
      200: { description: 'The clock after the change', schema: ClockResponse },
      409: 'The clock is real and not paused',
    },
    async run({ core, simulator, body }) {
      if (!core.clock.isPaused()) throw new ControlProblem(409, 'real_clock', REAL_CLOCK)
      noteAdvance(core, body.by)
      await simulator.clock.advance(body.by)
      return ok(clockNow(core))
    },
  }),
  timeRoute('POST /clock/pause', {
    id: 'pauseClock',
    summary: 'Stops a real clock; a virtual clock stands still already, and nothing changes',
    description:
      'Timers wait, and timestamps stay at that time, until the clock is advanced or resumed. Timeouts of network requests go on.',
    body: EmptyBody,
    responses: { 200: { description: 'The clock, which stands still', schema: ClockResponse } },
    run({ core, simulator }) {
      simulator.clock.pause()
      return ok(clockNow(core))
    },
  }),
  timeRoute('POST /clock/resume', {
    id: 'resumeClock',
    summary: 'Lets a paused real clock go on from the time at which it stands',
    body: EmptyBody,
    responses: {
      200: { description: 'The clock, which runs', schema: ClockResponse },
      409: 'The clock is virtual and never runs by itself',
    },
    run({ core, simulator }) {
      if (core.clock.mode === 'virtual') throw new ControlProblem(409, 'virtual_clock', VIRTUAL_CLOCK)
      simulator.clock.resume()
      return ok(clockNow(core))
    },
  }),
  timeRoute('POST /reset', {
    id: 'reset',
    summary: 'Removes chats, timers, faults and journal; nothing from before the reset is delivered after it',
    description: 'A virtual clock returns to its start; a real clock runs and shows the time of the machine.',
    body: EmptyBody,
    responses: { 200: { description: 'The state is that of a start', schema: ResetResponse } },
    run({ simulator }) {
      simulator.reset()
      return ok({ reset: true })
    },
  }),
]

export const SNAPSHOT_ROUTES: readonly ControlRoute[] = [
  snapshotRoute('GET /snapshot', {
    id: 'captureSnapshot',
    summary: 'Captures the whole state as JSON',
    description:
      'Chats, files, deadlines, counters, settings, faults, the clock, and events that are not delivered yet. `keys=true` adds the API keys, `journal=true` the journal.',
    query: SnapshotQuery,
    responses: {
      200: { description: 'Store it unchanged', schema: SnapshotResponse },
      422: 'The snapshot would be too large to be restored',
    },
    run({ core, query }) {
      const withKeys = query.keys === 'true'
      return { parts: snapshotText(core, { keys: withKeys, journal: query.journal === 'true' }), withKeys }
    },
  }),
  snapshotRoute('PUT /snapshot', {
    id: 'restoreSnapshot',
    summary: 'Replaces the whole state by a snapshot, or changes nothing',
    description:
      'Requests in flight are aborted as by a reset. Events that were not delivered are sent at once, also those that waited for a retry or a fault. The base URL, a webhook URL that is set, and masked keys stay as they are.',
    body: SnapshotBody,
    maxDepth: BUDGETS.snapshotNesting,
    maxBytes: BUDGETS.stateBytes,
    maxValues: BUDGETS.snapshotValues,
    responses: {
      200: { description: 'Restored', schema: RestoredResponse },
      422: 'The snapshot cannot be restored; nothing was changed',
    },
    async run({ simulator, core, body }) {
      const snapshot = body as Snapshot
      await simulator.restore(snapshot)
      const { handover_sim, taken_at } = snapshot
      const { nextSeq } = core.journal
      return ok({ restored: true, handover_sim, taken_at, chats: core.platform.state.chats.size, next_seq: nextSeq })
    },
  }),
]
