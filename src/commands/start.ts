/** Runs the simulator until a signal stops it (`handover-sim start`), and announces that it is ready. */
import { accessSync, constants, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BUDGETS } from '../base/files/budgets.ts'
import { wallDelay } from '../base/runtime/clock.ts'
import { limitHeapGrowth, replaceFile } from '../base/runtime/node.ts'
import { messageOf } from '../base/text/error-text.ts'
import { isLoopback } from '../base/text/hosts.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { isKnob } from '../platform/contract/knobs.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import { snapshotText } from '../platform/simulator/snapshot/capture.ts'
import { InvalidSnapshotError } from '../platform/simulator/snapshot/invalid-snapshot.ts'
import type { Snapshot } from '../platform/simulator/snapshot/schema.ts'
import { LazyReadiness } from '../running/certifier/load.ts'
import { loadRecorder } from '../running/recorder/load.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import type { AgentPlayer } from '../server/control/route.ts'
import { type PlatformServer, type PlatformServerOptions, startServer } from '../server/start.ts'
import { configSources, countFrom, defineCommand, type FlagsOf, SETTING_FLAGS } from './command.ts'
import { createShutdown, END_CODES, type Io, UsageError } from './io.ts'
import { createScenarioWriter, findScenarioFolder } from './scenario-folder.ts'
import { showTraffic, type Traffic } from './show-traffic.ts'
import type { AttachedAgent } from './start-agent.ts'

export const START_FLAGS = {
  ...SETTING_FLAGS,
  '--demo': 'start the built-in reference intermediary as the webhook target',
  '--agent-driver <file>': 'agent driver file or URL: the page plays the agent in your help desk',
  '--allow-remote': 'the agent driver may be read from another machine',
  '--scenarios <folder>': 'where the page saves chats as tests (default: scenarios beside the config file)',
  '--plays <number>': 'how many scenarios POST /_sim/plays may run at once (default: 256)',
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

/** The exit code when the snapshot could not be written. */
const NOT_WRITTEN = 3
/** How long a shutdown waits for deliveries and answers in flight. */
const DRAIN_MS = 3_000

export const startCommand = defineCommand({
  flags: START_FLAGS,
  groups: {
    'Most used': ['webhookUrl', 'agentDriver', 'demo', 'open', 'port', 'detach'],
    'What it shows and writes': ['output', 'json', 'readyFile', 'scenarios', 'import', 'export', 'plays'],
  },
  examples: {
    'start --demo --open': 'watch a handover in the browser, with the built-in service',
    'start --webhook-url http://127.0.0.1:3000/webhook': 'send signed events to your service, and answer its calls',
    'start --detach --ready-file handover.json': 'in the background, until `npx handover-sim stop`',
  },
  async run(context, flags) {
    const { io, unredacted } = context
    const resolved = await resolveSettings(flags, configSources(context))
    checkCombinations(flags)
    if (flags.detach) {
      const { startDetached } = await import('./start-detached.ts')
      return startDetached(context, flags, resolved.values)
    }
    const shutdown = createShutdown(io)
    try {
      // First the export, so that a wrong name fails at the start and not at the end.
      const snapshotExport = flags.export === undefined ? null : createExport(flags.export, io)
      const { cwd } = io
      const folder = findScenarioFolder(flags.scenarios, resolved.configFile, cwd)
      const writeScenario = folder === null ? null : createScenarioWriter(folder, cwd)
      let agent: AgentPlayer | null = null
      let loadDriver: AttachedAgent['loadDriver'] | null = null
      const readiness = new LazyReadiness(() => loadDriver, { mostPlays: countFrom('--plays', flags.plays) })
      let traffic: Traffic | null = null
      const endTraffic = () => traffic?.end()
      shutdown.defer(endTraffic, endTraffic)

      const server = await startServer(
        {
          ...(flags.import === undefined
            ? resolved.options
            : await optionsWithSnapshot(flags.import, io.cwd, resolved)),
          onStopRequested: shutdown.request,
          ...(snapshotExport && { onStopped: snapshotExport.write }),
        },
        undefined,
        context.secrets,
        {
          agent: () => agent,
          loadReadiness: readiness.load,
          loadRecorder: async () => ({ ...(await loadRecorder()), ...(writeScenario && { writeScenario }) }),
        },
      ).catch(error => {
        if (!(error instanceof InvalidSnapshotError)) throw error
        throw new UsageError(`--import ${JSON.stringify(flags.import)}: ${error.message}`)
      })
      shutdown.defer(
        () => server.close(),
        () => snapshotExport?.write(server),
      )

      // The help desk, of the demo or behind an agent driver.
      const driverFile = flags.agentDriver ?? resolved.agentDriver
      let desk: string | null = null
      if (flags.demo || driverFile !== null) {
        const { attachDemo, attachDriver } = await import('./start-agent.ts')
        if (flags.demo) ({ desk, agent, loadDriver } = await attachDemo(server, context, shutdown))
        else ({ agent, loadDriver } = await attachDriver(server, String(driverFile), flags, context, shutdown))
      }

      if (!flags.json) {
        const { host } = resolved.values
        for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
        if (!isLoopback(String(host)))
          io.stderr.write(
            `Warning: listening on ${host}, so other machines can reach this simulator; its keys are for tests only.\n`,
          )
      }
      if (flags.open && server.inspectorUrl !== null) {
        const { openPage } = await import('./open-page.ts')
        await openPage(server.inspectorUrl, context, shutdown)
      }

      // Writes the ready file before the ready line, because a reader of the line may open the file at once. Both have
      // the keys, because programs read them there.
      const line = `${JSON.stringify(readyLine(server))}\n`
      if (flags.readyFile !== undefined) {
        const remove = writeReadyFile(flags.readyFile, io.cwd, line)
        shutdown.defer(remove, remove)
      }
      unredacted.stdout.write(flags.json ? line : `Ready: ${server.url}\n`)
      const isPretty = !flags.json && flags.output === 'pretty'
      if (isPretty) unredacted.stderr.write(firstSteps(server, desk))
      traffic = showTraffic(server.journal, flags, resolved, context)
      if (isPretty && io.canAsk) {
        const { watchKeys } = await import('./terminal-keys.ts')
        watchKeys(server, context, shutdown)
      }
      limitHeapGrowth()

      const reason = await shutdown.ended
      if (isPretty) io.stderr.write(`Shutting down${reason === 'SIGINT' ? '; press Ctrl-C again to force' : ''}.\n`)
      if (isPretty && server.journal.query({ kind: 'delivery' }).length > 0)
        io.stderr.write(`Checks of the certification: ${(await readiness.report(server)).text}\n`)
      const enough = new AbortController()
      await Promise.race([server.settled(), wallDelay(DRAIN_MS, enough.signal)])
      enough.abort()
      await shutdown.run()
      return snapshotExport?.failed() ? NOT_WRITTEN : END_CODES[reason]
    } finally {
      await shutdown.run()
    }
  },
})

/** Throws when a flag excludes another one. */
function checkCombinations({ demo, webhookUrl, agentDriver, open, inspector }: FlagsOf<typeof START_FLAGS>): void {
  if (open && inspector === false) throw new UsageError('--open opens the page: leave out --no-inspector.')
  if (demo && webhookUrl !== undefined)
    throw new UsageError(`--demo brings its own webhook: leave out --webhook-url (got ${JSON.stringify(webhookUrl)}).`)
  if (demo && agentDriver !== undefined)
    throw new UsageError(
      `--demo brings its own help desk: leave out --agent-driver (got ${JSON.stringify(agentDriver)}).`,
    )
}

/** The values of the ready line. `pid` is that of this process. `controlToken` exists only when the control API needs one. */
export const readyLine = (server: PlatformServer) => ({
  v: 1,
  type: 'ready',
  url: server.url,
  inspectorUrl: server.inspectorUrl,
  webhookUrl: webhookUrlOf(server),
  apiKey: server.apiKey,
  botApiKey: server.botApiKey,
  botId: server.botId,
  pid: process.pid,
  ...(server.controlToken === null ? {} : { controlToken: server.controlToken }),
})

/** The address without its credentials. */
function webhookUrlOf(server: PlatformServer): string | null {
  const { webhookUrl } = coreOf(server).address
  return webhookUrl === null ? null : withoutCredentials(webhookUrl)
}

/** Complete commands to type next. `desk` is the URL of the demo's help desk, where the user plays the agent. */
function firstSteps(server: PlatformServer, desk: string | null): string {
  const { url, inspectorUrl, controlToken } = server
  const json = `-H 'content-type: application/json'`
  const token = controlToken === null ? '' : ` -H 'authorization: Bearer ${controlToken}'`
  const rows = [
    ['keys', 'keys.handover, keys.bot; to see them: npx handover-sim config --show-keys'],
    ['webhook', webhookUrlOf(server) ?? 'none: events go nowhere. Set it with --webhook-url URL, or try --demo'],
    ['a chat', `curl -s ${url}/_sim/chats ${json}${token} -d '{}'`],
    ['handover', `curl -s ${url}/_sim/chats/CHAT_ID/press ${json}${token} -d '{"button":"handover"}'`],
  ]
  if (inspectorUrl !== null) rows.unshift(['page', inspectorUrl])
  if (desk !== null) {
    rows.push(['accept', `curl -s -X POST ${desk}/desk/CHAT_ID/accept`])
    rows.push(['reply', `curl -s ${desk}/desk/CHAT_ID/messages ${json} -d '{"text":"Hello"}'`])
  }
  if (server.clock.mode === 'virtual')
    rows.push(['time', `stands still until: curl -s ${url}/_sim/clock/advance ${json}${token} -d '{"by":"10s"}'`])
  let text = ''
  for (const [name = '', command] of rows) text += `  ${name.padEnd(9)} ${command}\n`
  return text
}

/** Returns a function that removes the file. */
function writeReadyFile(file: string, cwd: string, text: string): () => void {
  const path = resolve(cwd, file)
  attempt(`--ready-file: cannot write ${JSON.stringify(file)}`, () => replaceFile(path, [text], 0o600))
  return () => {
    // Leaves a file that another simulator has written since.
    try {
      if (readFileSync(path, 'utf8') === text) rmSync(path)
    } catch {
      // The file was removed already.
    }
  }
}

/** Throws a `UsageError` that says what failed. */
function attempt<Result>(what: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`)
  }
}

/** Options that fit the snapshot of `--import`. Flags and variables win over the settings in it. */
async function optionsWithSnapshot(
  file: string,
  cwd: string,
  { options, sources, values }: Resolved,
): Promise<PlatformServerOptions> {
  const name = JSON.stringify(file)
  const { readRegularFile } = await import('../base/files/user-files.ts')
  const bytes = attempt(`--import: cannot read ${name}`, () => readRegularFile(resolve(cwd, file), BUDGETS.stateBytes))
  const text = attempt(`--import: ${name} is not JSON`, () => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  const snapshot: Snapshot | null = attempt(`--import: ${name} is not JSON`, () => JSON.parse(text))
  if (typeof snapshot !== 'object' || snapshot === null)
    throw new UsageError(`--import: ${name} is not a snapshot: it must be a JSON object.`)

  const isTyped = (from = '') => from.startsWith('--') || from.startsWith('HANDOVER_SIM_')
  if (isTyped(sources.seed) && values.seed !== snapshot.seed) {
    const typed = `${sources.seed} says ${values.seed}`
    throw new UsageError(`--import: ${name} has seed ${snapshot.seed}, and ${typed}: leave that out.`)
  }
  const config: Record<string, unknown> = { ...snapshot.config }
  for (const [knob, value] of Object.entries(values)) if (isKnob(knob) && isTyped(sources[knob])) config[knob] = value
  // The clock of the snapshot, unless the user has chosen one.
  const clock = snapshot.clock?.mode === 'virtual' ? 'virtual' : 'real'
  return { ...options, ...(sources.clock === 'default' ? { clock } : {}), snapshot: { ...snapshot, config } }
}

/** Writes the state at the first call of `write`, because closing removes state. A failure is reported on stderr. */
function createExport(file: string, { cwd, stderr }: Io) {
  const path = resolve(cwd, file)
  const failure = `--export: cannot write ${JSON.stringify(file)}`
  attempt(failure, () => {
    mkdirSync(dirname(path), { recursive: true })
    accessSync(dirname(path), constants.W_OK)
  })
  let state: 'open' | 'written' | 'failed' = 'open'
  return {
    write(simulator: PlatformSimulator): void {
      if (state !== 'open') return
      state = 'written'
      try {
        replaceFile(path, [...snapshotText(coreOf(simulator)), '\n'], 0o600)
      } catch (error) {
        state = 'failed'
        stderr.write(`${failure}: ${messageOf(error)}\n`)
      }
    },
    failed: () => state === 'failed',
  }
}
