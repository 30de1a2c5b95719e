/** One port for many plays: each call finds its simulator by the chat it is about. */

import { FILES_PREFIX } from '../api/files.ts'
import type { Api } from '../api/handle.ts'
import type { ApiRequest, ApiResponse } from '../api/messages.ts'
import { pathOf } from '../api/routes.ts'
import type { Maybe } from '../platform/engines.ts'
import { type PlatformServer, type PlatformServerOptions, startServer } from '../server/start.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { limitOf, type RequestRouter } from '../simulator/workspaces/request-router.ts'

export interface SimulatorRouter {
  /** Its own simulator takes what belongs to no play; its journal has only that. */
  readonly server: PlatformServer
  /** Every chat of this simulator is from now on reached here, for as long as the house stands. */
  attach(sim: PlatformSimulator): void
  /** Its steps are over: calls without a chat are no longer taken for its own. */
  detach(sim: PlatformSimulator): void
  close(): Promise<void>
}

export async function createSimulatorRouter(options: PlatformServerOptions): Promise<SimulatorRouter> {
  const owners = new Map<string, PlatformSimulator>()
  const active = new Set<PlatformSimulator>()
  const server = await startServer(options, fallback => createRequestRouter(fallback, owners, active))
  return {
    server,
    attach(sim) {
      active.add(sim)
      for (const { chatId } of sim.chats()) owners.set(chatId, sim)
    },
    detach: sim => void active.delete(sim),
    close: () => server.close(),
  }
}

type Owners = ReadonlyMap<string, PlatformSimulator>

/** Availability and unknown chats belong to the only play there is; beside others nobody can tell whose they are. */
function createRequestRouter(
  fallback: PlatformSimulator,
  owners: Owners,
  active: ReadonlySet<PlatformSimulator>,
): RequestRouter {
  const alone = () => (active.size === 1 ? [...active][0]! : fallback)
  const api: Api = request => {
    const chatId = chatIdIn(request)
    const file = pathOf(request.target).startsWith(FILES_PREFIX) ? fileOwner(request, owners) : undefined
    return handle((chatId !== null ? owners.get(chatId) : undefined) ?? file ?? alone(), request)
  }
  return { api, bodyLimit: () => Math.max(limitOf(fallback), ...[...active].map(limitOf)) }
}

const handle = (sim: PlatformSimulator, request: ApiRequest): Maybe<ApiResponse> =>
  sim.handle(request.body.length > limitOf(sim) ? { ...request, tooLarge: true } : request)

const CHAT_PATH = /^\/api\/v1\/chats\/([^/?#]+)/

function chatIdIn({ target, body }: ApiRequest): string | null {
  const inPath = CHAT_PATH.exec(pathOf(target))?.[1]
  if (inPath !== undefined) return decoded(inPath)
  if (body.length === 0) return null
  try {
    const { chat_id } = JSON.parse(new TextDecoder().decode(body)) as { chat_id?: unknown }
    return typeof chat_id === 'string' ? chat_id : null
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

/** Opened links are rare, and their ids are unique. */
function fileOwner({ target }: ApiRequest, owners: Owners): PlatformSimulator | undefined {
  const id = pathOf(target).slice(FILES_PREFIX.length).split('/')[0]!
  return [...new Set(owners.values())].find(sim => coreOf(sim).platform.state.files.has(id))
}
