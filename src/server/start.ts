/** `startSimulator`: the simulator behind a real port, with its control API beside the platform. */
import type { Api } from '../api/handle.ts'
import { createNodeDoor, declaresTooMuch } from '../doors/node-http.ts'
import { randomToken } from '../runtime/token.ts'
import type { Core } from '../simulator/core.ts'
import { InvalidSetting, type SimulatorOptions } from '../simulator/options.ts'
import { coreOf, createSimulator, type Simulator } from '../simulator.ts'
import { allowedHosts, isLoopback, urlOf } from './addresses.ts'
import { createDispatch } from './dispatch.ts'
import { createHome } from './home.ts'
import { createHttpServer, type HttpServer } from './http.ts'
import { listen } from './listen.ts'

export interface ServerOptions extends SimulatorOptions {
  /** Default 4747; 0 takes any free one. */
  readonly port?: number
  /** Default 127.0.0.1. Anything wider makes the control API ask for a token. */
  readonly host?: string
  /** Whether the page for people is served. Default true. */
  readonly inspector?: boolean
  /** What the control API asks for; made up when the host is not loopback and none is given. */
  readonly controlToken?: string
}

export interface SimulatorServer extends Simulator {
  /** The address it listens on, whatever `baseUrl` says. */
  readonly url: string
  readonly port: number
  /** Null when the control API asks for none. */
  readonly controlToken: string | null
}

export const DEFAULT_PORT = 4747
export const DEFAULT_HOST = '127.0.0.1'

/** Rejects with `PortBusy` or `CannotListen` when the port cannot be had, `InvalidSetting` for other options. */
export const startSimulator = (options: ServerOptions = {}): Promise<SimulatorServer> => startServer(options)

/** What stands behind the platform's paths. */
export interface Front {
  readonly api: Api
  /** The longest body read, in bytes. */
  bodyLimit(): number
}

const ownFront = (simulator: Simulator): Front => ({
  api: simulator.handle,
  bodyLimit: () => coreOf(simulator).room.knobs['limits.body'],
})

/** With a front of its own, several simulators can stand behind one port. */
export async function startServer(
  options: ServerOptions,
  front: (simulator: Simulator) => Front = ownFront,
): Promise<SimulatorServer> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options
  checkPort(port)
  const simulator = createSimulator({ ...options, clock: options.clock ?? 'real' })
  const controlToken = options.controlToken ?? (isLoopback(host) ? null : randomToken())
  const facts = { url: '', token: controlToken, hosts: allowedHosts(host), closing: new AbortController() }
  const http = openHouse(simulator, facts, front(simulator))
  try {
    const real = await listen(http.server, host, port)
    facts.url = urlOf(host, real)
    if (options.baseUrl === undefined) coreOf(simulator).address.base = facts.url
    return withServer(
      simulator,
      { url: facts.url, port: real, controlToken },
      closeOnce(simulator, http, facts.closing),
    )
  } catch (error) {
    await simulator.close()
    throw error
  }
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return
  throw new InvalidSetting([{ name: 'port', message: `port must be a whole number from 0 to 65535, got ${port}.` }])
}

interface Facts {
  url: string
  readonly token: string | null
  readonly hosts: readonly string[] | null
  readonly closing: AbortController
}

function openHouse(simulator: Simulator, facts: Facts, { api, bodyLimit: limit }: Front): HttpServer {
  const core = coreOf(simulator)
  const dispatch = createDispatch({
    platform: createNodeDoor(api, limit),
    home: createHome(() => facts.url),
    basePath: basePathOf(core),
    control: async () => {
      const { createControlListener } = await import('../control/app.ts')
      const { token, hosts, closing } = facts
      return createControlListener({ simulator, url: facts.url, token, hosts, closing: closing.signal })
    },
  })
  return createHttpServer(dispatch, request => !declaresTooMuch(request, limit()) || request.url!.startsWith('/_sim/'))
}

/** Parsed once per base URL: it is asked for with every request. */
function basePathOf(core: Core): () => string {
  let base = ''
  let path = ''
  return () => {
    if (base !== core.address.base) {
      base = core.address.base
      path = new URL(base).pathname.replace(/\/$/, '')
    }
    return path
  }
}

function closeOnce(simulator: Simulator, http: HttpServer, closing: AbortController): () => Promise<void> {
  const closeCore = simulator.close
  let closed: Promise<void> | null = null
  const close = async () => {
    closing.abort()
    const stopped = http.stop()
    await closeCore()
    await stopped
  }
  return () => {
    closed ??= close()
    return closed
  }
}

/** The same object with more on it: its getters stay live, and `coreOf` still knows it. */
function withServer(
  simulator: Simulator,
  facts: Pick<SimulatorServer, 'url' | 'port' | 'controlToken'>,
  close: () => Promise<void>,
): SimulatorServer {
  return Object.assign(simulator, facts, { close, [Symbol.asyncDispose]: close })
}
