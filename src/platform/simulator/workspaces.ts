/** Creates, finds and closes the workspaces of a server: separate simulators behind one port. */

import { hashWords, makeId } from '../../base/runtime/random.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import { keyIn, keyRoles } from '../api/access.ts'
import { pathOf } from '../api/call.ts'
import { FILES_PREFIX } from '../api/files.ts'
import type { Api } from '../api/handle.ts'
import type { ApiRequest } from '../api/messages.ts'
import type { PlatformSimulatorOptions } from './options.ts'
import { invalidOption } from './options.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from './simulator.ts'

/** Another workspace has this name or key. */
export class WorkspaceConflictError extends Error {
  override readonly name = 'WorkspaceConflictError'
}

export interface Workspaces {
  readonly size: number
  /** Oldest first. */
  list(): PlatformWorkspace[]
  find(id: string): PlatformWorkspace | undefined
  /** Finds the workspace with this key or with a replaced key that still works. The default simulator is not a workspace. */
  byKey(key: string): PlatformWorkspace | undefined
  /** Throws `InvalidOptionError`, `WorkspaceConflictError`. */
  create(options?: PlatformWorkspaceOptions): PlatformWorkspace
  closeAll(): Promise<void>
}

interface ServerContext {
  /** The options of the server. */
  readonly options: PlatformSimulatorOptions
  /** Answers calls with keys of no workspace. */
  readonly main: PlatformSimulator
  readonly transport: Transport
  /** The address of the server. */
  url(): string
}

/** How many keys of closed workspaces are stored, so that an error can name the workspace. */
const MAX_CLOSED_KEYS = 1000

/** Names appear in paths and links, so they must not contain separators. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function createWorkspaces(server: ServerContext): Workspaces {
  const open = new Map<string, PlatformWorkspace>()
  /** The ids of closed workspaces by their keys. */
  const closedKeys = new Map<string, string>()
  let created = 0
  const { keyring } = coreOf(server.main).access

  const byKey = (key: string) => [...open.values()].find(workspace => coreOf(workspace).access.keyring.knows(key))

  function freeId(name: string | undefined): string {
    if (name === undefined) {
      do created++
      while (open.has(`ws-${created}`))
      return `ws-${created}`
    }
    if (!NAME.test(name)) {
      const rule = 'letters, digits, ".", "_" and "-", at most 64 and beginning with a letter or digit'
      throw invalidOption('name', `name must be ${rule}, got ${JSON.stringify(name)}.`)
    }
    if (!open.has(name)) return name
    throw new WorkspaceConflictError(
      `Workspace ${JSON.stringify(name)} already exists: close it first, or choose another name.`,
    )
  }

  function create({ name, ...options }: PlatformWorkspaceOptions = {}): PlatformWorkspace {
    const id = freeId(name)
    const sim = createPlatformSimulator(optionsFor(server, id, options), server.transport, `${id}~`)
    const keys = () => keyRoles(coreOf(sim).platform.knobs).map(({ key }) => key)
    for (const key of keys()) {
      const owner = byKey(key)?.id ?? (keyring.knows(key) ? 'the default simulator' : undefined)
      if (owner === undefined) continue
      void sim.close()
      throw new WorkspaceConflictError(`A key of this workspace already belongs to ${owner}.`)
    }

    // It accepts the hosts of the server. The keys that follow from seed and name are no secret.
    const { access, identity } = coreOf(server.main)
    const { apiKey, botApiKey } = createIdentity(identity.seed, id)
    Object.assign(coreOf(sim).access.callers, {
      ...access.callers,
      knownKeys: [...access.callers.knownKeys, apiKey, botApiKey],
    })

    const closing = new AbortController()
    const closeSimulator = sim.close
    const close = async () => {
      if (open.get(id) === workspace) {
        open.delete(id)
        for (const key of keys()) closedKeys.set(key, id)
        for (const key of closedKeys.keys()) if (closedKeys.size > MAX_CLOSED_KEYS) closedKeys.delete(key)
      }
      closing.abort()
      await closeSimulator()
    }
    // The simulator object itself gets the fields of a workspace, so that its getters stay live.
    const url = server.url()
    const control = `${url}/_sim/workspaces/${encodeURIComponent(id)}`
    const fields = { id, name: name ?? null, url, control, closing: closing.signal }
    const workspace = Object.assign(sim, { ...fields, close, [Symbol.asyncDispose]: close })
    open.set(id, workspace)
    for (const key of keys()) closedKeys.delete(key)
    return workspace
  }

  keyring.setUnknownKeyExplainer(key => {
    const id = closedKeys.get(key)
    return id === undefined ? null : `The API key belonged to the workspace ${JSON.stringify(id)}, which is closed.`
  })

  return {
    get size() {
      return open.size
    },
    list: () => [...open.values()],
    find: id => open.get(id),
    byKey,
    create,
    async closeAll() {
      await Promise.all([...open.values()].map(workspace => workspace.close()))
    },
  }
}

/** Workspaces inherit no keys and no webhook, otherwise events of one test would arrive at another. */
function optionsFor(
  { options, main }: ServerContext,
  id: string,
  given: Omit<PlatformWorkspaceOptions, 'name'>,
): PlatformSimulatorOptions {
  const { webhook: _, knobs = {}, bot, ...inherited } = options
  const { apiKey, botApiKey, botId, seed } = createIdentity(coreOf(main).identity.seed, id)
  const keys = { 'keys.handover': apiKey, 'keys.bot': botApiKey, 'keys.more': 'off' } as const
  return {
    ...inherited,
    seed,
    ...given,
    baseUrl: main.baseUrl,
    bot: { ...bot, id: botId, ...given.bot },
    knobs: { ...knobs, ...keys, ...given.knobs },
  }
}

const FIRST_BOT = 100_000
const BOTS = 900_000

/** Depends only on seed and name, not on other workspaces. */
function createIdentity(serverSeed: number, id: string) {
  const [words] = hashWords(`workspace ${id}`, serverSeed)
  return {
    apiKey: `sim-${makeId('hex24', serverSeed, `workspace ${id} handover key`)}`,
    botApiKey: `sim-${makeId('hex24', serverSeed, `workspace ${id} bot key`)}`,
    botId: FIRST_BOT + (words % BOTS),
    seed: words,
  }
}

/** Missing options default to those of the server, except keys, bot id, seed and webhook. */
export interface PlatformWorkspaceOptions extends Omit<PlatformSimulatorOptions, 'baseUrl'> {
  /** Determines keys, bot id and seed. */
  readonly name?: string
}

export interface PlatformWorkspace extends PlatformSimulator {
  readonly id: string
  /** Null if the workspace was created without a name. */
  readonly name: string | null
  /** The address of its server. */
  readonly url: string
  /** The base URL of its control API. */
  readonly control: string
  /** Aborts when the workspace is closed. */
  readonly closing: AbortSignal
}

/** Answers all calls by one simulator. */
export function singleRouter(simulator: PlatformSimulator): RequestRouter {
  const { api, platform } = coreOf(simulator)
  return { api, bodyLimit: () => platform.knobs['limits.body'] }
}

/** Answers the paths of the platform. */
export interface RequestRouter {
  readonly api: Api
  /** The maximum length of a request body, in bytes. */
  bodyLimit(): number
}

/** `rest` answers calls that belong to no workspace: those without a key or with an unknown one. */
export function createRequestRouter(workspaces: Workspaces, rest: RequestRouter): RequestRouter {
  const api: Api = request => {
    if (workspaces.size === 0) return rest.api(request)
    const workspace = ownerOf(workspaces, request)
    if (workspace === undefined) return rest.api(within(rest.bodyLimit(), request))
    return coreOf(workspace).api(within(limitOf(workspace), request))
  }
  return {
    api,
    bodyLimit: () =>
      workspaces.size === 0 ? rest.bodyLimit() : Math.max(rest.bodyLimit(), ...workspaces.list().map(limitOf)),
  }
}

/** Returns the maximum length of a request body of a simulator, in bytes. */
export const limitOf = (sim: PlatformSimulator): number => coreOf(sim).platform.knobs['limits.body']

/** Applies the limit of one simulator, because the server reads up to the largest limit of all. */
const within = (limit: number, request: ApiRequest): ApiRequest =>
  request.body.length > limit ? { ...request, tooLarge: true } : request

const FILE_OF = /^([^/~]+)~/

function ownerOf(workspaces: Workspaces, { target, headers }: ApiRequest) {
  const path = pathOf(target)
  if (path.startsWith(FILES_PREFIX)) {
    const id = FILE_OF.exec(path.slice(FILES_PREFIX.length))?.[1]
    return id === undefined ? undefined : workspaces.find(id)
  }
  const key = keyIn(headers.authorization)
  return key === null ? undefined : workspaces.byKey(key)
}
