/** The whole state, taken and put back. */
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
    summary: 'The whole state as JSON',
    description:
      'Chats, files, deadlines, counters, settings, faults, the clock, and events that have not arrived. `keys=true` adds the API keys, `journal=true` the journal.',
    query: SnapshotQuery,
    responses: { 200: { description: 'To be kept as it is', schema: SnapshotResponse } },
    run: ({ simulator, query }) =>
      ok(simulator.snapshot({ keys: query.keys === 'true', journal: query.journal === 'true' })),
  }),
  defineRoute({
    id: 'restoreSnapshot',
    group: 'snapshot',
    method: 'PUT',
    path: '/snapshot',
    summary: 'Puts a snapshot in the place of everything there is, all or nothing',
    description:
      'What is in flight is cut off as by a reset. Events that had not arrived are sent, again if they were on their way. Base URL, a webhook URL that is set, and masked keys stay as they are here.',
    body: SnapshotBody as never,
    responses: {
      200: { description: 'Restored', schema: RestoredResponse },
      422: { description: 'It cannot be restored; nothing was changed', schema: ControlErrorResponse },
    },
    async run({ simulator, core, body }) {
      const { handover_sim, taken_at, ...snapshot } = body as Snapshot
      await simulator.restore({ handover_sim, taken_at, ...snapshot })
      const { nextSeq } = core.journal
      return ok({ restored: true, handover_sim, taken_at, chats: core.platform.state.chats.size, next_seq: nextSeq })
    },
  }),
]
