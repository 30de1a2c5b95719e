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

export interface SimulatorRouter {
  /** Its own simulator answers the calls that belong to no scenario; its journal has only these. */
  readonly server: PlatformServer
  /** Routes the calls about the chats of this simulator to it, until `close`. */
  attach(sim: PlatformSimulator): void
  /** Routes calls about a chat that this attached simulator opened later. */
  addChat(sim: PlatformSimulator, chatId: string): void
  /** Stops routing calls without a chat to this simulator. */
  detach(sim: PlatformSimulator): void
  /**
   * Prepares a further run: resets its own simulator, and closes those of the run before, which still receive late calls
   * about their chats until the next run begins.
   */
  beginRun(): void
  close(): Promise<void>
}

export async function createSimulatorRouter(
  options: PlatformServerOptions,
  secrets?: Redactor,
  more?: ControlExtension,
): Promise<SimulatorRouter> {
  const owners = new Map<string, PlatformSimulator>()
  const active = new Map<PlatformSimulator, Core>()
  const ended = new Set<PlatformSimulator>()
  const createRequestRouter = (fallback: PlatformSimulator): RequestRouter => ({
    /** Calls about availability or about unknown chats go to the simulator of a scenario only when no other one runs. */
    api(request) {
      const chatId = chatIdIn(request)
      let sim = chatId === null ? undefined : owners.get(chatId)
      const path = pathOf(request.target)
      if (sim === undefined && path.startsWith(FILES_PREFIX)) {
        // Searches all simulators: file ids are unique, and links are opened rarely.
        const [id = ''] = path.slice(FILES_PREFIX.length).split('/')
        sim = [...new Set(owners.values())].find(owner => coreOf(owner).platform.state.files.has(id))
      }
      const [first = fallback] = active.keys()
      sim ??= active.size > 1 ? fallback : first
      return sim.handle(request.body.length > limitOf(sim) ? { ...request, tooLarge: true } : request)
    },
    /** The widest of all, because a hundred simulators may be attached. */
    bodyLimit() {
      let widest = limitOf(fallback)
      for (const { platform } of active.values()) widest = Math.max(widest, platform.knobs['limits.body'])
      return widest
    },
  })
  const server = await startServer(options, createRequestRouter, secrets, more)
  return {
    server,
    attach(sim) {
      const core = coreOf(sim)
      core.access.callers.acceptsHost = coreOf(server).access.callers.acceptsHost
      active.set(sim, core)
      for (const { chatId } of sim.chats()) owners.set(chatId, sim)
    },
    addChat: (sim, chatId) => void owners.set(chatId, sim),
    detach: sim => void active.delete(sim),
    beginRun() {
      for (const [chatId, sim] of owners) if (ended.has(sim)) owners.delete(chatId)
      ended.clear()
      for (const sim of owners.values()) ended.add(sim)
      for (const sim of ended) void sim.close()
      server.reset()
    },
    close: () => server.close(),
  }
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
