/** Waits until nothing is in flight, advances the clock, and resets the simulator. */
import { isoMicros } from '../../../runtime/clock.ts'
import type { Core } from '../../../simulator/core.ts'
import { ControlProblem } from '../problems.ts'
import { AdvanceClockBody, EmptyBody } from '../request-schemas.ts'
import { ClockResponse, ControlErrorResponse, ResetResponse, SettledResponse } from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'

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
