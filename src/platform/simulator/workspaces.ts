/** Creates, finds and closes the workspaces of a server: separate simulators behind one port. */

import { hashWords, makeId } from '../../base/runtime/random.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import { keyIn, keyRoles } from '../api/access.ts'
import { pathOf } from '../api/call.ts'
import { FILES_PREFIX } from '../api/files.ts'
import type { Api } from '../api/handle.ts'
import type { ApiRequest } from '../api/messages.ts'
import { invalidOption } from './options.ts'
import type { PlatformSimulatorOptions } from './platform-options.ts'
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

export function createWorkspaces(server: ServerContext): Workspaces {
  const open = new Map<string, PlatformWorkspace>()
  const keys = createKeyIndex(open)
  let created = 0

  function freeId(name: string | undefined): string {
    if (name === undefined) {
      do created++
      while (open.has(`ws-${created}`))
      return `ws-${created}`
    }
    if (!NAME.test(name)) throw invalidOption('name', badName(name))
    if (!open.has(name)) return name
    throw new WorkspaceConflictError(
      `Workspace ${JSON.stringify(name)} already exists: close it first, or choose another name.`,
    )
  }

  function checkKeys(sim: PlatformSimulator): void {
    for (const key of keysOf(sim)) {
      const owner = keys.find(key)?.id ?? (knows(server.main, key) ? 'the default simulator' : undefined)
      if (owner !== undefined) throw new WorkspaceConflictError(`A key of this workspace already belongs to ${owner}.`)
    }
  }

  function create({ name, ...options }: PlatformWorkspaceOptions = {}): PlatformWorkspace {
    const id = freeId(name)
    const sim = createPlatformSimulator(optionsFor(server, id, options), server.transport, `${id}~`)
    try {
      checkKeys(sim)
    } catch (error) {
      void sim.close()
      throw error
    }
    useCallerRules(server.main, sim, id)
    const workspace = addWorkspaceFields(sim, { id, name: name ?? null, url: server.url() }, () => {
      if (open.get(id) !== workspace) return
      open.delete(id)
      keys.close(id, sim)
    })
    open.set(id, workspace)
    keys.open(sim)
    return workspace
  }

  coreOf(server.main).keyring.setUnknownKeyExplainer(keys.describeClosed)

  return {
    get size() {
      return open.size
    },
    list: () => [...open.values()],
    find: id => open.get(id),
    byKey: keys.find,
    create,
    async closeAll() {
      await Promise.all([...open.values()].map(one => one.close()))
    },
  }
}

/** Accepts the hosts of the server. The keys that follow from seed and name are no secret. */
function useCallerRules(main: PlatformSimulator, sim: PlatformSimulator, id: string): void {
  const { callers, identity } = coreOf(main)
  const { apiKey, botApiKey } = identityOf(identity.seed, id)
  Object.assign(coreOf(sim).callers, { ...callers, knownKeys: [...callers.knownKeys, apiKey, botApiKey] })
}

/** Adds the fields of a workspace to the simulator object itself, so that its getters stay live. */
function addWorkspaceFields(
  sim: PlatformSimulator,
  fields: Pick<PlatformWorkspace, 'id' | 'name' | 'url'>,
  onClose: () => void,
): PlatformWorkspace {
  const closing = new AbortController()
  const closeSimulator = sim.close
  const close = async () => {
    onClose()
    closing.abort()
    await closeSimulator()
  }
  const control = `${fields.url}/_sim/workspaces/${encodeURIComponent(fields.id)}`
  return Object.assign(sim, { ...fields, control, closing: closing.signal, close, [Symbol.asyncDispose]: close })
}

/** Finds open workspaces by key, and remembers the keys of closed ones for error messages. */
function createKeyIndex(open: ReadonlyMap<string, PlatformWorkspace>) {
  const lastFound = new Map<string, PlatformWorkspace>()
  const closedKeys = new Map<string, string>()
  return {
    find(key: string): PlatformWorkspace | undefined {
      const last = lastFound.get(key)
      if (last !== undefined && knows(last, key)) return last
      lastFound.delete(key)
      const found = [...open.values()].find(one => knows(one, key))
      if (found !== undefined) lastFound.set(key, found)
      return found
    },
    open(sim: PlatformSimulator): void {
      for (const key of keysOf(sim)) closedKeys.delete(key)
    },
    close(id: string, sim: PlatformSimulator): void {
      for (const key of keysOf(sim)) {
        lastFound.delete(key)
        closedKeys.set(key, id)
      }
      for (const key of closedKeys.keys()) {
        if (closedKeys.size <= MAX_CLOSED_KEYS) return
        closedKeys.delete(key)
      }
    },
    describeClosed(key: string): string | null {
      const id = closedKeys.get(key)
      return id === undefined ? null : `The API key belonged to the workspace ${JSON.stringify(id)}, which is closed.`
    },
  }
}

const badName = (name: string) =>
  `name must be letters, digits, ".", "_" and "-", at most 64 and beginning with a letter or digit, got ${JSON.stringify(name)}.`

const knows = (sim: PlatformSimulator, key: string): boolean => coreOf(sim).keyring.knows(key)

const keysOf = (sim: PlatformSimulator): string[] => keyRoles(coreOf(sim).platform.knobs).map(({ key }) => key)

/** Workspaces inherit no keys and no webhook, otherwise events of one test would arrive at another. */
function optionsFor(
  { options, main }: ServerContext,
  id: string,
  own: Omit<PlatformWorkspaceOptions, 'name'>,
): PlatformSimulatorOptions {
  const { webhook: _, knobs = {}, bot, ...inherited } = options
  const { apiKey, botApiKey, botId, seed } = identityOf(coreOf(main).identity.seed, id)
  const keys = { 'keys.handover': apiKey, 'keys.bot': botApiKey, 'keys.more': 'off' } as const
  return {
    ...inherited,
    seed,
    ...own,
    baseUrl: main.baseUrl,
    bot: { ...bot, id: botId, ...own.bot },
    knobs: { ...knobs, ...keys, ...own.knobs },
  }
}

/** Names appear in paths and links, so they must not contain separators. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const FIRST_BOT = 100_000
const BOTS = 900_000

/** Depends only on seed and name, not on other workspaces. */
function identityOf(serverSeed: number, id: string) {
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

/** Answers the paths of the platform. */
export interface RequestRouter {
  readonly api: Api
  /** The maximum length of a request body, in bytes. */
  bodyLimit(): number
}

/** `rest` answers calls that belong to no workspace: those without a key or with an unknown one. */
export function createRequestRouter(workspaces: Workspaces, rest: RequestRouter): RequestRouter {
  const api: Api = request => {
    const found = workspaces.size === 0 ? undefined : ownerOf(workspaces, request)
    if (found === undefined) return rest.api(within(rest.bodyLimit(), request))
    return found.handle(within(limitOf(found), request))
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
