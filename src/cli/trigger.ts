/** Sends one event from a running simulator to its webhook (`handover-sim trigger`). */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { SIGN_MODES, type SignMode } from '../contract/events.ts'
import { messageOf } from '../text/error-text.ts'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import {
  addFaultFlag,
  addManualEventFlags,
  faultText,
  type ManualEventFlags,
  readFaults,
  sendManualEvent,
} from './manual-events.ts'

interface TriggerFlags extends ManualEventFlags {
  readonly chatId?: string
  readonly body?: string
  readonly sign: SignMode
  readonly fault?: readonly string[]
}

export function define(command: Command): void {
  command
    .argument('<event>', 'such as "MESSAGE FROM USER"; another name is sent as it is')
    .option('--chat-id <id>', 'the chat it is about (default: the newest)')
    .option('--body <json>', 'fields to lay over the payload: JSON, @file, or - for stdin')
    .addOption(new Option('--sign <mode>', 'how it is signed').choices(SIGN_MODES).default('valid'))
  addFaultFlag(command)
  addManualEventFlags(command)
}

export async function run(context: Context, flags: TriggerFlags, [event = '']: readonly string[]): Promise<number> {
  if (event === '') throw new UsageError('EVENT: must not be empty.')
  const { chatId, sign } = flags
  const fields = flags.body === undefined ? {} : { body: await bodyFrom(context, flags.body) }
  const chat = chatId === undefined ? {} : { chat_id: chatId }
  const body = { event, sign, ...chat, ...fields, ...readFaults(flags.fault) }
  return sendManualEvent(context, flags, { path: '/trigger', body, what: whatOf(event, flags) })
}

/** `MESSAGE FROM USER (sign wrong-key, duplicate=2)`. */
function whatOf(event: string, { sign, fault }: TriggerFlags): string {
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
  if (!given.startsWith('@')) return given
  try {
    return readFileSync(resolve(io.cwd, given.slice(1)), 'utf8')
  } catch (error) {
    throw new UsageError(`--body: ${given.slice(1)} cannot be read: ${messageOf(error)}.`)
  }
}

function parsed(from: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new UsageError(`${from}: is not JSON: ${messageOf(error)}.`)
  }
}
