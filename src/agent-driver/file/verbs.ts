/** Reads one verb of a driver file: an HTTP call or a command. */
import { parseDuration } from '../../text/duration.ts'
import { METHODS, type Method, type VerbSpec } from '../spec.ts'
import type { Action } from './schema.ts'
import { TEXTS } from './texts.ts'

/** The settings of the file that hold for all its verbs. */
export interface Defaults {
  /** The help desk's address, without a slash at the end; null when none was given. */
  readonly http: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Commands of a driver that came over the network are not run. */
  readonly commands: boolean
}

/** Reports a problem at a path below the verb. */
export type Report = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => void

export const millis = (text: string | undefined, otherwise: number): number => parseDuration(text) ?? otherwise

const KINDS = [...METHODS, 'exec'] as const

/** Null when something was reported. */
export function readAction(action: Action, defaults: Defaults, report: Report): VerbSpec | null {
  const kinds = KINDS.filter(kind => action[kind] !== undefined)
  const [kind, second] = kinds
  if (kind === undefined) report([], TEXTS.noAction(KINDS))
  else if (second !== undefined) report([second], TEXTS.twoActions(kind), 'key')
  else if (kind === 'exec') return readExec(action, defaults, report)
  else return readHttp(kind, action, defaults, report)
  return null
}

function readExec(action: Action, { timeoutMs, commands }: Defaults, report: Report): VerbSpec | null {
  const extra = (['json', 'headers'] as const).find(key => action[key] !== undefined)
  if (extra !== undefined) report([extra], TEXTS.onlyForCalls, 'key')
  else if (!commands) report(['exec'], TEXTS.remoteCommand, 'key')
  else return { kind: 'exec', command: action.exec!, timeoutMs: millis(action.timeout, timeoutMs) }
  return null
}

/** The host as it is, or a `$(...)` that stands for it, and the rest. */
const FULL = /^(https?:\/\/[^/?#]*|\$\([^()]*\))(.*)$/is

function readHttp(method: Method, action: Action, defaults: Defaults, report: Report): VerbSpec | null {
  const { timeout, headers, json } = action
  const address = addressOf(action[method]!, defaults, message => report([method], message))
  if (json !== undefined && method === 'GET') report(['json'], TEXTS.bodyOfGet, 'key')
  else if (address !== null) {
    const all = { ...defaults.headers, ...headers }
    return { kind: 'http', method, ...address, headers: all, json, timeoutMs: millis(timeout, defaults.timeoutMs) }
  }
  return null
}

function addressOf(written: string, { http }: Defaults, report: (message: string) => void) {
  const full = FULL.exec(written)
  if (full !== null) return { base: full[1]!, path: full[2]! }
  if (!written.startsWith('/')) report(TEXTS.noAddress(written))
  else if (http === null) report(TEXTS.noHelpDesk(written))
  else return { base: http, path: written }
  return null
}
