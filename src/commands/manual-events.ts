/** Sends an event from a running simulator to its webhook: a manual one (`handover-sim trigger`), or a past delivery (`handover-sim resend`). */
import * as z from 'zod/mini'
import { isMap, keysOf } from '../base/objects.ts'
import { messageOf, nearest, shortName, suggest } from '../base/text/error-text.ts'
import { formatMs, visible } from '../base/text/terminal-text.ts'
import { SIGN_MODES, type SignMode } from '../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../platform/contract/events.ts'
import { sendingShape } from '../platform/faults/schema.ts'
import { defineCommand, type FlagsOf, readBody } from './command.ts'
import { type Context, UsageError } from './io.ts'
import { ADDRESS_FLAGS, askSimulator } from './running-simulator.ts'

const FAULTS = Object.keys(sendingShape)
const EVENTS: readonly string[] = keysOf(WEBHOOK_EVENTS)

const FLAGS = {
  '--fault <name=value>': { description: `on its way: ${FAULTS.join(', ')}; may be repeated`, repeatable: true },
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
  examples: {
    'trigger "MESSAGE FROM USER"': 'one event',
    'trigger "MESSAGE FROM USER" --sign wrong-key': 'one that your service must refuse',
    'trigger "MESSAGE FROM USER" --fault duplicate=2 --fault gap=50ms': 'one that comes twice',
  },
  async run(context, flags, [event = '']) {
    if (event === '') throw new UsageError('EVENT: must not be empty.')
    if (!flags.unknown && !EVENTS.includes(event)) {
      const hint = nearest(event, EVENTS) || `; they are ${EVENTS.join(', ')}.`
      throw new UsageError(
        `EVENT: ${JSON.stringify(shortName(event))} is not an event of the platform${hint} To send it as it is, add --unknown.`,
      )
    }
    const { chatId, sign, fault = [] } = flags
    const body = {
      event,
      sign,
      ...(chatId === undefined ? {} : { chat_id: chatId }),
      ...(flags.body === undefined ? {} : { body: await bodyFrom(context, flags.body) }),
      ...readFaults(fault),
    }
    // `MESSAGE FROM USER (sign wrong-key, duplicate=2)`
    const details = sign === 'valid' ? fault : [`sign ${sign}`, ...fault]
    const what = details.length === 0 ? event : `${event} (${details.join(', ')})`
    return sendManualEvent(context, flags, '/trigger', body, what, sign)
  },
})

export const resendCommand = defineCommand({
  arguments: { '<id>': 'its delivery_id' },
  flags: {
    '--re-sign': 'make the headers anew, signed with the key of now (default: exactly those of then)',
    ...FLAGS,
  },
  examples: {
    'resend 0f8fad5b-d9cb-469f-a165-70867728950e': 'the same bytes and headers again',
  },
  async run(context, flags, [id = '']) {
    if (id === '') throw new UsageError('ID: must not be empty.')
    const path = `/deliveries/${encodeURIComponent(id)}/resend${flags.reSign ? '?resign=true' : ''}`
    const { fault = [] } = flags
    const what = fault.length === 0 ? 'resent,' : `resent (${fault.join(', ')}),`
    return sendManualEvent(context, flags, path, readFaults(fault), what)
  },
})

async function bodyFrom({ io }: Context, given: string): Promise<object> {
  let from = '--body'
  let text = given
  if (given === '-' || given.startsWith('@')) {
    const file = given.replace('@', '')
    from = `--body: ${given === '-' ? 'stdin' : file}`
    text = new TextDecoder().decode(await readBody(file, io))
  }
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new UsageError(`${from}: is not JSON: ${messageOf(error)}.`)
  }
  if (isMap(value)) return value
  throw new UsageError(`${from}: must be a JSON object such as {"message":"Hello"}.`)
}

/** Checks the names only; the simulator checks the values. A name without a value means `true`. */
function readFaults(given: readonly string[]): Readonly<Record<string, unknown>> {
  const faults: Record<string, unknown> = {}
  for (const assignment of given) {
    const [, name = '', text = 'true'] = /^([^=]*)(?:=(.*))?$/s.exec(assignment) ?? []
    if (!FAULTS.includes(name))
      throw new UsageError(
        `--fault: ${JSON.stringify(name)} is not one of ${FAULTS.join(', ')}${suggest(name, FAULTS)}`,
      )
    if (Object.hasOwn(faults, name))
      throw new UsageError(`--fault ${name}: given twice; a list is written with commas.`)
    // Only `duplicate` takes a bare number; durations need a unit, and the simulator says so.
    if (name === 'duplicate' && /^\d+$/.test(text)) faults[name] = Number(text)
    else if (text === 'true' || text === 'false') faults[name] = text === 'true'
    else faults[name] = text.includes(',') ? text.split(',') : text
  }
  return faults
}

const EventResponse = z.looseObject({
  delivery_id: z.string(),
  ack: z.looseObject({ status: z.nullable(z.number()), duration_ms: z.number(), error: z.optional(z.string()) }),
})

/** Prints `what` and the outcome. Returns the exit code: 0 acknowledged, or refused when its signature is wrong on purpose; else 1. */
async function sendManualEvent(
  context: Context,
  flags: ManualEventFlags,
  path: string,
  body: unknown,
  what: string,
  sign: SignMode = 'valid',
): Promise<number> {
  const { io } = context
  const asked = await askSimulator(context, flags, path, body, EventResponse)
  if ('refusal' in asked) {
    io.stderr.write(`${asked.refusal}\n`)
    return 1
  }
  const { delivery_id, ack } = asked.data
  // `delivered: 200 in 12 ms (delivery d1)`
  const { status } = ack
  const isForged = sign !== 'valid' && status !== null && status < 500
  const isRight = isForged ? status >= 400 : ack.error === undefined
  let outcome = `delivered: ${ack.status} in ${formatMs(ack.duration_ms)}`
  if (ack.error !== undefined && ack.status === null) outcome = `not delivered: ${ack.error}`
  else if (isForged)
    outcome = isRight
      ? `refused with ${status}, as it should be`
      : `answered ${status}, although its signature is wrong: answer 401, before anything else is done with the event`
  else if (ack.error !== undefined) outcome = `not acknowledged: ${ack.error}, in ${formatMs(ack.duration_ms)}`
  io.stdout.write(
    flags.json ? `${JSON.stringify(asked.data)}\n` : `${what} ${visible(outcome)} (delivery ${visible(delivery_id)})\n`,
  )
  return isRight ? 0 : 1
}
