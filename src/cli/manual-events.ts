/** Asks a running simulator to send a manual event, for `trigger` and `resend`. */
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { sendingShape } from '../faults/schema.ts'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { suggest } from '../text/error-text.ts'
import { failureText } from '../wording/failures.ts'
import { EnvironmentError, UsageError } from './errors.ts'
import type { Context } from './io.ts'
import { collect } from './shared-flags.ts'
import { type SimulatorFlags, simulatorUrl } from './simulator-url.ts'

export interface ManualEventFlags extends Pick<SimulatorFlags, 'url'> {
  readonly token?: string
  readonly json?: boolean
}

export function addManualEventFlags(command: Command): Command {
  return command
    .option('--url <url>', 'the simulator (default: HANDOVER_SIM_URL, else the configured port on this machine)')
    .option('--token <token>', 'its controlToken, when it listens beyond this machine')
    .option('--json', 'print the answer as JSON')
}

const Answer = z.looseObject({
  delivery_id: z.string(),
  ack: z.looseObject({ status: z.nullable(z.number()), duration_ms: z.number(), error: z.optional(z.string()) }),
})
type Answer = z.infer<typeof Answer>

const Refusal = z.looseObject({ error: z.looseObject({ message: z.string() }) })

/** Returns the exit code: 0 acknowledged, 1 not. */
export async function sendManualEvent(
  context: Context,
  flags: ManualEventFlags,
  request: ManualRequest,
): Promise<number> {
  const url = await simulatorUrl(context, flags.url === undefined ? {} : { url: flags.url })
  const answer = await ask(url, flags, request)
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
async function ask(url: string, flags: ManualEventFlags, { path, body }: ManualRequest): Promise<Answer | string> {
  const response = await post(`${url}/_sim${path}`, flags, body).catch(error => {
    const why = failureText(connectionFailure(error, new URL(url).host))
    throw new EnvironmentError(`No simulator answers at ${url}: ${why}. Start one with: handover-sim start`)
  })
  const read = await response.json().catch(() => null)
  const answer = Answer.safeParse(read)
  if (response.status === 200 && answer.success) return answer.data
  const refusal = Refusal.safeParse(read)
  if (!refusal.success)
    throw new EnvironmentError(`No simulator answers at ${url}: something else does, with status ${response.status}.`)
  const { message } = refusal.data.error
  if (response.status === 409) return message
  throw response.status >= 500 ? new EnvironmentError(message) : new UsageError(message)
}

function post(url: string, { token }: ManualEventFlags, body: unknown): Promise<Response> {
  const bearer: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const headers = { 'content-type': 'application/json', ...bearer }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** `delivered: 200 in 12 ms (delivery d1)` */
function outcome({ delivery_id, ack }: Answer): string {
  const id = `(delivery ${delivery_id})`
  const took = `${ack.duration_ms < 10 ? ack.duration_ms.toFixed(1) : Math.round(ack.duration_ms)} ms`
  if (ack.error === undefined) return `delivered: ${ack.status} in ${took} ${id}`
  if (ack.status === null) return `not delivered: ${ack.error} ${id}`
  return `not acknowledged: ${ack.error}, in ${took} ${id}`
}

const NAMES = Object.keys(sendingShape)

export type FaultFlags = Readonly<Record<string, unknown>>

export const addFaultFlag = (command: Command): Command =>
  command.option('--fault <name=value>', `on its way: ${NAMES.join(', ')}; may be repeated`, collect)

/** Checks the names only; the simulator checks the values. */
export function readFaults(given: readonly string[] = []): FaultFlags {
  const faults = new Map<string, unknown>()
  for (const assignment of given) {
    const [name, value] = split(assignment)
    if (!NAMES.includes(name)) throw new UsageError(unknown(name))
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

const unknown = (name: string) =>
  `--fault: ${JSON.stringify(name)} is not one of ${NAMES.join(', ')}${suggest(name, NAMES)}`

/** `duplicate=2, truncate`, as given. */
export const faultText = (given: readonly string[] = []): string => given.join(', ')
