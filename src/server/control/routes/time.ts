/** Waiting until all is quiet, moving the clock, starting over. */
import { isoMicros } from '../../../runtime/timestamps.ts'
import type { Core } from '../../../simulator/core.ts'
import { ControlProblem } from '../problems.ts'
import { Advance, Nothing } from '../request-schemas.ts'
import { ClockNow, ErrorBody, Settled, WasReset } from '../response-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'

export const clockNow = ({ clock }: Core) => ({ mode: clock.mode, now: isoMicros(clock.now() * 1000) })

const REAL_CLOCK = 'Only a virtual clock can be advanced; start the simulator with --clock virtual.'

export const TIME_ROUTES: readonly Route[] = [
  defineRoute({
    id: 'settle',
    group: 'time',
    method: 'POST',
    path: '/settle',
    summary: 'Answers when nothing is in flight and no timer is due',
    body: Nothing,
    answers: { 200: { description: 'All is quiet', schema: Settled } },
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
    summary: 'Moves a virtual clock; what falls due on the way happens in order',
    body: Advance,
    example: { by: '10m' },
    answers: {
      200: { description: 'Moved', schema: ClockNow },
      409: { description: 'The clock is the real one', schema: ErrorBody },
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
    summary: 'Forgets chats, timers and journal; nothing from before arrives after',
    body: Nothing,
    answers: { 200: { description: 'As after the start', schema: WasReset } },
    run({ simulator }) {
      simulator.reset()
      return ok({ reset: true })
    },
  }),
]
