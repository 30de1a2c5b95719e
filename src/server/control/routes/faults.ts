/** Sets, lists and clears faults. */
import * as z from 'zod/mini'
import { named } from '../../../platform/contract/schemas.ts'
import { Fault } from '../../../platform/faults/schema.ts'
import { getChat, readMoment, unknownId } from '../problems.ts'
import { type ControlRequest, type ControlRoute, MomentQuery, ok, routesOf } from '../route.ts'
import { MOMENT_DROPPED } from './chats.ts'

const FaultResponse = z
  .object({
    ...Fault.shape,
    name: z.string(),
    hits: z.int(),
    of: z.nullable(z.int()).check(z.describe('How many hits it has in all; null until it is cleared')),
    used_up: z.boolean(),
    holding: z.int().check(z.describe('How many events it holds now')),
  })
  .check(named('NamedFault', 'A fault that is set, and its hits so far'))

const FaultListResponse = z
  .object({ faults: z.array(FaultResponse) })
  .check(named('FaultList', 'In the order they were set'))

const ClearedFaultsResponse = z
  .object({ cleared: z.array(FaultResponse) })
  .check(named('ClearedFaults', 'The faults that were removed'))

const route = routesOf('faults')

const CLEARED = { description: 'They are no longer set; the events they held are sent', schema: ClearedFaultsResponse }

export const FAULT_ROUTES: readonly ControlRoute[] = [
  route('POST /faults', {
    id: 'setFault',
    summary: 'Sets a fault for calls of the platform or for its events',
    description:
      'The fault that was set first applies; a later one as well if it changes something else. Each hit is an entry of the kind `fault`.',
    body: Fault,
    example: { on: { api: 'start' }, respond: { status: 503, headers: { 'Retry-After': '1' } }, times: 2 },
    responses: {
      201: { description: 'Set', schema: FaultResponse },
      404: 'There is no such chat; lists the latest ones',
      422: 'The fault is invalid or could never match; lists every reason',
    },
    run({ core, body }) {
      if (body.chat_id !== undefined) getChat(core, body.chat_id)
      return { status: 201, body: core.faults.add(body) }
    },
  }),
  route('GET /faults', {
    id: 'listFaults',
    summary: 'Lists the faults that are set, with their hits, now or at an earlier moment',
    description: 'At an earlier moment no fault holds an event.',
    query: MomentQuery,
    responses: {
      200: { description: 'Includes faults that are used up', schema: FaultListResponse },
      410: MOMENT_DROPPED,
    },
    run({ core, query }: ControlRequest<MomentQuery, unknown>) {
      const seq = readMoment(core, query)
      return ok({ faults: seq === null ? core.faults.list() : core.faults.listAt(seq) })
    },
  }),
  route('DELETE /faults', {
    id: 'clearFaults',
    summary: 'Clears all faults',
    responses: { 200: CLEARED },
    run: ({ core }) => ok({ cleared: core.faults.clear() }),
  }),
  route('DELETE /faults/:name', {
    id: 'clearFault',
    summary: 'Clears one fault',
    responses: {
      200: CLEARED,
      404: 'There is no such fault; lists the faults that are set',
    },
    run({ core: { faults }, param }) {
      const name = param('name')
      const names = faults.list().map(fault => fault.name)
      if (names.includes(name)) return ok({ cleared: faults.clear(name) })
      const there = names.length === 0 ? 'none is set' : `there are ${names.join(', ')}`
      throw unknownId('fault_not_found', 'name', `There is no fault ${JSON.stringify(name)}: ${there}.`, names)
    },
  }),
]
