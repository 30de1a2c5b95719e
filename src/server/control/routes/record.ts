/** Writes a scenario from the journal. */
import * as z from 'zod/mini'
import { named } from '../../../platform/contract/schemas.ts'
import { ControlProblem } from '../problems.ts'
import { RecordedScenario } from '../recorder.ts'
import { type ControlRoute, NonEmptyText, ok, routesOf, SeqNumber } from '../route.ts'

const RecordBody = z
  .strictObject({
    chat_ids: z.optional(
      z
        .array(NonEmptyText)
        .check(z.minLength(1), z.describe('By default every chat in which something happened in the range')),
    ),
    after: z.optional(SeqNumber.check(z.describe('Only entries after this seq'))),
    before: z.optional(SeqNumber.check(z.describe('Only entries before this seq'))),
    name: z.optional(NonEmptyText.check(z.describe('The name of the scenario; by default "Recorded conversation"'))),
  })
  .check(named('Recording', 'Which part of the journal becomes a scenario'))
type RecordBody = z.infer<typeof RecordBody>

const NO_RECORDER = 'The program that runs this server records no scenarios.'

const route = routesOf('journal')

export const RECORD_ROUTES: readonly ControlRoute[] = [
  route('POST /record', {
    id: 'recordScenario',
    summary: 'Writes a scenario from what happened, and tries it',
    description:
      'Steps are what users did, what agents did (as the calls of the intermediary show it) and what was set; expectations are the calls. Nothing changes in the simulator.',
    body: RecordBody,
    example: { name: 'Lost parcel' },
    responses: {
      200: { description: 'The scenario file', schema: RecordedScenario },
      404: 'There is no such chat; lists the latest ones',
      409: 'There is nothing to record, or the journal has dropped entries of the range',
      422: 'The body is invalid',
    },
    async run({ core, body, loadRecorder, signal }) {
      if (loadRecorder === undefined) throw new ControlProblem(409, 'no_recorder', NO_RECORDER)
      const { recordScenario } = await loadRecorder()
      const { chat_ids: chatIds, after, before, name }: RecordBody = body
      return ok(await recordScenario(core, { chatIds, after, before, name }, signal))
    },
  }),
]
