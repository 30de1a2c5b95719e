/** Routes platform calls to a workspace by their API key, and file links by the name in them. */

import { FILES_PREFIX } from '../../api/files.ts'
import type { Api } from '../../api/handle.ts'
import { keyIn } from '../../api/keyring.ts'
import type { ApiRequest } from '../../api/messages.ts'
import { pathOf } from '../../api/routes.ts'
import { coreOf, type PlatformSimulator } from '../simulator.ts'
import type { Workspaces } from './registry.ts'

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
  return { api, bodyLimit: () => widest(workspaces, rest) }
}

/** Returns the maximum length of a request body of a simulator, in bytes. */
export const limitOf = (sim: PlatformSimulator): number => coreOf(sim).platform.knobs['limits.body']

const widest = (workspaces: Workspaces, rest: RequestRouter): number =>
  workspaces.size === 0 ? rest.bodyLimit() : Math.max(rest.bodyLimit(), ...workspaces.list().map(limitOf))

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
