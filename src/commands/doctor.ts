/** Looks for what usually stops a first try, and says how each is repaired (`handover-sim doctor`). */

import { lookup } from 'node:dns/promises'
import { accessSync, constants, existsSync, realpathSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { BUDGETS } from '../base/files/budgets.ts'
import { readRegularFile } from '../base/files/user-files.ts'
import { isSuccess } from '../base/http-status.ts'
import { jsonOr } from '../base/objects.ts'
import { wallTime } from '../base/runtime/clock.ts'
import { packagePath } from '../base/runtime/node.ts'
import { isError, messageOf } from '../base/text/error-text.ts'
import { isLoopback, urlOf } from '../base/text/hosts.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { visible } from '../base/text/terminal-text.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import { VERSION } from '../platform/contract/version.ts'
import { failureText } from '../platform/wording/failures.ts'
import { probeTarget } from '../running/agent-driver/target.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { findPortHolder } from '../server/listen.ts'
import { type PlatformServer, startServer } from '../server/start.ts'
import { configSources, defineCommand, type FlagsOf, SETTING_FLAGS } from './command.ts'
import { type Context, colorLevel } from './io.ts'
import type { TargetFlags } from './run-target.ts'
import { callControl } from './running-simulator.ts'

/** `skipped`: it could not be examined; the text says why. */
type FindingState = 'ok' | 'warning' | 'problem' | 'skipped'

interface DoctorFinding {
  readonly id: string
  readonly state: FindingState
  readonly text: string
  /** One command or one line that repairs it. */
  readonly fix: string | null
}

const MARKS = { ok: '✓', warning: '!', problem: '✗', skipped: '-' } as const

const FLAGS = {
  ...SETTING_FLAGS,
  '--agent-driver <file>': 'try each verb of this agent driver in one chat',
  '--allow-remote': 'the webhook may be on another machine: it receives a few events without effect',
  '--json': 'one line of JSON for each finding: { v, type, id, state, text, fix }',
} as const

export const doctorCommand = defineCommand({
  flags: FLAGS,
  groups: { 'Most used': ['webhookUrl', 'agentDriver', 'config', 'port', 'json', 'allowRemote'] },
  examples: {
    'doctor --webhook-url http://127.0.0.1:3000/webhook': 'what is wrong here?',
    'doctor --webhook-url http://127.0.0.1:3000/webhook --agent-driver driver.yaml': 'and what with the agent driver?',
  },
  async run(context, flags) {
    const { io, env } = context
    const theme = createTheme(colorLevel(env, io.stdout.isTTY))
    const paint = { ok: theme.good, warning: theme.warn, problem: theme.bad, skipped: theme.faint }
    let problems = 0
    for await (const { id, state, text, fix } of examine(context, flags)) {
      if (state === 'problem') problems++
      if (flags.json) {
        io.stdout.write(`${JSON.stringify({ v: 1, type: 'finding', id, state, text, fix })}\n`)
        continue
      }
      io.stdout.write(`${paint[state](MARKS[state])} ${visible(text)}\n`)
      const label = state === 'skipped' ? 'Next:' : 'Fix:'
      if (fix !== null) io.stdout.write(`  ${theme.strong(label)} ${visible(fix)}\n`)
    }
    return problems > 0 ? 1 : 0
  },
})

async function* examine(
  context: Context,
  { allowRemote = false, agentDriver, json: _, ...settings }: FlagsOf<typeof FLAGS>,
): AsyncGenerator<DoctorFinding> {
  yield versionFinding(context)
  yield* copyFindings(context)
  yield* proxyFindings(context)
  yield* folderFindings(context)
  let resolved: Resolved
  try {
    resolved = await resolveSettings(settings, configSources(context))
  } catch (error) {
    yield problem('config', messageOf(error), 'npx handover-sim validate names every problem of a file.')
    return
  }
  const { configFile, warnings, values } = resolved
  for (const text of warnings) yield { id: 'config', state: 'warning', text, fix: null }
  if (warnings.length === 0)
    yield ok('config', configFile === null ? 'There is no config file; the defaults hold.' : `${configFile} is valid.`)
  const ref = agentDriver ?? resolved.agentDriver
  const driver = ref === null ? null : await readDriver(ref, allowRemote, context)
  if (driver !== null) yield driver.finding
  yield* portFindings(resolved)
  const url = values['webhook.url']
  if (typeof url !== 'string') {
    yield skipped(
      'webhook',
      'No webhook was examined.',
      'npx handover-sim doctor --webhook-url http://127.0.0.1:3000/webhook',
    )
    return
  }
  const target = new URL(url)
  if (!allowRemote && !isLoopback(target.hostname.replace(/^\[|\]$/g, ''))) {
    yield skipped(
      'webhook',
      `The webhook ${target.host} is on another machine, and was not examined.`,
      'add --allow-remote',
    )
    return
  }
  yield* webhookFindings(target, resolved, context, agentDriver !== undefined && driver?.startsTarget === true)
  if (agentDriver !== undefined && driver?.finding.state === 'ok')
    yield* verbFindings(agentDriver, { allowRemote, agentDriver }, resolved, context)
}

/** Reads a driver without calling it. */
async function readDriver(ref: string, allowRemote: boolean, { io, env }: Context) {
  try {
    const { cwd, nodeVersion } = io
    const { loadDriver } = await import('../running/agent-driver/load-driver.ts')
    const prompt = () => Promise.reject(new Error('doctor does not prompt'))
    const spec = await loadDriver(ref, { cwd, env, nodeVersion, isTTY: false, prompt, allowRemote })
    const verbs = [...Object.keys(spec.verbs), ...spec.needTerminal]
    return { finding: ok('driver', `${ref} has the verbs ${verbs.join(', ')}.`), startsTarget: spec.target !== null }
  } catch (error) {
    const fix = `Correct ${ref}: docs/reference/driver.md lists its keys.`
    return { finding: problem('driver', messageOf(error), fix), startsTarget: false }
  }
}

async function* verbFindings(
  ref: string,
  flags: TargetFlags,
  resolved: Resolved,
  context: Context,
): AsyncGenerator<DoctorFinding> {
  const { tryVerbs } = await import('./try-driver.ts')
  try {
    for (const { verb, state, text, hint } of await tryVerbs(context, flags, resolved)) {
      const fix = state === 'problem' ? (hint ?? `Correct ${verb} in ${ref}, and read the log of your service.`) : null
      yield { id: `driver.${verb}`, state, text: `${verb}: ${text}${/[.!?]$/.test(text) ? '' : '.'}`, fix }
    }
  } catch (error) {
    if (!isError(error) || !['EnvironmentError', 'ConfigError', 'PortInUseError'].includes(error.name)) throw error
    yield problem('driver', `The verbs of ${ref} were not tried: ${error.message}`, 'Correct this first.')
  }
}

const ok = (id: string, text: string): DoctorFinding => ({ id, state: 'ok', text, fix: null })
const problem = (id: string, text: string, fix: string | null): DoctorFinding => ({ id, state: 'problem', text, fix })
const skipped = (id: string, text: string, fix: string): DoctorFinding => ({ id, state: 'skipped', text, fix })
const warning = (id: string, text: string, fix: string): DoctorFinding => ({ id, state: 'warning', text, fix })

/** Files in TypeScript are read without a build from this version on. */
const STRIPS_TYPES = [22, 18] as const

function versionFinding({ io: { nodeVersion } }: Context): DoctorFinding {
  const text = `handover-sim ${VERSION} runs with Node ${nodeVersion.replace(/^v/, '')}`
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  const isOld = major < STRIPS_TYPES[0] || (major === STRIPS_TYPES[0] && minor < STRIPS_TYPES[1])
  return ok('node', isOld ? `${text}; config and scenario files in TypeScript need Node 22.18.` : `${text}.`)
}

const Manifest = z.looseObject({ version: z.string() })

/** The copies in the `node_modules` of the working directory and of the folders above it. */
function* copyFindings({ io: { cwd } }: Context): Generator<DoctorFinding> {
  const packageFile = packagePath('package.json')
  const ownFolder = packageFile === null ? '' : realpathSync(dirname(packageFile))
  const copies: { folder: string; version: string }[] = []
  for (let folder = cwd; ; folder = dirname(folder)) {
    const manifest = join(folder, 'node_modules/handover-sim/package.json')
    if (existsSync(manifest)) {
      const { version = 'of an unknown version' } =
        Manifest.safeParse(jsonOr(readRegularFile(manifest, BUDGETS.fileBytes).toString('utf8'), null)).data ?? {}
      copies.push({ folder: realpathSync(dirname(manifest)), version })
    }
    if (folder === dirname(folder)) break
  }
  const [first, ...above] = copies.filter(({ folder }, at) => copies.findIndex(copy => copy.folder === folder) === at)
  if (first === undefined)
    yield ok('copies', 'No folder above has an installation of its own: this command is the only copy.')
  else if (first.folder !== ownFolder && first.version !== VERSION)
    yield problem(
      'copies',
      `This command is ${VERSION}, and the tests of this folder import ${first.version} from ${first.folder}.`,
      `npm install --save-dev handover-sim@${VERSION}`,
    )
  else if (above.length > 0)
    yield warning(
      'copies',
      `There are ${copies.length} copies: ${copies.map(({ folder, version }) => `${version} in ${folder}`).join(', ')}. A simulator of one is none for the other.`,
      'npm uninstall handover-sim in the folder that does not need it',
    )
  else yield ok('copies', `This folder has handover-sim ${first.version} installed.`)
}

/** What the command itself adds to `NO_PROXY` when it starts. */
const ADDED = /,?localhost,127\.0\.0\.1,::1,\[::1\]$/
const PROXIES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'] as const

function* proxyFindings({ env }: Context): Generator<DoctorFinding> {
  const name = PROXIES.find(variable => env[variable])
  const direct = (env.no_proxy ?? env.NO_PROXY ?? '').replace(ADDED, '')
  if (name === undefined) return yield ok('proxy', 'No variable sends requests through a proxy.')
  if (/(^|,)\s*(\*|127\.0\.0\.1|localhost)\s*(,|$)/.test(direct))
    return yield ok('proxy', `${name} is set, and NO_PROXY names this machine.`)
  yield warning(
    'proxy',
    `${name} is set, and NO_PROXY does not name this machine: the calls of your service to the simulator may go to the proxy.`,
    'export NO_PROXY=localhost,127.0.0.1,::1 before your service starts',
  )
}

const MIN_FREE_BYTES = 100 * 2 ** 20

function* folderFindings({ io: { cwd } }: Context): Generator<DoctorFinding> {
  try {
    accessSync(cwd, constants.W_OK)
  } catch (error) {
    return yield warning(
      'folder',
      `Reports cannot be written to ${cwd}: ${messageOf(error)}. Runs end as usual, without a saved journal.`,
      'add --report journal=FOLDER/journal.jsonl, with a folder that can be written',
    )
  }
  const { bavail, bsize } = statfsSync(cwd)
  const free = bavail * bsize
  if (free >= MIN_FREE_BYTES) return yield ok('folder', 'The working directory can be written, and has space.')
  yield warning(
    'folder',
    `The disk of ${cwd} has ${Math.round(free / 2 ** 20)} MB left.`,
    `du -sh ${join(cwd, '.handover-sim')}`,
  )
}

async function* portFindings({ values }: Resolved): AsyncGenerator<DoctorFinding> {
  const port = Number(values.port)
  if (port === 0) return yield ok('port', 'The port is 0: any free one is taken.')
  const url = urlOf(String(values.host), port)
  const token = typeof values.control_token === 'string' ? values.control_token : null
  const response = await callControl({ url, token }, 'POST', '/settle', {}, AbortSignal.timeout(MAX_RESPONSE_MS)).catch(
    () => null,
  )
  const isFree = response !== null && 'code' in response && response.code === 'connection_refused'
  if (isFree) return yield ok('port', `Port ${port} is free.`)
  const holder = await findPortHolder(port)
  const who = holder === null ? 'another program' : `${holder.name} (process ${holder.pid})`
  if (response !== null && 'status' in response && response.status === 401)
    return yield problem(
      'token',
      `A simulator serves at ${url}, and refuses ${token === null ? 'requests without its control token' : 'the control token of the settings'}.`,
      'export HANDOVER_SIM_TOKEN=..., as npx handover-sim start printed it',
    )
  if (response !== null && 'status' in response && response.status === 200)
    return yield ok(
      'port',
      `A simulator serves at ${url}: ${who}. For run and certify, stop it: npx handover-sim stop --port ${port}`,
    )
  yield problem(
    'port',
    `Port ${port} is held by ${who}, which is no simulator.`,
    holder === null
      ? `npx handover-sim start --port ${port + 1}`
      : `kill ${holder.pid}, or npx handover-sim start --port ${port + 1}`,
  )
}

const MAX_RESPONSE_MS = 2_000
/** The clocks of two programs on one machine do not differ. */
const MAX_SKEW_MS = 5_000

async function* webhookFindings(
  target: URL,
  resolved: Resolved,
  context: Context,
  startsTarget: boolean,
): AsyncGenerator<DoctorFinding> {
  if (target.hostname === 'localhost') yield* localhostFindings(target)
  const failure = await probeTarget(target, 0, new AbortController().signal)
  if (failure !== null && startsTarget) return
  if (failure !== null) {
    yield problem(
      'webhook',
      `Nothing serves at ${target.host}: ${failureText(failure)}.`,
      'Start your service, or correct --webhook-url.',
    )
    return
  }
  const options = { ...resolved.options, port: 0, host: '127.0.0.1' }
  const server = await startServer(options, undefined, context.secrets)
  try {
    yield* responseFindings(server)
  } finally {
    await server.close()
  }
}

/** Sends events to the webhook of the simulator, and reads its answers. */
async function* responseFindings(server: PlatformServer): AsyncGenerator<DoctorFinding> {
  await server.chat()
  const refused = await sendProbe(server, 'webhook')
  if (refused !== null) return yield refused
  const { status = 0, response } = server.deliveries.at(-1) ?? {}
  yield ok('webhook', `The webhook answered ${status} to a signed event.`)

  const date = Object.entries(response?.headers ?? {}).find(([name]) => name.toLowerCase() === 'date')?.[1]
  const skewMs = date === undefined ? 0 : Math.abs(Date.parse(String(date)) - Date.parse(wallTime()))
  if (skewMs > MAX_SKEW_MS)
    yield warning(
      'clock',
      `The clock of the service differs by ${formatDuration(skewMs)}.`,
      'Let both machines use NTP.',
    )

  await triggerProbe(server, 'wrong-key')
  const { status: wrong = 0 } = server.deliveries.at(-1) ?? {}
  // Its signature is not verified at all, so nothing is said of the bytes that it is verified over.
  if (isSuccess(wrong)) {
    yield problem(
      'signature',
      `The webhook answered ${wrong} to an event that was signed with a wrong key: anybody could send it events.`,
      'Compare Kindly-HMAC with the HMAC of the body, and answer 401 when they differ: docs/reference/signature.md.',
    )
    return
  }
  yield ok('signature', `An event with a wrong signature is refused: ${wrong}.`)

  await server.configure({ 'webhook.json': 'spaced' })
  const spaced = await sendProbe(server, 'raw-bytes')
  await server.configure({ 'webhook.json': 'compact' })
  if (spaced !== null)
    yield problem(
      'raw-bytes',
      'The webhook refuses the same event when its JSON has spaces: something parses the body before the signature is verified.',
      'Verify the HMAC of the bytes as they came, for instance with express.raw({ type: "application/json" }): docs/reference/signature.md.',
    )
  else yield ok('raw-bytes', 'The signature is verified over the bytes as they come.')
}

/** A name with two addresses: a service that listens at one of them is not found by clients that try the other. */
async function* localhostFindings(target: URL): AsyncGenerator<DoctorFinding> {
  const addresses = await lookup('localhost', { all: true }).catch(() => [])
  const reached: string[] = []
  const silent: string[] = []
  for (const { address } of addresses) {
    const url = new URL(target)
    url.hostname = address.includes(':') ? `[${address}]` : address
    const failure = await probeTarget(url, 0, new AbortController().signal)
    ;(failure === null ? reached : silent).push(url.host)
  }
  if (reached.length === 0 || silent.length === 0) return
  yield warning(
    'localhost',
    `localhost has ${addresses.length} addresses here, and your service listens at ${reached.join(', ')} only.`,
    `--webhook-url ${target.protocol}//${reached[0]}${target.pathname}`,
  )
}

const OTHER_FIX = 'Compare the path of --webhook-url with the route of your service, and read its log.'

const Diagnosis = z.looseObject({ text: z.string(), fix: z.nullable(z.string()) })

const triggerProbe = (server: PlatformServer, sign: string) =>
  callControl({ url: server.url, token: server.controlToken }, 'POST', '/trigger', { event: 'AGENT TYPING STOP', sign })

/** Sends an event without effect. Resolves with why it was refused, as a diagnosis finds it; null when it was accepted. */
async function sendProbe(server: PlatformServer, id: string): Promise<DoctorFinding | null> {
  await triggerProbe(server, 'valid')
  const { delivery_id, status = null, failure } = server.deliveries.at(-1) ?? {}
  if (isSuccess(status)) return null
  const path = `/deliveries/${delivery_id}/diagnose`
  const reply = await callControl({ url: server.url, token: server.controlToken }, 'POST', path, {})
  const diagnosis = 'body' in reply ? Diagnosis.safeParse(reply.body).data : undefined
  const why = diagnosis?.text ?? failureText(failure)
  return problem(
    id,
    `The webhook did not accept a signed event${status === null ? '' : ` (${status})`}. ${why}`,
    diagnosis?.fix ?? OTHER_FIX,
  )
}
