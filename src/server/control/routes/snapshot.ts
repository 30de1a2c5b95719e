/** Captures the whole state and restores it. */
import type { Snapshot } from '../../../simulator/snapshot/schema.ts'
import { SnapshotBody, SnapshotQuery } from '../request-schemas.ts'
import { ControlErrorResponse, RestoredResponse, SnapshotResponse } from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'

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
