/** Calls of the platform find their workspace: by the key the app sends anyway, files by the name in their link. */
import type { Exchange } from '../api/exchange.ts'
import { FILES_PREFIX } from '../api/files.ts'
import type { Api } from '../api/handle.ts'
import { keyIn } from '../api/keyring.ts'
import { pathOf } from '../api/routes.ts'
import { coreOf, type Simulator } from '../simulator.ts'
import type { Workspaces } from './registry.ts'

/** What stands behind the platform's paths. */
export interface Front {
  readonly api: Api
  /** The longest body read, in bytes. */
  bodyLimit(): number
}

/** `rest` answers what belongs to no workspace: unknown keys, calls without one. */
export function frontOf(workspaces: Workspaces, rest: Front): Front {
  const api: Api = exchange => {
    const found = workspaces.size === 0 ? undefined : ownerOf(workspaces, exchange)
    if (found === undefined) return rest.api(within(rest.bodyLimit(), exchange))
    return found.handle(within(limitOf(found), exchange))
  }
  return { api, bodyLimit: () => widest(workspaces, rest) }
}

/** The longest body a simulator reads, in bytes. */
export const limitOf = (sim: Simulator): number => coreOf(sim).room.knobs['limits.body']

const widest = (workspaces: Workspaces, rest: Front): number =>
  workspaces.size === 0 ? rest.bodyLimit() : Math.max(rest.bodyLimit(), ...workspaces.list().map(limitOf))

/** The door read as much as any of them takes. */
const within = (limit: number, exchange: Exchange): Exchange =>
  exchange.body.length > limit ? { ...exchange, tooLarge: true } : exchange

const FILE_OF = /^([^/~]+)~/

function ownerOf(workspaces: Workspaces, { target, headers }: Exchange) {
  const path = pathOf(target)
  if (path.startsWith(FILES_PREFIX)) {
    const id = FILE_OF.exec(path.slice(FILES_PREFIX.length))?.[1]
    return id === undefined ? undefined : workspaces.find(id)
  }
  const key = keyIn(headers.authorization)
  return key === null ? undefined : workspaces.byKey(key)
}
