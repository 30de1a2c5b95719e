/** Sets, lists and clears faults. */
import { Fault, type FaultSpec } from '../../../faults/schema.ts'
import type { Core } from '../../../simulator/core.ts'
import { getChat, unknownId } from '../problems.ts'
import { ClearedFaultsResponse, ControlErrorResponse, FaultListResponse, FaultResponse } from '../response-schemas.ts'
import { type ControlResponse, type ControlRoute, defineRoute, ok } from '../route.ts'

const CLEARED = { description: 'They are no longer set; the events they held are sent', schema: ClearedFaultsResponse }

function set(core: Core, spec: FaultSpec): ControlResponse {
  if (spec.chat_id !== undefined) getChat(core, spec.chat_id)
  return { status: 201, body: core.faults.add(spec) }
}

function clearOne({ faults }: Core, name: string): ControlResponse {
  const known = faults.list().map(fault => fault.name)
  if (known.includes(name)) return ok({ cleared: faults.clear(name) })
  const there = known.length === 0 ? 'none is set' : `there are ${known.join(', ')}`
  throw unknownId('fault_not_found', 'name', `There is no fault ${JSON.stringify(name)}: ${there}.`, known)
}

export const FAULT_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'setFault',
    group: 'faults',
    method: 'POST',
    path: '/faults',
    summary: 'From now on something goes wrong, in calls of the platform or in its events',
    description:
      'The fault that was set first applies; a later one as well if it changes something else. Each hit is an entry of the kind `fault`.',
    body: Fault,
    example: { on: { api: 'start' }, respond: { status: 503, headers: { 'Retry-After': '1' } }, times: 2 },
    responses: {
      201: { description: 'Set', schema: FaultResponse },
      404: { description: 'There is no such chat; lists the latest ones', schema: ControlErrorResponse },
      422: {
        description: 'The fault is invalid or could never match; lists every reason',
        schema: ControlErrorResponse,
      },
    },
    run: ({ core, body }) => set(core, body),
  }),
  defineRoute({
    id: 'listFaults',
    group: 'faults',
    method: 'GET',
    path: '/faults',
    summary: 'Lists the faults that are set, with their hits',
    responses: { 200: { description: 'Includes faults that are used up', schema: FaultListResponse } },
    run: ({ core }) => ok({ faults: core.faults.list() }),
  }),
  defineRoute({
    id: 'clearFaults',
    group: 'faults',
    method: 'DELETE',
    path: '/faults',
    summary: 'Clears all faults',
    responses: { 200: CLEARED },
    run: ({ core }) => ok({ cleared: core.faults.clear() }),
  }),
  defineRoute({
    id: 'clearFault',
    group: 'faults',
    method: 'DELETE',
    path: '/faults/:name',
    summary: 'Clears one fault',
    responses: {
      200: CLEARED,
      404: { description: 'There is no such fault; lists the faults that are set', schema: ControlErrorResponse },
    },
    run: ({ core, param }) => clearOne(core, param('name')),
  }),
]
