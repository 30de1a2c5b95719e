/** Defines the bodies and queries of the control API. They are strict: an unknown key is an error. */
import * as z from 'zod/mini'
import { ENDPOINTS } from '../../contract/endpoints.ts'
import { SignMode, WEBHOOK_EVENTS } from '../../contract/events.ts'
import { keysOf } from '../../contract/objects.ts'
import { AvailabilityReason, AvailabilityValue, Button, named } from '../../contract/schemas.ts'
import { gapProblems, sendingShape } from '../../faults/schema.ts'
import { EntryKind } from '../../journal/entry.ts'
import { parseDuration } from '../../text/quantities.ts'

const word = z.string().check(z.minLength(1))
const seq = z.int().check(z.gte(0))

const Duration = z.string().check(
  z.refine(text => parseDuration(text) !== null, { error: 'a duration such as 500ms, 5s, 10m, 12h' }),
  z.meta({ id: 'Duration', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', examples: ['500ms', '5s', '10m'] }),
)

const HistoryRow = z.union(
  [
    z.strictObject({ user: z.string() }),
    z.strictObject({ bot: z.string(), buttons: z.optional(z.array(Button)) }),
    z.strictObject({ agent: z.string(), text: z.string() }),
  ],
  { error: 'one of { user }, { bot, buttons? }, { agent, text }' },
)

export const CreateChatBody = z
  .strictObject({
    language: z.optional(word),
    source: z.optional(word),
    user: z.optional(
      z.nullable(
        z.strictObject({
          id: z.optional(word),
          first_name: z.optional(z.string()),
          last_name: z.optional(z.string()),
          gender: z.optional(z.string()),
        }),
      ),
    ),
    history: z.optional(z.array(HistoryRow)),
    transcript: z.optional(word.check(z.describe('A shipped conversation such as nb-shop'))),
    context: z.optional(z.record(z.string(), z.unknown())),
    labels: z.optional(z.array(z.string())),
    bot_id: z.optional(z.int()),
    id: z.optional(word.check(z.describe('By default a generated id'))),
  })
  .check(named('NewChat', 'What is left out is generated from the seed; `user: null` is a user without known data'))

const AttachmentInput = z
  .strictObject({
    name: word,
    type: word.check(z.regex(/^[\x20-\x7e]+$/)),
    size_kb: z.optional(z.int().check(z.gte(0))),
    base64: z.optional(z.base64()),
  })
  .check(
    z.refine(file => (file.size_kb === undefined) !== (file.base64 === undefined), {
      error: 'must have either size_kb (bytes are generated) or base64',
      params: { problem: 'incomplete' },
    }),
    named('AttachmentInput', 'Either size_kb (bytes are generated) or base64'),
  )

export const UserMessageBody = z
  .strictObject({ text: z._default(z.string(), ''), attachments: z.optional(z.array(AttachmentInput)) })
  .check(named('UserMessage', 'A message of the end user: a text, files, or both'))
export type UserMessageBody = z.infer<typeof UserMessageBody>

export const UserMessageForm = z
  .strictObject({ text: z._default(z.string(), ''), files: z.optional(z.array(z.file())) })
  .check(named('UserMessageForm', 'A message as a form that contains the files'))
export type UserMessageForm = z.infer<typeof UserMessageForm>

export const PressButtonBody = z
  .strictObject({ button: word })
  .check(named('PressButton', '`handover`, or the label of a visible button'))

export const ConfigBody = z
  .record(z.string(), z.unknown())
  .check(named('ConfigPatch', 'Knobs and settings by dotted name, each value as in the config file'))

export const SetAvailabilityBody = z
  .strictObject({
    availability: AvailabilityValue,
    queue: z.optional(word),
    reason: z.optional(AvailabilityReason),
  })
  .check(named('AvailabilityChange', 'As if set in the workspace'))

export const AdvanceClockBody = z
  .strictObject({ by: Duration })
  .check(named('AdvanceClock', 'By how much to advance a virtual clock'))

export const TriggerBody = z
  .strictObject({
    event: word,
    chat_id: z.optional(word.check(z.describe('By default the newest chat'))),
    body: z.optional(z.record(z.string(), z.unknown()).check(z.describe('Fields that replace those of the payload'))),
    sign: z._default(SignMode, 'valid'),
    ...sendingShape,
  })
  .check(payload => gapProblems(payload), named('Trigger', 'One event to send'))
export type TriggerBody = z.infer<typeof TriggerBody>

export const ResendBody = z
  .strictObject(sendingShape)
  .check(payload => gapProblems(payload), named('Resend', 'How to send it this time; the body may be left out'))
export type ResendBody = z.infer<typeof ResendBody>

const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

export const CreateWorkspaceBody = z
  .strictObject({
    name: z.optional(
      word.check(
        z.describe('Letters, digits, ".", "_", "-": the same name has the same keys, bot and seed every time'),
      ),
    ),
    seed: z.optional(seq),
    clock: z.optional(
      z.union([z.enum(['real', 'virtual']), z.strictObject({ mode: z.literal('virtual'), start: z.optional(word) })], {
        error: 'real, virtual or { mode: virtual, start }',
      }),
    ),
    bot: z.optional(
      z.strictObject({
        id: z.optional(z.int().check(z.positive())),
        name: z.optional(word),
        organization_id: z.optional(z.int()),
        replies: z.optional(
          z.array(z.strictObject({ match: word, text: z.string(), buttons: z.optional(z.array(Button)) })),
        ),
      }),
    ),
    webhook_url: z.optional(
      z.string().check(z.refine(isHttp, { error: 'an http or https URL' }), z.describe('Where its events are sent')),
    ),
    knobs: z.optional(z.record(z.string(), z.unknown()).check(z.describe('By dotted name, as in the config file'))),
    business_hours: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  })
  .check(named('NewWorkspace', 'Options that are left out are those of the server; by default there is no webhook'))
export type CreateWorkspaceBody = z.infer<typeof CreateWorkspaceBody>

export const SnapshotBody = z
  .record(z.string(), z.unknown())
  .check(named('SnapshotInput', 'A snapshot from `GET /_sim/snapshot`'))

export const EmptyBody = z.strictObject({}).check(named('EmptyBody', 'No fields; the body may be left out'))

// Queries

export const ActionQuery = z.strictObject({
  wait: z.optional(z.enum(['ack']).check(z.describe('Respond after the webhook did'))),
})

export const GetJournalQuery = z.strictObject({
  after: z.optional(seq.check(z.describe('Only entries with a greater seq'))),
  kind: z.optional(EntryKind),
  chat_id: z.optional(word),
  limit: z.optional(z.int().check(z.positive())),
})

export const DeliveriesQuery = z.strictObject({
  after: z.optional(seq),
  chat_id: z.optional(word),
  limit: z.optional(z.int().check(z.positive())),
})

export const ResendQuery = z.strictObject({
  resign: z.optional(z.enum(['true', 'false']).check(z.describe('Whether to make new headers'))),
})

const flag = (description: string) => z.optional(z.enum(['true', 'false']).check(z.describe(description)))

export const SnapshotQuery = z.strictObject({
  keys: flag('Include the unmasked API keys'),
  journal: flag('Include the journal'),
})

export const KeysQuery = z.strictObject({ keys: flag('Include the unmasked API keys') })

export const EventsQuery = z.strictObject({ after: z.optional(seq) })

export const WaitQuery = z
  .strictObject({
    call: z.optional(z.enum(keysOf(ENDPOINTS)).check(z.describe('A call of this endpoint'))),
    event: z.optional(z.enum(keysOf(WEBHOOK_EVENTS))),
    note: z.optional(word),
    kind: z.optional(EntryKind),
    status: z.optional(z.int()),
    chat_id: z.optional(word),
    after: z.optional(seq),
    timeout: z.optional(Duration),
  })
  .check(
    z.refine(({ call, event, note, kind }) => (call ?? event ?? note ?? kind) !== undefined, {
      error: 'needs at least one of call, event, note, kind',
      params: { problem: 'incomplete' },
    }),
  )
export type WaitQuery = z.infer<typeof WaitQuery>
