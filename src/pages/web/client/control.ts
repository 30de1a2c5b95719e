/** Calls the control API of the server that the page came from, and the platform's endpoints as an intermediary does. */
import { jsonOr } from '../../../base/objects.ts'

/** A field of a request, and what is wrong with it. */
export interface ControlIssue {
  readonly field: string
  readonly message: string
  readonly allowed?: string | readonly string[]
}

/** A refusal of the control API: what it says, and the fields it names. */
export class ControlError extends Error {
  readonly status: number
  readonly code: string
  readonly issues: readonly ControlIssue[]
  constructor(status: number, error: Pick<ControlError, 'code' | 'message'> & { issues?: ControlError['issues'] }) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.issues = error.issues ?? []
  }
}

export interface ClientRequest {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON, or as a form. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export interface ControlClient {
  /** The address of a route: `/chats` below `/_sim`, or below that of the workspace. */
  url(path: string, query?: ClientRequest['query']): string
  headers(): Record<string, string>
  /** Rejects with `ControlError`, or with `TypeError` when the server does not answer. */
  send<Body>(method: string, path: string, request?: ClientRequest): Promise<Body>
}

/** `workspace` is null for the default one. */
export function createControlClient(origin: URL, token: string | null, workspace: string | null): ControlClient {
  const base = workspace === null ? '_sim' : `_sim/workspaces/${encodeURIComponent(workspace)}`
  const headers = (): Record<string, string> => (token === null ? {} : { 'x-handover-sim-token': token })
  const url = (path: string, query: ClientRequest['query'] = {}) => {
    const target = new URL(base + path, origin)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) target.searchParams.set(name, String(value))
    return target.href
  }
  return {
    url,
    headers,
    async send(method, path, { query, body, signal } = {}) {
      const isForm = body instanceof FormData
      const response = await fetch(url(path, query), {
        method,
        headers: { ...headers(), ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      return readResponse(response)
    },
  }
}

async function readResponse<Body>(response: Response): Promise<Body> {
  const body = await response.json().catch(() => null)
  if (response.ok) return body
  const { status } = response
  throw new ControlError(
    status,
    body?.error ?? { code: 'no_json', message: `The server answered with status ${status}.` },
  )
}

/** A request of an intermediary, with a key of the platform. */
export interface PlatformRequest {
  readonly method: string
  readonly url: URL
  readonly key: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Recorded in the journal, so that the page finds the entry of the call. */
  readonly requestId: string
}

export interface PlatformResponse {
  readonly status: number
  /** A text when the answer is not JSON. */
  readonly body: unknown
}

/** Calls an endpoint of the platform. The answer may be a refusal. */
export async function callPlatform({ method, url, key, body, requestId }: PlatformRequest): Promise<PlatformResponse> {
  const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'x-request-id': requestId, ...json },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: jsonOr(text, text) }
}

/** Where the token is kept for this tab, so that the address does not have it after the first load. */
const KEY = 'handover-sim token'

/** The token of the fragment, or the one that was given before; null without one. */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given === null) return sessionStorage.getItem(KEY)
  keepToken(given)
  history.replaceState(null, '', location.pathname + location.search)
  return given
}

export const keepToken = (token: string): void => sessionStorage.setItem(KEY, token)
