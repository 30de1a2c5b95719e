/** Defines scenario files and parts by schemas, and describes a loaded scenario with the places of its values. */
import * as z from 'zod/mini'
import type { Source } from '../../../base/files/document.ts'
import type { Problem } from '../../../base/files/errors.ts'
import { buildRecord, isMap, keysOf } from '../../../base/objects.ts'
import { fieldName } from '../../../base/schemas/explain-issues.ts'
import { TRANSCRIPT_NAMES } from '../../../platform/contract/bot-texts.ts'
import {
  BusinessHoursSchema,
  ClockSchema,
  described,
  knobSchemas,
  ReplySchema,
} from '../../../platform/simulator/setting-schemas.ts'
import type { Place } from '../plan.ts'
import { HistoryRowSchema, NeverSchema, type PatternInput } from './checks.ts'
import {
  AVAILABILITY_VALUE,
  atLeast,
  type BrokenRule,
  CALL_NAMES,
  conflict,
  DURATION,
  FLAG,
  incomplete,
  isPlaceholder,
  LEVEL,
  optionalStatic,
  PLACEHOLDER_SHAPE,
  ruled,
  SEVERITY,
} from './fields.ts'
import { Steps } from './step.ts'

const textSchema = (description: string, ...examples: unknown[]) =>
  z.string().check(z.minLength(1), described(description, ...examples))
const texts = (description: string, ...examples: unknown[]) =>
  z.optional(z.array(z.string()).check(described(description, ...examples)))

const Chat = z.strictObject({
  language: z.optional(textSchema('Language code. Default: en', 'nb')),
  source: z.optional(textSchema('Where the chat comes from. Default: web', 'web', 'facebook')),
  user: z.optional(
    z.nullable(
      z.strictObject({
        id: z.optional(textSchema('User id')),
        first_name: z.optional(z.string()),
        last_name: z.optional(z.string()),
        gender: z.optional(z.string()),
      }),
    ),
  ),
  history: z.optional(
    z.array(HistoryRowSchema).check(described('What was said before', [{ user: 'Hi' }, { bot: 'Hello' }])),
  ),
  transcript: z.optional(z.enum(TRANSCRIPT_NAMES).check(described('A shipped conversation to begin with', 'nb-shop'))),
  context: z.optional(z.record(z.string(), z.unknown()).check(described('What the bot knows of the user'))),
  labels: texts('Labels of the chat', ['vip']),
})
export type ChatInput = z.infer<typeof Chat>

const BotSchema = z.strictObject({
  id: optionalStatic(atLeast(1), 'Bot id, up to 9007199254740991', 1042),
  name: z.optional(textSchema('Bot name', 'Nora')),
  replies: z.optional(
    z.array(ReplySchema).check(described('What the bot answers', [{ match: 'parcel', text: 'One moment.' }])),
  ),
})

const severity = (description: string) => optionalStatic(SEVERITY, description, 'fail', 'warn', 'off')
/** Calls that read are allowed, unless the scenario lists others. */
export const ALLOWED_CALLS = ['transcript', 'summarize', 'chat'] as const
const endpoints = CALL_NAMES.filter(name => name !== 'any')
const Strict = z.union([
  z.boolean(),
  z.strictObject({
    unexpected: severity('Calls no step has expected. Default: fail; in a scenario of level should warn'),
    contract: severity('Calls the platform refuses. Default: fail'),
    allow: z.optional(z.array(z.enum(endpoints)).check(described('Calls that may come unexpected', ALLOWED_CALLS))),
  }),
])

/** How long the runner waits, unless the scenario says otherwise. */
export const TIMEOUTS = {
  ack: { about: "The webhook's answer", standard: '10s' },
  expect: { about: 'An expectation without within', standard: '5s' },
  settle: { about: 'Quiet for this long at the end', standard: '300ms' },
  scenario: { about: 'The whole scenario', standard: '60s' },
}
const Timeouts = z.strictObject(
  buildRecord(keysOf(TIMEOUTS), name => {
    const { about, standard } = TIMEOUTS[name]
    return optionalStatic(DURATION, `${about}. Default: ${standard}`, standard)
  }),
)

const variables = (description: string, example: unknown) =>
  z.optional(z.record(name(), z.unknown()).check(described(description, example)))
const name = () => z.string().check(z.regex(/^[A-Za-z_]\w*$/))

const common = {
  $schema: z.optional(z.string()),
  version: z.literal(1).check(described('Version of the format')),
}

function oneOrSeveralChats({ chat, chats }: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  if (chat !== undefined && chats !== undefined)
    return conflict('has chat and chats: put the one chat into chats, under a name')
  return isMap(chats) && Object.keys(chats).length === 0
    ? incomplete('has no chat in chats: name one, or leave chats out')
    : undefined
}

export const ScenarioFile = z
  .strictObject({
    ...common,
    kind: z.optional(z.literal('scenario').check(described('What a file is without it'))),
    name: textSchema('What it shows; unique in a run', 'Happy path'),
    description: z.optional(z.string().check(described('More words for a reader'))),
    tags: texts('For --tag', ['smoke']),
    spec: texts('Rules of the platform it is about; they end up in reports', ['E4', 'WH2']),
    requires: texts('Driver verbs it cannot do without; usually inferred', ['agent.inbox']),
    seed: optionalStatic(atLeast(0), 'Ids, names and texts come from it. Default: that of the run', 1),
    clock: z.optional(ClockSchema.check(described('Default: that of the run', 'virtual', 'real'))),
    timeouts: z.optional(
      Timeouts.check(described('How long to wait: for acknowledgements, for calls, at the end, in all')),
    ),
    level: optionalStatic(LEVEL, 'should: what fails in it is a warning. Default: must', 'should'),
    strict: z.optional(Strict.check(described('What fails beside the steps; false only warns', true))),
    exclusive: z.optional(z.boolean().check(described('Nothing else runs beside it; usually inferred'))),
    config: z.optional(
      knobSchemas({ is: isPlaceholder, shape: PLACEHOLDER_SHAPE }).all.check(
        described('Knobs of the platform', { 'webhook.retry': ['1s'] }),
      ),
    ),
    bot: z.optional(BotSchema.check(described('The bot of the chats', { id: 1042, name: 'Nora' }))),
    chat: z.optional(Chat.check(described('The chat', { language: 'nb' }))),
    chats: z.optional(
      z.record(name(), Chat).check(described('Several chats by name; steps then say chat: name', { ada: {}, bo: {} })),
    ),
    availability: optionalStatic(AVAILABILITY_VALUE, 'At the beginning', 'OPEN', 'CLOSED'),
    business_hours: z.optional(BusinessHoursSchema),
    tokens: optionalStatic(FLAG, 'Appends a token of its own to every user text'),
    vars: variables('Values to use as $(name)', { hello: 'Hi there' }),
    matrix: z.optional(
      z
        .record(name(), z.array(z.unknown()).check(z.minLength(1)))
        .check(described('One instance for each combination of values', { language: ['nb', 'en'] })),
    ),
    never: z.optional(z.array(NeverSchema).check(described('Calls that must not come in the whole run', ['start']))),
    steps: Steps.check(described('What happens and what is expected, in order')),
    finally: z.optional(Steps.check(described('Steps that always run at the end'))),
  })
  .check(ruled(oneOrSeveralChats))
export type ScenarioFile = Omit<z.infer<typeof ScenarioFile>, 'never'> & { never?: PatternInput[] | undefined }

export const PartFile = z.strictObject({
  ...common,
  kind: z.literal('partial').check(described('Only for include')),
  name: z.optional(z.string()),
  params: z.optional(
    z.record(name(), z.unknown()).check(described('Names and default values; null has to be given', { who: 'Anna' })),
  ),
  steps: Steps,
})
export type PartFile = z.infer<typeof PartFile>

/** A value of a file; `at` is the path to it when the file holds several values. */
export interface FileValue<Value> {
  /** As the user would write it. */
  readonly file: string
  readonly path: string
  readonly source: Source
  readonly at: readonly PropertyKey[]
  readonly value: Value
}

/** Something an author should change; nothing fails because of it. */
export interface ScenarioHint {
  readonly place: Place | null
  /** `virtual-wait-before-none`. */
  readonly rule: string
  readonly message: string
}

export interface LoadedScenario extends FileValue<ScenarioFile> {
  readonly name: string
  readonly place: Place | null
  /** Every file of steps it may include, by path. */
  readonly parts: ReadonlyMap<string, FileValue<PartFile>>
  readonly warnings: readonly ScenarioHint[]
}

export type Path = readonly PropertyKey[]

export function placeOf({ file, source, at }: FileValue<unknown>, path: Path): Place | null {
  const span = source.place([...at, ...path], 'value')
  return span === null ? null : { file, line: span.line, column: span.column }
}

export function problemAt(
  written: FileValue<unknown>,
  path: Path,
  message: string,
  of: 'key' | 'value' = 'value',
): Problem {
  return written.source.problem([...written.at, ...path], of, fieldName([...written.at, ...path]), message)
}
