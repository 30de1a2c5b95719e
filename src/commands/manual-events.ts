/** Sends an event from a running simulator to its webhook: a manual one (`handover-sim trigger`), or a past delivery (`handover-sim resend`). */
import * as z from 'zod/mini'
import { keysOf } from '../base/objects.ts'
import { messageOf, nearest, shortName, suggest } from '../base/text/error-text.ts'
import { formatMs } from '../base/text/terminal-text.ts'
import { SIGN_MODES, type SignMode } from '../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../platform/contract/events.ts'
import { sendingShape } from '../platform/faults/schema.ts'
import { defineCommand, type FlagsOf, readBodyFile } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import {
  ADDRESS_FLAGS,
  noAnswer,
  postControl,
  type RunningSimulator,
  refusalMessage,
  requireSimulator,
} from './running-simulator.ts'

const NAMES = Object.keys(sendingShape)

const FLAGS = {
  '--fault <name=value>': { description: `on its way: ${NAMES.join(', ')}; may be repeated`, repeatable: true },
  ...ADDRESS_FLAGS,
  '--json': 'print the answer as JSON',
} as const

type ManualEventFlags = FlagsOf<typeof FLAGS>

export const triggerCommand = defineCommand({
  arguments: { '<event>': 'such as "MESSAGE FROM USER"' },
  flags: {
    '--unknown': 'send an event that the platform does not have, as it is',
    '--chat-id <id>': 'the chat it is about (default: the newest)',
    '--body <json>': 'fields to lay over the payload: JSON, @file, or - for stdin',
    '--sign <mode>': { description: 'how it is signed', choices: SIGN_MODES, default: 'valid' },
    ...FLAGS,
  },
  async run(context, flags, [event = '']) {
    checkEvent(event, flags.unknown ?? false)
    const { chatId, sign, fault } = flags
    const fields = flags.body === undefined ? {} : { body: await bodyFrom(context, flags.body) }
    const chat = chatId === undefined ? {} : { chat_id: chatId }
    const body = { event, sign, ...chat, ...fields, ...readFaults(fault) }
    return sendManualEvent(context, flags, { path: '/trigger', body, what: describeEvent(event, sign, fault) })
  },
})

export const resendCommand = defineCommand({
  arguments: { '<id>': 'its delivery_id' },
  flags: {
    '--re-sign': 'make the headers anew, signed with the key of now (default: exactly those of then)',
    ...FLAGS,
  },
  async run(context, flags, [id = '']) {
    if (id === '') throw new UsageError('ID: must not be empty.')
    const path = `/deliveries/${encodeURIComponent(id)}/resend${flags.reSign ? '?resign=true' : ''}`
    const details = faultText(flags.fault)
    const what = details === '' ? 'resent,' : `resent (${details}),`
    return sendManualEvent(context, flags, { path, body: readFaults(flags.fault), what })
  },
})

const EVENTS = keysOf(WEBHOOK_EVENTS)

function checkEvent(event: string, mayBeUnknown: boolean): void {
  if (event === '') throw new UsageError('EVENT: must not be empty.')
  if (mayBeUnknown || EVENTS.some(known => known === event)) return
  const hint = nearest(event, EVENTS) || `; they are ${EVENTS.join(', ')}.`
  throw new UsageError(
    `EVENT: ${JSON.stringify(shortName(event))} is not an event of the platform${hint} To send it as it is, add --unknown.`,
  )
}

/** `MESSAGE FROM USER (sign wrong-key, duplicate=2)`. */
function describeEvent(event: string, sign: SignMode, fault: readonly string[] | undefined): string {
  const details = [sign === 'valid' ? '' : `sign ${sign}`, faultText(fault)].filter(Boolean)
  return details.length === 0 ? event : `${event} (${details.join(', ')})`
}

async function bodyFrom(context: Context, given: string): Promise<object> {
  const text = await textFrom(context, given)
  const from = given === '-' ? '--body: stdin' : given.startsWith('@') ? `--body: ${given.slice(1)}` : '--body'
  const value = parsed(from, text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageError(`${from}: must be a JSON object such as {"message":"Hello"}.`)
}

async function textFrom({ io }: Context, given: string): Promise<string> {
  if (given === '-') return io.readStdin()
  return given.startsWith('@') ? readBodyFile(given.slice(1), io).toString('utf8') : given
}

function parsed(from: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new UsageError(`${from}: is not JSON: ${messageOf(error)}.`)
  }
}

const Answer = z.looseObject({
  delivery_id: z.string(),
  ack: z.looseObject({ status: z.nullable(z.number()), duration_ms: z.number(), error: z.optional(z.string()) }),
})
type Answer = z.infer<typeof Answer>

/** Returns the exit code: 0 acknowledged, 1 not. */
async function sendManualEvent(context: Context, flags: ManualEventFlags, request: ManualRequest): Promise<number> {
  const answer = await ask(await requireSimulator(context, flags), request)
  if (typeof answer === 'string') {
    context.io.stderr.write(`${answer}\n`)
    return 1
  }
  const line = flags.json ? JSON.stringify(answer) : `${request.what} ${outcome(answer)}`
  context.io.stdout.write(`${line}\n`)
  return answer.ack.error === undefined ? 0 : 1
}

interface ManualRequest {
  readonly path: string
  readonly body: unknown
  /** Begins the line that is printed. */
  readonly what: string
}

/** Returns the answer, or why the simulator refuses at this moment (409). */
async function ask(simulator: RunningSimulator, { path, body }: ManualRequest): Promise<Answer | string> {
  const answered = await postControl(simulator, path, body)
  if ('code' in answered) throw noAnswer(simulator.url, answered)
  const answer = Answer.safeParse(answered.body)
  if (answered.status === 200 && answer.success) return answer.data
  const message = refusalMessage(simulator, answered)
  if (answered.status === 409) return message
  throw answered.status >= 500 ? new EnvironmentError(message) : new UsageError(message)
}

/** `delivered: 200 in 12 ms (delivery d1)` */
function outcome({ delivery_id, ack }: Answer): string {
  const id = `(delivery ${delivery_id})`
  const took = formatMs(ack.duration_ms)
  if (ack.error === undefined) return `delivered: ${ack.status} in ${took} ${id}`
  if (ack.status === null) return `not delivered: ${ack.error} ${id}`
  return `not acknowledged: ${ack.error}, in ${took} ${id}`
}

/** Checks the names only; the simulator checks the values. */
function readFaults(given: readonly string[] = []): Readonly<Record<string, unknown>> {
  const faults = new Map<string, unknown>()
  for (const assignment of given) {
    const [name, value] = split(assignment)
    if (!NAMES.includes(name))
      throw new UsageError(`--fault: ${JSON.stringify(name)} is not one of ${NAMES.join(', ')}${suggest(name, NAMES)}`)
    if (faults.has(name)) throw new UsageError(`--fault ${name}: given twice; a list is written with commas.`)
    faults.set(name, value)
  }
  return Object.fromEntries(faults)
}

/** A name without a value means `true`. */
function split(assignment: string): [string, unknown] {
  const at = assignment.indexOf('=')
  if (at < 0) return [assignment, true]
  const name = assignment.slice(0, at)
  return [name, readValue(name, assignment.slice(at + 1))]
}

/** Only `duplicate` takes a bare number; durations need a unit, and the simulator says so. */
function readValue(name: string, text: string): unknown {
  if (name === 'duplicate' && /^\d+$/.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return text.includes(',') ? text.split(',') : text
}

/** `duplicate=2, truncate`, as given. */
const faultText = (given: readonly string[] = []): string => given.join(', ')
