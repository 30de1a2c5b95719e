/** One verb of a driver file: from what was written to what is done. */
import { parseDuration } from '../../text/duration.ts'
import { METHODS, type Method, type VerbSpec } from '../spec.ts'
import type { Action } from './schema.ts'

/** What the whole file says about its verbs. */
export interface Defaults {
  /** The help desk's address, without a slash at the end; null when none was given. */
  readonly http: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Commands of a driver that came over the network are not run. */
  readonly commands: boolean
}

/** Says what is wrong, at a path below the verb. */
export type Report = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => void

export const millis = (text: string | undefined, otherwise: number): number => parseDuration(text) ?? otherwise

const KINDS = [...METHODS, 'exec'] as const
const EXAMPLE = 'such as { POST: "/desk/$(chat.id)/accept" } or { exec: [./agent.sh, accept, $(chat.id)] }'

/** Null when something was reported. */
export function readAction(action: Action, defaults: Defaults, report: Report): VerbSpec | null {
  const kinds = KINDS.filter(kind => action[kind] !== undefined)
  const [kind, second] = kinds
  if (kind === undefined) report([], `needs one of ${KINDS.join(', ')}, or manual: ${EXAMPLE}`)
  else if (second !== undefined) report([second], `stands beside ${kind}; a verb is one call or one command`, 'key')
  else if (kind === 'exec') return readExec(action, defaults, report)
  else return readHttp(kind, action, defaults, report)
  return null
}

function readExec(action: Action, { timeoutMs, commands }: Defaults, report: Report): VerbSpec | null {
  const extra = (['json', 'headers'] as const).find(key => action[key] !== undefined)
  if (extra !== undefined) report([extra], 'is for calls; a command gets every field as JSON on stdin', 'key')
  else if (!commands) report(['exec'], 'is not run for a driver read from a URL; keep the driver in a file', 'key')
  else return { kind: 'exec', command: action.exec!, timeoutMs: millis(action.timeout, timeoutMs) }
  return null
}

/** The host as it is, or a `$(...)` that stands for it, and the rest. */
const FULL = /^(https?:\/\/[^/?#]*|\$\([^()]*\))(.*)$/is

function readHttp(method: Method, action: Action, defaults: Defaults, report: Report): VerbSpec | null {
  const { timeout, headers, json } = action
  const address = addressOf(action[method]!, defaults, message => report([method], message))
  if (json !== undefined && method === 'GET') report(['json'], 'cannot go with GET, which has no body', 'key')
  else if (address !== null) {
    const all = { ...defaults.headers, ...headers }
    return { kind: 'http', method, ...address, headers: all, json, timeoutMs: millis(timeout, defaults.timeoutMs) }
  }
  return null
}

function addressOf(written: string, { http }: Defaults, report: (message: string) => void) {
  const full = FULL.exec(written)
  if (full !== null) return { base: full[1]!, path: full[2]! }
  const got = `got ${JSON.stringify(written)}`
  if (!written.startsWith('/')) report(`must begin with / or be an http or https address, ${got}`)
  else if (http === null) report(`needs the help desk's address: write http: http://127.0.0.1:3100 at the top, ${got}`)
  else return { base: http, path: written }
  return null
}
