/** Runs the simulator until a signal stops it (`handover-sim start`). */

import { wallDelay } from '../base/runtime/clock.ts'
import { InvalidSnapshotError } from '../platform/simulator/snapshot/invalid-snapshot.ts'
import { loadRecorder } from '../running/recorder/load.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { isLoopback } from '../server/control/addresses.ts'
import type { AgentPlayer } from '../server/control/route.ts'
import { type PlatformServer, startServer } from '../server/start.ts'
import { configSources, defineCommand, type FlagsOf, SETTING_FLAGS } from './command.ts'
import {
  type Context,
  createShutdown,
  END_CODES,
  type EndReason,
  EnvironmentError,
  type Shutdown,
  UsageError,
} from './io.ts'
import { showTraffic, type Traffic } from './show-traffic.ts'
import type { SnapshotExport } from './snapshot-files.ts'
import { firstSteps, readyLine, readyText, writeReadyFile } from './start-files.ts'

const FLAGS = {
  ...SETTING_FLAGS,
  '--demo': 'start the built-in reference intermediary as the webhook target',
  '--agent-driver <file>': 'agent driver file or URL: the page plays the agent in your help desk',
  '--allow-remote': 'the agent driver may be read from another machine',
  '--open': 'open the page in the browser',
  '--output <style>': {
    description: 'how traffic is shown on stderr',
    choices: ['pretty', 'compact', 'quiet'],
    default: 'pretty',
  },
  '--json': 'NDJSON on stdout: one ready line, then every journal entry',
  '--import <file>': 'begin with the state of a snapshot',
  '--export <file>': 'write a snapshot when it stops',
  '--detach': 'start in the background; ends when the simulator serves, or with its error',
  '--ready-file <file>': 'write the ready line to a file, there while the simulator serves',
} as const

type StartFlags = FlagsOf<typeof FLAGS>

export const startCommand = defineCommand({
  flags: FLAGS,
  async run(context, flags) {
    const resolved = await resolveSettings(flags, configSources(context))
    // Throws when a flag excludes another one.
    const { demo, webhookUrl, agentDriver, open, inspector } = flags
    if (open && inspector === false) throw new UsageError('--open opens the page: leave out --no-inspector.')
    if (demo && webhookUrl !== undefined)
      throw new UsageError(
        `--demo brings its own webhook: leave out --webhook-url (got ${JSON.stringify(webhookUrl)}).`,
      )
    if (demo && agentDriver !== undefined)
      throw new UsageError(
        `--demo brings its own help desk: leave out --agent-driver (got ${JSON.stringify(agentDriver)}).`,
      )

    if (flags.detach) {
      const { checkTokenIsKnown, startDetached } = await import('./start-detached.ts')
      checkTokenIsKnown(flags, resolved.values)
      return startDetached(context, flags)
    }
    const shutdown = createShutdown(context.io)
    try {
      const snapshotExport = flags.export === undefined ? null : await createExport(flags.export, context)
      let agent: AgentPlayer | null = null
      let traffic: Traffic | null = null
      const endTraffic = () => traffic?.end()
      shutdown.defer(endTraffic, endTraffic)
      const server = await start(flags, resolved, context, snapshotExport, { shutdown, agent: () => agent })
      shutdown.defer(
        () => server.close(),
        () => snapshotExport?.write(server),
      )
      const desk = flags.demo ? await attachDemo(server, context, shutdown) : null
      agent = await attachAgent(server, desk, flags, resolved, context, shutdown)
      if (!flags.json) printWarnings(resolved, context)
      if (flags.open && server.inspectorUrl !== null) {
        const { openPage } = await import('./open-page.ts')
        await openPage(server.inspectorUrl, context, shutdown)
      }
      announce(server, flags, context, shutdown)
      if (!flags.json && flags.output === 'pretty') context.unredacted.stderr.write(firstSteps(server, desk))
      traffic = showTraffic(server.journal, flags, resolved, context)
      const reason = await shutdown.ended
      await drain(server, flags, context, reason)
      await shutdown.run()
      return snapshotExport?.failed() ? NOT_WRITTEN : END_CODES[reason]
    } finally {
      await shutdown.run()
    }
  },
})

/** The exit code for an environment error. */
const NOT_WRITTEN = 3

async function start(
  flags: StartFlags,
  resolved: Resolved,
  { io, secrets }: Context,
  snapshotExport: SnapshotExport | null,
  { shutdown, agent }: { readonly shutdown: Shutdown; readonly agent: () => AgentPlayer | null },
) {
  const options =
    flags.import === undefined ? resolved.options : await optionsWithImport(flags.import, io.cwd, resolved)
  try {
    const onStopRequested = shutdown.request
    const serverOptions = { ...options, onStopRequested, ...(snapshotExport && { onStopped: snapshotExport.write }) }
    return await startServer(serverOptions, undefined, secrets, { agent, loadRecorder })
  } catch (error) {
    if (error instanceof InvalidSnapshotError)
      throw new UsageError(`--import ${JSON.stringify(flags.import)}: ${error.message}`)
    throw error
  }
}

async function createExport(file: string, { io }: Context): Promise<SnapshotExport> {
  const { createSnapshotExport } = await import('./snapshot-files.ts')
  return createSnapshotExport(file, io)
}

async function optionsWithImport(file: string, cwd: string, resolved: Resolved) {
  const { withSnapshot } = await import('./snapshot-files.ts')
  return withSnapshot(file, cwd, resolved)
}

/** Loads nothing unless there is a help desk. `desk` is the URL of the demo. */
async function attachAgent(
  server: PlatformServer,
  desk: string | null,
  flags: StartFlags,
  { agentDriver }: Resolved,
  context: Context,
  shutdown: Shutdown,
): Promise<AgentPlayer | null> {
  const ref = flags.agentDriver ?? agentDriver
  if (desk === null && ref === null) return null
  const { attachDemoDesk, attachDriver } = await import('./start-agent.ts')
  if (desk !== null) return attachDemoDesk(server, desk, context, shutdown)
  const reference = {
    ref: String(ref),
    allowRemote: flags.allowRemote ?? false,
    isFlag: flags.agentDriver !== undefined,
  }
  return attachDriver(server, reference, context, shutdown)
}

const STOP_WITHIN_MS = 2_000

/** Starts the reference intermediary as the webhook target. Resolves with its URL. */
async function attachDemo(server: PlatformServer, { io, env }: Context, shutdown: Shutdown): Promise<string> {
  const { referenceStart } = await import('../running/agent-driver/reference-program.ts')
  const { TargetProcess } = await import('../running/agent-driver/target.ts')
  const { url: platformUrl, apiKey, botApiKey, botId } = server
  const platform = { url: platformUrl, apiKey, botApiKey, botId }
  const program = () => referenceStart('The demo intermediary', env, platform, { PORT: '0' })
  const onExit = (why: string) => io.stderr.write(`${why}\n`)
  const target = new TargetProcess({ start: program, stopTimeoutMs: STOP_WITHIN_MS, onExit })
  await target.start().catch((error: Error) => {
    throw new EnvironmentError(`--demo: ${error.message}`)
  })
  const { url } = target
  if (url === null) throw new EnvironmentError('--demo: the intermediary has no URL.')
  shutdown.defer(
    () => target.close(),
    () => void target.kill(),
  )
  await server.configure({ 'webhook.url': `${url}/webhook` })
  return url
}

/**
 * Writes the ready file before the ready line, because a reader of the line may open the file at once. Both have the
 * keys, because programs read them there.
 */
function announce(server: PlatformServer, flags: StartFlags, { io, unredacted }: Context, shutdown: Shutdown): void {
  const line = `${JSON.stringify(readyLine(server))}\n`
  if (flags.readyFile !== undefined) {
    const remove = writeReadyFile(flags.readyFile, io.cwd, line)
    shutdown.defer(remove, remove)
  }
  unredacted.stdout.write(flags.json ? line : `${readyText(server.url)}\n`)
}

function printWarnings({ values, warnings }: Resolved, { io }: Context): void {
  for (const warning of [...warnings, ...exposure(values)]) io.stderr.write(`${warning}\n`)
}

function exposure({ host }: Resolved['values']): string[] {
  if (isLoopback(String(host))) return []
  return [`Warning: listening on ${host}, so other machines can reach this simulator; its keys are for tests only.`]
}

const DRAIN_MS = 3_000

/** Waits a limited time for deliveries and answers in flight. */
async function drain(server: PlatformServer, flags: StartFlags, { io }: Context, reason: EndReason): Promise<void> {
  const hint = reason === 'SIGINT' ? '; press Ctrl-C again to force' : ''
  if (!flags.json && flags.output === 'pretty') io.stderr.write(`Shutting down${hint}.\n`)
  const enough = new AbortController()
  await Promise.race([server.settled(), wallDelay(DRAIN_MS, enough.signal)])
  enough.abort()
}
