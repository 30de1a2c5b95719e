/** Writes a request as code to copy that works when it is pasted: curl, fetch, and a test. */
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { EntryOf } from '../../../platform/journal/entry.ts'
import type { PlatformKeys } from '../../../server/control/routes/description.ts'

/** A call of the platform. The key is added when it is written as code. */
export interface CodeCall {
  readonly method: string
  readonly url: string
  readonly body: unknown
  readonly endpoint: EndpointId | null
  readonly botId: unknown
}

/** A request with all its headers and the text of its body. */
export interface CodeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The call of an entry, sent again to the server at `origin`. */
export function codeCallOf({ method, path, request: { body }, endpoint }: EntryOf<'api'>, origin: URL): CodeCall {
  const botId = typeof body === 'object' && body !== null && 'bot_id' in body ? body.bot_id : undefined
  return { method, url: new URL(path.slice(1), origin).href, body: body ?? undefined, endpoint, botId }
}

/** A bot of `keys.more` has a handover key of its own. */
export function keyFor(
  endpoint: EndpointId | null,
  botId: unknown,
  { api_key, bot_api_key, more }: PlatformKeys,
): string {
  if (endpoint === 'chat') return bot_api_key
  return more.find(one => one.bot_id === botId)?.api_key ?? api_key
}

/** `keys` is null for a simulator that has ended. */
export function requestOf({ method, url, body, endpoint, botId }: CodeCall, keys: PlatformKeys | null): CodeRequest {
  const headers = { authorization: `Bearer ${keys === null ? 'KEY' : keyFor(endpoint, botId, keys)}` }
  if (body === undefined) return { method, url, headers, body: undefined }
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The client sets these itself. */
const CONNECTION_HEADERS = /^(host|connection|content-length|transfer-encoding)$/i

/** A delivery with the bytes and the headers that were sent. Null when it was not sent. */
export function sentRequest({ url, request }: EntryOf<'delivery'>): CodeRequest | null {
  if (url === null) return null
  const headers = Object.entries(request.headers).filter(([name]) => !CONNECTION_HEADERS.test(name))
  return { method: 'POST', url, headers: Object.fromEntries(headers), body: request.body }
}

export const LANGUAGES = ['curl', 'fetch', 'test'] as const
export type SnippetLanguage = (typeof LANGUAGES)[number]

export function snippet(language: SnippetLanguage, request: CodeRequest): string {
  if (language === 'curl') return curl(request)
  const { method, url, headers, body } = request
  const options = JSON.stringify({ method, headers, body }, null, 2)
  const call = `await fetch(${JSON.stringify(url)}, ${options})`
  if (language === 'fetch') return `const response = ${call}\nconsole.log(response.status, await response.text())`
  const lines = [`const response = ${call}`, 'expect(response.status).toBe(200)'].join('\n').replaceAll('\n', '\n  ')
  const title = JSON.stringify(`${method} ${new URL(url).pathname} answers 200`)
  return `import { expect, it } from 'vitest'\n\nit(${title}, async () => {\n  ${lines}\n})`
}

function curl({ method, url, headers, body }: CodeRequest): string {
  const parts = [`curl -s -X ${method} ${quoted(url)}`]
  for (const [name, value] of Object.entries(headers)) parts.push(`  -H ${quoted(`${name}: ${value}`)}`)
  // As it is: `-d` would remove line breaks.
  if (body !== undefined) parts.push(`  --data-binary ${quoted(body)}`)
  return parts.join(' \\\n')
}

/** A word of a command, with quotes where it needs them. */
export const shellWord = (text: string): string =>
  /^[\w./:][\w./:=@+-]*$/.test(text) || text.startsWith('--') ? text : quoted(text)

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
