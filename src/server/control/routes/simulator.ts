/** Reports that the server runs and accepts requests, and serves the OpenAPI documents. */
import { platformOpenApi } from '../../../contract/openapi.ts'
import { VERSION } from '../../../contract/version.ts'
import { isoMicros } from '../../../runtime/clock.ts'
import type { Core } from '../../../simulator/core.ts'
import type { Snapshot } from '../../../simulator/snapshot/schema.ts'
import { ControlProblem } from '../problems.ts'
import { AdvanceClockBody, EmptyBody, SnapshotBody, SnapshotQuery } from '../request-schemas.ts'
import {
  ClockResponse,
  ControlErrorResponse,
  HealthResponse,
  OpenApiResponse,
  ResetResponse,
  RestoredResponse,
  SettledResponse,
  SnapshotResponse,
} from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'

export const HEALTH_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'livez',
    group: 'health',
    method: 'GET',
    path: '/livez',
    summary: 'Reports that the process responds',
    open: true,
    responses: { 200: { description: 'It responds', schema: HealthResponse } },
    run: () => ok({ status: 'live', version: VERSION }),
  }),
  defineRoute({
    id: 'readyz',
    group: 'health',
    method: 'GET',
    path: '/readyz',
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

export const DOCUMENT_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'controlOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describes this API',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    async run({ url }) {
      // Loaded when needed: the document is generated from the table that contains this route.
      const { controlOpenApi } = await import('../openapi.ts')
      return ok(controlOpenApi({ url }))
    },
  }),
  defineRoute({
    id: 'platformOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/platform-openapi.json',
    summary: 'Describes the nine endpoints of the platform and its webhooks',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    run: ({ simulator }) => ok(platformOpenApi({ baseUrl: simulator.baseUrl })),
  }),
]

export const clockNow = ({ clock }: Core) => ({ mode: clock.mode, now: isoMicros(clock.now() * 1000) })

const REAL_CLOCK = 'Only a virtual clock can be advanced; start the simulator with --clock virtual.'

export const TIME_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'settle',
    group: 'time',
    method: 'POST',
    path: '/settle',
    summary: 'Waits until nothing is in flight and no timer is due',
    body: EmptyBody,
    responses: { 200: { description: 'Nothing is in flight', schema: SettledResponse } },
    async run({ core, simulator }) {
      await simulator.settled()
      return ok({ settled: true, next_seq: core.journal.nextSeq })
    },
  }),
  defineRoute({
    id: 'advanceClock',
    group: 'time',
    method: 'POST',
    path: '/clock/advance',
    summary: 'Advances a virtual clock; timers that become due fire in order',
    body: AdvanceClockBody,
    example: { by: '10m' },
    responses: {
      200: { description: 'The clock after the change', schema: ClockResponse },
      409: { description: 'The clock is real and cannot be advanced', schema: ControlErrorResponse },
    },
    async run({ core, simulator, body }) {
      if (core.clock.mode === 'real') throw new ControlProblem(409, 'real_clock', REAL_CLOCK)
      await simulator.clock.advance(body.by)
      return ok(clockNow(core))
    },
  }),
  defineRoute({
    id: 'reset',
    group: 'time',
    method: 'POST',
    path: '/reset',
    summary: 'Removes chats, timers, faults and journal; nothing from before the reset is delivered after it',
    body: EmptyBody,
    responses: { 200: { description: 'The state is that of a start', schema: ResetResponse } },
    run({ simulator }) {
      simulator.reset()
      return ok({ reset: true })
    },
  }),
]

export const SNAPSHOT_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'captureSnapshot',
    group: 'snapshot',
    method: 'GET',
    path: '/snapshot',
    summary: 'Captures the whole state as JSON',
    description:
      'Chats, files, deadlines, counters, settings, faults, the clock, and events that are not delivered yet. `keys=true` adds the API keys, `journal=true` the journal.',
    query: SnapshotQuery,
    responses: { 200: { description: 'Store it unchanged', schema: SnapshotResponse } },
    run: ({ simulator, query }) =>
      ok(simulator.snapshot({ keys: query.keys === 'true', journal: query.journal === 'true' })),
  }),
  defineRoute({
    id: 'restoreSnapshot',
    group: 'snapshot',
    method: 'PUT',
    path: '/snapshot',
    summary: 'Replaces the whole state by a snapshot, or changes nothing',
    description:
      'Requests in flight are aborted as by a reset. Events that were not delivered are sent, also those that were being sent when the snapshot was captured. The base URL, a webhook URL that is set, and masked keys stay as they are.',
    body: SnapshotBody,
    responses: {
      200: { description: 'Restored', schema: RestoredResponse },
      422: { description: 'The snapshot cannot be restored; nothing was changed', schema: ControlErrorResponse },
    },
    async run({ simulator, core, body }) {
      const { handover_sim, taken_at, ...snapshot } = body as Snapshot
      await simulator.restore({ handover_sim, taken_at, ...snapshot })
      const { nextSeq } = core.journal
      return ok({ restored: true, handover_sim, taken_at, chats: core.platform.state.chats.size, next_seq: nextSeq })
    },
  }),
]
