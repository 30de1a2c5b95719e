/** Defines the schema of the driver file. An unknown key is an error. */
import * as z from 'zod/mini'
import { keysOf } from '../../base/objects.ts'
import { DURATION_PATTERN, parseDuration } from '../../base/text/quantities.ts'
import { METHODS, type Method } from './driver.ts'

type Fields = Record<string, unknown>

function text(expected: string, fits: (value: string) => boolean, shape: Fields): z.ZodMiniType<string> {
  const check = z.refine(value => typeof value === 'string' && fits(value), { error: expected })
  const schema: unknown = z.unknown().check(check, z.meta({ type: 'string', ...shape }))
  return schema as z.ZodMiniType<string>
}

function duration(description: string): z.ZodMiniType<string> {
  const isDuration = (value: string) => (parseDuration(value) ?? 0) !== 0
  return text('a duration such as 500ms, 5s, 10m, 12h', isDuration, { pattern: DURATION_PATTERN, description })
}

/** An address with `$(...)` in it, or one that begins with `$(...)`. */
function address(description: string): z.ZodMiniType<string> {
  const isAddress = (value: string) => {
    if (/^\$\([^()]*\)/.test(value)) return true
    return /^https?:\/\/[^/]/i.test(value) && URL.canParse(value.replace(/\$\([^()]*\)/g, '1'))
  }
  return text('an http or https address such as http://127.0.0.1:3100', isAddress, { minLength: 1, description })
}

const described = (description: string) => z.meta({ description })

const word = z.string().check(z.minLength(1))
const Command = z.array(word).check(z.minLength(1), described('A program and its arguments; no shell reads them'))
const Headers = z.record(z.string(), z.string()).check(described('HTTP headers'))
const timeout = z.optional(duration('How long one call may take; 5s unless set'))

const path = word.check(described('A path below `http`, or a full address; what $(...) puts in is percent-encoded'))
const call = z.optional(path)
const calls = { POST: call, GET: call, PUT: call, PATCH: call, DELETE: call } satisfies Record<Method, typeof call>

const KEYS = [...METHODS, 'exec'].map(key => ({ required: [key] }))

const ActionSection = z
  .strictObject({
    ...calls,
    exec: z.optional(Command),
    json: z.optional(z.unknown().check(described('The body of the call'))),
    headers: z.optional(Headers),
    timeout,
  })
  .check(z.meta({ id: 'Action', oneOf: KEYS }))
export type ActionSection = z.infer<typeof ActionSection>

export const VerbSection = z.union([z.literal('manual'), ActionSection])
export type VerbSection = z.infer<typeof VerbSection>

const TargetSection = z.strictObject({
  start: Command,
  env: z.optional(z.record(z.string(), z.string()).check(described('Beside the environment and HANDOVER_SIM_*'))),
  cwd: z.optional(word.check(described("Its working folder, relative to this file's folder"))),
  ready: address('Answers 2xx once the intermediary serves'),
  ready_timeout: z.optional(duration('How long it may take to be ready; 15s unless set')),
  stop_timeout: z.optional(duration('How long it may take to stop before it is killed; 5s unless set')),
})
export type TargetSection = z.infer<typeof TargetSection>

const VERB_DESCRIPTIONS = {
  accept: 'The agent takes the chat',
  says: 'The agent writes $(text)',
  type: 'The agent begins to type',
  stop: 'The agent stops typing',
  leave: 'The agent ends the conversation',
  away: 'No agent is available any more',
  back: 'An agent is available again',
  inbox: 'What the agent sees of the chat, oldest first: [{ request?, text?, attachments? }]',
}
export type BuiltInVerb = keyof typeof VERB_DESCRIPTIONS
export const BUILT_IN_VERBS = keysOf(VERB_DESCRIPTIONS)
const verbs = {} as Record<BuiltInVerb, z.ZodMiniOptional<typeof VerbSection>>
for (const name of BUILT_IN_VERBS) verbs[name] = z.optional(VerbSection.check(described(VERB_DESCRIPTIONS[name])))

export const DriverFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  http: z.optional(address("Where the help desk's test API is")),
  headers: z.optional(Headers),
  timeout,
  ...verbs,
  does: z.optional(
    z.record(z.string(), VerbSection).check(described('Verbs of your own: agent: { does: NAME, with: {...} }')),
  ),
  target: z.optional(TargetSection),
})
export type DriverFile = z.infer<typeof DriverFile>

export function driverJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(DriverFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Agent driver of handover-sim', ...schema }
}
