/** `startSimulator`: the simulator behind a real port, with its control API beside the platform. */

import { nextMacrotask } from '../base/runtime/clock.ts'
import { httpTransport } from '../base/runtime/http-transport.ts'
import { createAbort, randomToken } from '../base/runtime/node.ts'
import { isLoopback, urlOf } from '../base/text/hosts.ts'
import type { Redactor } from '../base/text/redactor.ts'
import type { CallerPolicy } from '../platform/api/access.ts'
import { createSecrets } from '../platform/journal/mask.ts'
import type { Core } from '../platform/simulator/core.ts'
import { DEFAULTS, InvalidOptionError, type PlatformSimulatorOptions } from '../platform/simulator/options.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Snapshot } from '../platform/simulator/snapshot/schema.ts'
import {
  createRequestRouter,
  createWorkspaces,
  type PlatformWorkspace,
  type PlatformWorkspaceOptions,
  type RequestRouter,
  singleRouter,
  type Workspaces,
} from '../platform/simulator/workspaces.ts'
import { createServerCallers, type ServerCallers } from './control/callers.ts'
import type { ControlProblem } from './control/problems.ts'
import type { LoadReadiness } from './control/readiness.ts'
import type { LoadRecorder } from './control/recorder.ts'
import type { AgentPlayer, ControlRoute, ProxyDescription } from './control/route.ts'
import {
  createHttpServer,
  createIndexPage,
  createNodeAdapter,
  createPathRouter,
  declaresTooMuch,
  type HttpServer,
  type Listener,
} from './http.ts'
import { listen } from './listen.ts'
import type { PageName } from './page.ts'

export interface PlatformServerOptions extends PlatformSimulatorOptions {
  /** Default 4747; 0 takes any free one. */
  readonly port?: number
  /** Default 127.0.0.1. Any other address than loopback makes the control API require a token. */
  readonly host?: string
  /** Whether the page for people is served at `/`. Default true. */
  readonly inspector?: boolean
  /** The token of the control API; generated when the host is not loopback and none is given. */
  readonly controlToken?: string
  /** Restored before the server listens; `InvalidSnapshotError` when it cannot be restored. */
  readonly snapshot?: Snapshot
  /** Called when the server has stopped and the state is still complete, for a last snapshot. */
  readonly onStopped?: (simulator: PlatformSimulator) => void
  /** Called for `POST /_sim/stop`, and should close the server. Without it the route answers 409. */
  readonly onStopRequested?: () => void
}

export interface PlatformServer extends PlatformSimulator {
  /** The address the server listens on; `baseUrl` may differ. */
  readonly url: string
  readonly port: number
  /** The page for people, with the token of the control API where it needs one; null without `inspector`. */
  readonly inspectorUrl: string | null
  /** Null when the control API needs no token. */
  readonly controlToken: string | null
  /** Creates a simulator behind the same port, selected by its API keys. Closing it does not affect the others. */
  workspace(options?: PlatformWorkspaceOptions): Promise<PlatformWorkspace>
}

/** What a command adds to the control API. */
export interface ControlExtension {
  /** Routes beside those of every server. */
  readonly routes?: readonly ControlRoute[]
  /** Plays the human agent; null while there is no help desk. */
  readonly agent?: () => AgentPlayer | null
  /** Loads the recorder of `POST /_sim/record`, which answers 409 without it. */
  readonly loadRecorder?: LoadRecorder | undefined
  /** Loads what judges the checks of `GET /_sim/readiness`, which answers 409 without it. */
  readonly loadReadiness?: LoadReadiness | undefined
  /** The page that is served at `/`. Default: the inspector. */
  readonly page?: PageName
  /** Makes the server a proxy: the simulator only holds the journal and the chats. */
  readonly proxy?: ProxyParts
}

export interface ProxyParts {
  /** Answers the paths of the platform in place of the simulator, for callers that `policy` does not refuse. */
  listener(server: { readonly core: Core; readonly policy: CallerPolicy }): Listener
  readonly description: ProxyDescription
  /** Why a route of the control API makes no sense here; null when it does. */
  refusedRoute(route: ControlRoute): ControlProblem | null
}

/**
 * Starts a simulator behind a real port. `router` may route platform calls to further simulators; `secrets` collects
 * what outputs must not show; `more` extends the control API.
 * Rejects with `PortInUseError`, `ListenError` or `InvalidOptionError`.
 */
export async function startServer(
  options: PlatformServerOptions = {},
  router: (simulator: PlatformSimulator) => RequestRouter = singleRouter,
  secrets: Redactor = createSecrets(),
  more: ControlExtension = {},
): Promise<PlatformServer> {
  const { host = DEFAULTS.host, port = DEFAULTS.port } = options
  checkPort(port)
  const {
    port: _,
    host: __,
    inspector = true,
    controlToken: ___,
    snapshot,
    onStopped,
    onStopRequested,
    ...simulatorOnly
  } = options
  const simulatorOptions = { ...simulatorOnly, clock: options.clock ?? 'real' }
  const transport = httpTransport()
  const simulator = createPlatformSimulator(simulatorOptions, transport, undefined, secrets)
  const { access, address } = coreOf(simulator)
  const controlToken = options.controlToken ?? (isLoopback(host) ? null : randomToken())
  secrets.add(controlToken)
  const { baseUrl = null } = options
  const callers = createServerCallers({
    host,
    address,
    token: controlToken,
    baseUrl,
    isProxy: more.proxy !== undefined,
  })
  const info = {
    url: '',
    callers,
    inspector,
    closing: createAbort(),
    onStopRequested,
    routes: more.routes ?? [],
    agent: more.agent ?? (() => null),
    loadRecorder: more.loadRecorder,
    loadReadiness: more.loadReadiness,
    page: more.page ?? 'index.html',
    refusedRoute: more.proxy?.refusedRoute ?? (() => null),
    proxy: more.proxy?.description ?? null,
    routeCalls: (router: RequestRouter) => void Object.assign(rest, router),
  }
  const rest = { ...router(simulator) }
  const owner = { options: simulatorOptions, main: simulator, transport, url: () => info.url }
  const workspaces = createWorkspaces(owner)
  access.callers.acceptsHost = callers.proxy.acceptsHost
  const listener = more.proxy?.listener({ core: coreOf(simulator), policy: callers.proxy }) ?? null
  const http = createSimulatorServer(simulator, workspaces, info, createRequestRouter(workspaces, rest), listener)
  const last = onStopped && (() => onStopped(simulator))
  const closers = [workspaces.closeAll, simulator.close, transport.close]
  const closed = closeOnce(http.stop, last, closers, info.closing)
  try {
    const startTimers = snapshot === undefined ? null : await applyFirstSnapshot(simulator, snapshot)
    const actualPort = await listen(http.server, host, port)
    info.url = urlOf(host, actualPort)
    if (options.baseUrl === undefined) coreOf(simulator).address.base = info.url
    startTimers?.()
    const workspace = async (wanted?: PlatformWorkspaceOptions) => workspaces.create(wanted)
    const inspectorUrl = inspector ? inspectorUrlOf(info) : null
    return withServer(simulator, { url: info.url, port: actualPort, inspectorUrl, controlToken, workspace }, closed)
  } catch (error) {
    await simulator.close()
    await transport.close()
    throw error
  }
}

/** Restores a snapshot. The returned function starts timers and deliveries: after the port is open, because an intermediary may call as soon as it receives an event. */
async function applyFirstSnapshot(simulator: PlatformSimulator, snapshot: Snapshot): Promise<() => void> {
  const core = coreOf(simulator)
  const { applySnapshot, checkSnapshot } = await import('../platform/simulator/snapshot/restore.ts')
  return applySnapshot(core, await checkSnapshot(core, snapshot))
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return
  throw new InvalidOptionError([{ name: 'port', message: `port must be a whole number from 0 to 65535, got ${port}.` }])
}

interface ServerInfo {
  url: string
  readonly callers: ServerCallers
  readonly inspector: boolean
  readonly closing: AbortController
  readonly onStopRequested: (() => void) | undefined
  readonly routes: readonly ControlRoute[]
  readonly agent: () => AgentPlayer | null
  readonly loadRecorder: LoadRecorder | undefined
  readonly loadReadiness: LoadReadiness | undefined
  /** Routes the calls of the platform by another router from now on. */
  readonly routeCalls: (router: RequestRouter) => void
  readonly page: PageName
  readonly refusedRoute: ProxyParts['refusedRoute']
  readonly proxy: ProxyDescription | null
}

/** The token is in the fragment, which browsers send to no server; the page removes it from the address. */
const inspectorUrlOf = ({ url, callers: { token } }: ServerInfo): string =>
  token === null ? `${url}/` : `${url}/#token=${encodeURIComponent(token)}`

function createSimulatorServer(
  simulator: PlatformSimulator,
  workspaces: Workspaces,
  info: ServerInfo,
  { api, bodyLimit: limit }: RequestRouter,
  proxy: Listener | null,
): HttpServer {
  const core = coreOf(simulator)
  const dispatch = createPathRouter({
    platform: proxy ?? createNodeAdapter(api, limit, error => core.onThrown('answer', error)),
    indexPage: createIndexPage(() => info.url),
    page: info.inspector ? () => loadPage(info) : null,
    address: core.address,
    control: async () => {
      const { createControlListener } = await import('./control/app.ts')
      const control = createControlListener({ ...info, simulator, workspaces, closing: info.closing.signal })
      // A platform call before it on the same connection is handled when its body has ended.
      return (request, response) => void nextMacrotask().then(() => control(request, response))
    },
  })
  return createHttpServer(dispatch, {
    mayContinue: request =>
      proxy !== null || !declaresTooMuch(request, limit()) || request.url?.startsWith('/_sim/') === true,
    onFull: connections => core.journal.append({ kind: 'note', note: 'connections_refused', connections }, null),
    onHttp2: () => core.journal.append({ kind: 'note', note: 'http2_refused' }, null),
  })
}

async function loadPage({ page, callers }: ServerInfo) {
  const { createPage } = await import('./page.ts')
  return createPage(callers, page)
}

/** Stops serving and closes the parts at the same time, because responses in progress may wait for them. With `last`, the parts stay open until `last` has run. */
function closeOnce(
  stopServing: () => Promise<void>,
  last: (() => void) | undefined,
  closers: readonly (() => Promise<void>)[],
  closing: AbortController,
): () => Promise<void> {
  let closed: Promise<void> | null = null
  const close = async () => {
    closing.abort()
    const stopped = stopServing()
    try {
      if (last !== undefined) {
        await stopped
        last()
      }
    } finally {
      for (const end of closers) await end()
    }
    await stopped
  }
  return () => {
    closed ??= close()
    return closed
  }
}

/** Extends the simulator object itself, so that its getters stay live and `coreOf` still finds it. */
function withServer(
  simulator: PlatformSimulator,
  info: Pick<PlatformServer, 'url' | 'port' | 'inspectorUrl' | 'controlToken' | 'workspace'>,
  close: () => Promise<void>,
): PlatformServer {
  return Object.assign(simulator, info, { close, [Symbol.asyncDispose]: close })
}
