/** Serves many simulators on one port: routes each call to the simulator of its chat. */

import { isMap } from '../../base/objects.ts'
import type { Maybe } from '../../base/runtime/activity.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import { pathOf } from '../../platform/api/call.ts'
import { FILES_PREFIX } from '../../platform/api/files.ts'
import type { Api } from '../../platform/api/handle.ts'
import type { ApiRequest, ApiResponse } from '../../platform/api/messages.ts'
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
  const active: Active = new Map()
  const ended = new Set<PlatformSimulator>()
  const server = await startServer(options, fallback => createRequestRouter(fallback, owners, active), secrets, more)
  return {
    server,
    attach(sim) {
      const core = coreOf(sim)
      core.callers.acceptsHost = coreOf(server).callers.acceptsHost
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

type Owners = ReadonlyMap<string, PlatformSimulator>
type Active = Map<PlatformSimulator, Core>

/** Calls about availability or about unknown chats go to the simulator of a scenario only when no other one runs. */
function createRequestRouter(fallback: PlatformSimulator, owners: Owners, active: Active): RequestRouter {
  const alone = () => {
    const [first = fallback] = active.keys()
    return active.size > 1 ? fallback : first
  }
  const api: Api = request => {
    const chatId = chatIdIn(request)
    const file = pathOf(request.target).startsWith(FILES_PREFIX) ? fileOwner(request, owners) : undefined
    return handle((chatId !== null ? owners.get(chatId) : undefined) ?? file ?? alone(), request)
  }
  return { api, bodyLimit: () => widestLimit(fallback, active) }
}

/** A hundred simulators may be attached. */
function widestLimit(fallback: PlatformSimulator, active: Active): number {
  let widest = limitOf(fallback)
  for (const { platform } of active.values()) widest = Math.max(widest, platform.knobs['limits.body'])
  return widest
}

const handle = (sim: PlatformSimulator, request: ApiRequest): Maybe<ApiResponse> =>
  sim.handle(request.body.length > limitOf(sim) ? { ...request, tooLarge: true } : request)

const CHAT_PATH = /^\/api\/v1\/chats\/([^/?#]+)/

const decoder = new TextDecoder()

function chatIdIn({ target, body }: ApiRequest): string | null {
  const inPath = CHAT_PATH.exec(pathOf(target))?.[1]
  if (inPath !== undefined) return decoded(inPath)
  if (body.length === 0) return null
  try {
    const value: unknown = JSON.parse(decoder.decode(body))
    return isMap(value) && typeof value.chat_id === 'string' ? value.chat_id : null
  } catch {
    return null
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Searches all simulators: file ids are unique, and links are opened rarely. */
function fileOwner({ target }: ApiRequest, owners: Owners): PlatformSimulator | undefined {
  const [id = ''] = pathOf(target).slice(FILES_PREFIX.length).split('/')
  return [...new Set(owners.values())].find(sim => coreOf(sim).platform.state.files.has(id))
}
