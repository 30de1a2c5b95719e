/** Serves UI mode: scenarios that a page runs and watches (`run --ui`), or the results of a saved run (`report --open`). */

import { resolve } from 'node:path'
import { wallTimer } from '../base/runtime/clock.ts'
import { freshSeed } from '../base/runtime/node.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import { findFiles } from '../evaluation/scenario/load/find.ts'
import { type Plan, stepsOf } from '../evaluation/scenario/plan.ts'
import { loadRecorder } from '../running/recorder/load.ts'
import { createSimulatorRouter, type SimulatorRouter } from '../running/runner/simulator-router.ts'
import { runSuite } from '../running/runner/suite.ts'
import { InterruptedError, rejectOnAbort } from '../running/runner/waiting.ts'
import { uiRoutes } from '../running/ui-mode/routes.ts'
import type { RunRequest } from '../running/ui-mode/run-queue.ts'
import { createSavedSession, createUiSession } from '../running/ui-mode/session.ts'
import { type PlatformServer, startServer } from '../server/start.ts'
import { scenarioSources } from './command.ts'
import { type Context, createShutdown, END_CODES, EnvironmentError, type Shutdown } from './io.ts'
import {
  type AttachOptions,
  prepareTarget,
  type RunSettings,
  type RunTarget,
  runAttached,
  targetIn,
} from './run-target.ts'
import { createScenarioWriter, isFolder } from './scenario-folder.ts'
import { addSecretsOfPlans } from './secrets.ts'

interface UiModeOptions extends Omit<RunSettings, 'wanted' | 'plans' | 'seed'> {
  readonly flags: RunSettings['flags'] & { readonly open?: boolean }
  readonly patterns: readonly string[]
}

/** Resolves with the exit code when a signal or a request has ended it. */
export async function runUiMode(options: UiModeOptions): Promise<number> {
  const { context, resolved, patterns, flags } = options
  const { io, secrets } = context
  const shutdown = createShutdown(io)
  try {
    const session = await createUiSession({
      files: {
        ...scenarioSources(context),
        patterns,
        selection: options.options,
        onPlans: plans => addSecretsOfPlans(plans, context),
      },
      target: flags.selfTest ? null : targetIn(options),
      secrets,
      startRun: request => startRun(options, router, attachOnce, request),
    })
    shutdown.defer(() => session.close())
    const folder = patterns.map(pattern => resolve(io.cwd, pattern)).find(isFolder) ?? null
    const serverOptions = { ...resolved.options, ...(flags.selfTest && flags.port === undefined ? { port: 0 } : {}) }
    const router = await createSimulatorRouter({ ...serverOptions, onStopRequested: shutdown.request }, secrets, {
      routes: uiRoutes(session, secrets),
      page: 'ui-mode.html',
      loadRecorder: async () => ({
        ...(await loadRecorder()),
        ...(folder !== null && { writeScenario: createScenarioWriter(folder, io.cwd) }),
      }),
    })
    shutdown.defer(() => router.close())
    const end = new AbortController()
    void shutdown.ended.then(() => end.abort(new InterruptedError()))
    const { signal } = end
    const attachOnce = createAttachment({ ...options, storesChats: true, router, shutdown, signal })
    // The page is there while the target starts.
    const attached = attachOnce(() => announce(router.server, context, flags.open ?? false, shutdown))
    // In the inspector beside UI mode one plays by hand with the same service.
    const connected = attached.then(({ target }) => router.server.configure({ 'webhook.url': target.href }))
    await rejectOnAbort(connected, signal).catch(error => {
      if (error instanceof InterruptedError) return
      if (!(error instanceof EnvironmentError)) throw error
      io.stderr.write(`${error.message}\n`)
    })
    return END_CODES[await shutdown.ended]
  } finally {
    await shutdown.run()
  }
}

/** Serves the results of a saved run. Resolves when a signal or a request has ended it. */
export async function serveSavedRun(result: RunResult, plans: readonly Plan[], context: Context): Promise<void> {
  const { io, secrets } = context
  const shutdown = createShutdown(io)
  // The files that the places of the scenarios name, and no other.
  const names = new Set<string>()
  for (const { file, steps, finally: last } of plans) {
    names.add(file)
    for (const { place } of stepsOf([...steps, ...last])) if (place) names.add(place.file)
  }
  const findFile = (name: string) => (names.has(name) ? findFiles([name], scenarioSources(context))[0] : undefined)
  try {
    const session = createSavedSession(result, plans, secrets, findFile)
    const options = { port: 0, onStopRequested: shutdown.request }
    const server = await startServer(options, undefined, secrets, {
      routes: uiRoutes(session, secrets),
      page: 'ui-mode.html',
    })
    shutdown.defer(() => server.close())
    await announce(server, context, true, shutdown)
    await shutdown.ended
  } finally {
    await shutdown.run()
  }
}

/** The address has the token, where one is needed. A browser is opened only for a person at a terminal. */
export async function announce(
  { inspectorUrl, url }: PlatformServer,
  context: Context,
  open: boolean,
  shutdown: Shutdown,
): Promise<void> {
  const { stdout } = context.unredacted
  stdout.write(`UI mode: ${inspectorUrl ?? url}\n`)
  if (!open || !stdout.isTTY || inspectorUrl === null) return
  const { openPage } = await import('./open-page.ts')
  await openPage(inspectorUrl, context, shutdown)
}

/** Starts the target once; again when it could not be started. Calls `beforeStart` when target and driver are valid. */
function createAttachment(options: AttachOptions): (beforeStart?: () => Promise<void>) => Promise<RunTarget> {
  let attached: Promise<RunTarget> | null = null
  async function attach(beforeStart?: () => Promise<void>): Promise<RunTarget> {
    try {
      const start = await prepareTarget(options)
      await beforeStart?.()
      return await start()
    } catch (error) {
      attached = null
      throw error
    }
  }
  return beforeStart => {
    attached ??= attach(beforeStart)
    return attached
  }
}

async function startRun(
  options: UiModeOptions,
  router: SimulatorRouter,
  attachOnce: () => Promise<RunTarget>,
  { wanted, scenarios, listener, signal }: RunRequest,
): Promise<RunResult> {
  router.beginRun()
  const { resolved } = options
  const { timeoutMs } = options.options
  // A running intermediary remembers the chats of earlier runs.
  const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
  const limit = new AbortController()
  const end = (limit_ms: number) => limit.abort(new InterruptedError({ code: 'run_time_limit', limit_ms }))
  const timer = timeoutMs === null ? null : wallTimer(timeoutMs, () => end(timeoutMs))
  const ended = AbortSignal.any([signal, limit.signal])
  try {
    return await runAttached({
      settings: { ...options, wanted, plans: scenarios.map(({ plan }) => plan), seed },
      router,
      signal: ended,
      // Ends the wait only: a target that is starting serves the next run.
      attach: () => rejectOnAbort(attachOnce(), ended),
      run: suite => runSuite({ ...suite, listener }),
    })
  } finally {
    timer?.cancel()
  }
}
