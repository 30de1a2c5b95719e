/** Finds a running simulator by the flags, variables and files that name it, and calls its control API. */
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { BUDGETS } from '../base/files/budgets.ts'
import { readRegularFile } from '../base/files/user-files.ts'
import { jsonOr } from '../base/objects.ts'
import { type ConnectionFailure, connectionFailure } from '../base/runtime/connection-failure.ts'
import { messageOf, systemCodeOf } from '../base/text/error-text.ts'
import { urlOf } from '../base/text/hosts.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { visible } from '../base/text/terminal-text.ts'
import { httpUrl } from '../platform/simulator/options.ts'
import { failureText } from '../platform/wording/failures.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { configSources, type FlagsOf } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'

/** The flags of every command that calls a running simulator. */
export const ADDRESS_FLAGS = {
  '--url <url>': 'the simulator (default: HANDOVER_SIM_URL, else the configured port on this machine)',
  '--port <number>': 'its port, when it is on this machine',
  '--ready-file <file>': 'the ready file that it writes',
  '--token <token>': 'its control token (default: HANDOVER_SIM_TOKEN, or that of the ready file)',
  '--config <file>': 'config file that names its port',
} as const

export type AddressFlags = FlagsOf<typeof ADDRESS_FLAGS>

export interface RunningSimulator {
  readonly url: string
  /** Null when none is known; the simulator may need none. */
  readonly token: string | null
}

const START = 'Start one with: npx handover-sim start'

/**
 * Reads `--url`, `--port` or `--ready-file`; without them HANDOVER_SIM_URL, else the configured port on this machine.
 * Null when the ready file is not there.
 */
export async function findSimulator(context: Context, flags: AddressFlags): Promise<RunningSimulator | null> {
  const { env } = context
  const { url, readyFile, ...setting } = flags
  const given = Object.entries({ '--url': url, '--port': flags.port, '--ready-file': readyFile })
  const names = given.flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (names.length > 1)
    throw new UsageError(`${names.join(' and ')} name the simulator more than once: give one of them.`)

  if (readyFile !== undefined) return fromReadyFile(readyFile, flags, context)
  if (url) return { url: checkedUrl('--url', url), token: tokenFrom(flags, context) }
  if (url === undefined && flags.port === undefined && env.HANDOVER_SIM_URL)
    return { url: checkedUrl('HANDOVER_SIM_URL', env.HANDOVER_SIM_URL), token: tokenFrom(flags, context) }
  const { values } = await resolveSettings(setting, configSources(context))
  if (values.port === 0)
    throw new UsageError('--url or --ready-file is needed: the configured port is 0, which may be any.')
  const token = values.control_token
  return { url: urlOf(String(values.host), Number(values.port)), token: typeof token === 'string' ? token : null }
}

function checkedUrl(from: string, url: string): string {
  const simulatorAddress = httpUrl('http://127.0.0.1:4747')
  if (simulatorAddress.fits(url)) return url.replace(/\/+$/, '')
  throw new UsageError(`${from}: must be ${simulatorAddress.expected}, got ${JSON.stringify(url)}.`)
}

const tokenFrom = ({ token }: AddressFlags, { env }: Context): string | null =>
  token ?? (env.HANDOVER_SIM_TOKEN || null)

const ReadyFile = z.looseObject({ url: z.string(), controlToken: z.optional(z.string()) })

function fromReadyFile(file: string, flags: AddressFlags, context: Context): RunningSimulator | null {
  let line: unknown = null
  try {
    const text = readRegularFile(resolve(context.io.cwd, file), BUDGETS.fileBytes).toString('utf8')
    line = JSON.parse(text)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null
    if (!(error instanceof SyntaxError))
      throw new UsageError(`--ready-file: cannot read ${JSON.stringify(file)}: ${messageOf(error)}.`)
  }
  const ready = ReadyFile.safeParse(line)
  if (!ready.success) throw new UsageError(`--ready-file: ${JSON.stringify(file)} has no ready line of a simulator.`)
  const { url, controlToken: token = null } = ready.data
  context.secrets.add(token)
  return {
    url: checkedUrl(`--ready-file: ${file}: url`, url),
    token: flags.token ?? token ?? tokenFrom(flags, context),
  }
}

interface ControlResponse {
  readonly status: number
  /** Null when it is not JSON. */
  readonly body: unknown
}

/** A recording and a delivery with retries take part of this; what takes longer is no simulator, or one that hangs. */
const MAX_RESPONSE_MS = 120_000
/** No answer of the control API that these commands read is longer. */
const MAX_RESPONSE_BYTES = 16 * 1_048_576

/** Calls the control API. Returns the failure when no answer came. Throws `EnvironmentError` for one that does not end. */
export async function callControl(
  { url, token }: RunningSimulator,
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<ControlResponse | ConnectionFailure> {
  const bearer: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const headers = { 'content-type': 'application/json', ...bearer }
  const limit = AbortSignal.timeout(MAX_RESPONSE_MS)
  const ended = signal === undefined ? limit : AbortSignal.any([signal, limit])
  const request = { method, headers, signal: ended, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  try {
    const response = await fetch(`${url}/_sim${path}`, request)
    return { status: response.status, body: jsonOr(await readBody(response, url), null) }
  } catch (error) {
    if (error instanceof EnvironmentError) throw error
    if (limit.aborted) throw new EnvironmentError(`${url} did not answer within ${formatDuration(MAX_RESPONSE_MS)}.`)
    return connectionFailure(error, new URL(url).host)
  }
}

async function readBody({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_RESPONSE_BYTES)
      throw new EnvironmentError(
        `No simulator answers at ${url}: the answer has more than ${MAX_RESPONSE_BYTES} bytes.`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Posts to the simulator that the flags name. Returns the answer, or why the simulator refuses at this moment (409). */
export async function askSimulator<Schema extends z.ZodMiniType>(
  context: Context,
  flags: AddressFlags,
  path: string,
  body: unknown,
  schema: Schema,
): Promise<{ readonly data: z.infer<Schema> } | { readonly refusal: string }> {
  const simulator = await findSimulator(context, flags)
  if (simulator === null)
    throw new EnvironmentError(
      `No simulator runs: its ready file ${JSON.stringify(flags.readyFile)} is not there. ${START}`,
    )
  const response = await callControl(simulator, 'POST', path, body)
  if ('code' in response) throw noResponseError(simulator.url, response)
  const parsed = schema.safeParse(response.body)
  if (response.status === 200 && parsed.success) return { data: parsed.data }
  const refusal = refusalMessage(simulator, response)
  if (response.status === 409) return { refusal }
  throw response.status >= 500 ? new EnvironmentError(refusal) : new UsageError(refusal)
}

export const noResponseError = (url: string, failure: ConnectionFailure): EnvironmentError =>
  new EnvironmentError(`No simulator answers at ${url}: ${failureText(failure)}. ${START}`)

const Refusal = z.looseObject({ error: z.looseObject({ message: z.string() }) })

/** The message of a refused request. Throws when the answer is not one of a simulator. */
export function refusalMessage({ url }: RunningSimulator, { status, body }: ControlResponse): string {
  const refusal = Refusal.safeParse(body)
  if (!refusal.success)
    throw new EnvironmentError(`No simulator answers at ${url}: something else does, with status ${status}.`)
  if (status !== 401) return visible(refusal.data.error.message)
  return 'The simulator needs its control token, and the one given is missing or wrong: pass --token TOKEN or set HANDOVER_SIM_TOKEN, as `npx handover-sim start` has it, or pass --ready-file FILE.'
}
