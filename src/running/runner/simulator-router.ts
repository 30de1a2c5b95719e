/** Serves many simulators on one port: routes each call to the simulator of its chat. */

import { isMap } from '../../base/objects.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import { pathOf } from '../../platform/api/call.ts'
import { FILES_PREFIX } from '../../platform/api/files.ts'
import type { ApiRequest } from '../../platform/api/messages.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { limitOf, type RequestRouter } from '../../platform/simulator/workspaces.ts'
import {
  type ControlExtension,
  type PlatformServer,
  type PlatformServerOptions,
  startServer,
} from '../../server/start.ts'

/** Routes calls to the simulators that are attached beside the one of a server. */
export class SimulatorRouter {
  /** Its own simulator answers the calls that belong to no attached one; its journal has only these. */
  readonly server: PlatformServer
  readonly #owners = new Map<string, PlatformSimulator>()
  readonly #active = new Map<PlatformSimulator, Core>()
  readonly #ended = new Set<PlatformSimulator>()
  /** The largest body limit of the simulators that were attached until now. */
  #widestBody = 0

  constructor(server: PlatformServer) {
    this.server = server
  }

  readonly requests: RequestRouter = {
    /** Calls about availability or about unknown chats go to an attached simulator only when no other one runs. */
    api: request => {
      const chatId = chatIdIn(request)
      let sim = chatId === null ? undefined : this.#owners.get(chatId)
      const path = pathOf(request.target)
      if (sim === undefined && path.startsWith(FILES_PREFIX)) {
        // Searches all simulators: file ids are unique, and links are opened rarely.
        const [id = ''] = path.slice(FILES_PREFIX.length).split('/')
        sim = [...new Set(this.#owners.values())].find(owner => coreOf(owner).platform.state.files.has(id))
      }
      if (sim === undefined && chatId !== null && coreOf(this.server).platform.state.chats.has(chatId))
        sim = this.server
      const [first = this.server] = this.#active.keys()
      sim ??= this.#active.size > 1 ? this.server : first
      return coreOf(sim).api(request.body.length > limitOf(sim) ? { ...request, tooLarge: true } : request)
    },
    /** The widest of all, because thousands of simulators may be attached. */
    bodyLimit: () => Math.max(limitOf(this.server), this.#widestBody),
  }

  /** Routes the calls about the chats of this simulator to it, until `close`. */
  attach(sim: PlatformSimulator): void {
    const core = coreOf(sim)
    core.access.callers.acceptsHost = coreOf(this.server).access.callers.acceptsHost
    this.#active.set(sim, core)
    this.#widestBody = Math.max(this.#widestBody, limitOf(sim))
    for (const { chatId } of sim.chats()) this.#owners.set(chatId, sim)
  }

  /** Routes calls about a chat that this attached simulator opened later. */
  addChat(sim: PlatformSimulator, chatId: string): void {
    this.#owners.set(chatId, sim)
  }

  /** Stops routing calls without a chat to this simulator. */
  detach(sim: PlatformSimulator): void {
    this.#active.delete(sim)
  }

  /** Closes a simulator that is no longer attached, unless it is closed. Late calls about its chats go to the simulator of the server. */
  remove(sim: PlatformSimulator): void {
    if (coreOf(sim).isClosed()) return
    for (const { chatId } of sim.chats()) this.#owners.delete(chatId)
    this.#ended.delete(sim)
    void sim.close()
  }

  /** Closes the simulators that ended before the last call, which until now received late calls about their chats. */
  closeEnded(): void {
    for (const [chatId, sim] of this.#owners) if (this.#ended.has(sim)) this.#owners.delete(chatId)
    this.#ended.clear()
    for (const sim of this.#owners.values()) this.#ended.add(sim)
    for (const sim of this.#ended) void sim.close()
  }

  /** Prepares a further run: resets the simulator of the server, and closes those of the run before. */
  beginRun(): void {
    this.closeEnded()
    this.server.reset()
  }

  /** Aborts the deliveries of all simulators, and cancels their retries: these would keep the process alive. */
  close(): Promise<void> {
    this.closeEnded()
    return this.server.close()
  }
}

export async function createSimulatorRouter(
  options: PlatformServerOptions,
  secrets?: Redactor,
  more?: ControlExtension,
): Promise<SimulatorRouter> {
  let router: SimulatorRouter | null = null
  // The server that `startServer` resolves with is this simulator, with more properties.
  const createRouter = (simulator: PlatformSimulator): RequestRouter => {
    router = new SimulatorRouter(simulator as PlatformServer)
    return router.requests
  }
  await startServer(options, createRouter, secrets, more)
  return router!
}

const CHAT_PATH = /^\/api\/v1\/chats\/([^/?#]+)/

const decoder = new TextDecoder()

function chatIdIn({ target, body }: ApiRequest): string | null {
  const inPath = CHAT_PATH.exec(pathOf(target))?.[1]
  try {
    if (inPath !== undefined) return decodeURIComponent(inPath)
    const value: unknown = body.length === 0 ? null : JSON.parse(decoder.decode(body))
    return isMap(value) && typeof value.chat_id === 'string' ? value.chat_id : null
  } catch {
    return inPath ?? null
  }
}
