/** Writes a call as code to copy: curl, fetch and Python. The key stays in a variable. */
import type { EntryOf } from '../../../platform/journal/entry.ts'

export interface CodeCall {
  readonly method: string
  readonly url: string
  readonly body: unknown
  /** The variable of the environment that has the key. */
  readonly keyVariable: 'HANDOVER_SIM_API_KEY' | 'HANDOVER_SIM_BOT_API_KEY'
}

/** The call of an entry, sent again to the server at `origin`. */
export function codeCallOf({ method, path, request, endpoint }: EntryOf<'api'>, origin: URL): CodeCall {
  const { body } = request
  const keyVariable = endpoint === 'chat' ? 'HANDOVER_SIM_BOT_API_KEY' : 'HANDOVER_SIM_API_KEY'
  return { method, url: new URL(path.slice(1), origin).href, body: body ?? undefined, keyVariable }
}

export const LANGUAGES = ['curl', 'fetch', 'Python'] as const
export type SnippetLanguage = (typeof LANGUAGES)[number]

/**
 * A call in one of the languages.
 *
 * @example
 * snippet('curl', { method: 'POST', url, body: { bot_id: 1042, chat_id }, keyVariable: 'HANDOVER_SIM_API_KEY' })
 */
export function snippet(language: SnippetLanguage, call: CodeCall): string {
  if (language === 'curl') {
    const { method, url, body, keyVariable } = call
    const parts = [`curl -s -X ${method} ${quoted(url)}`, `  -H "authorization: Bearer $${keyVariable}"`]
    if (body !== undefined) parts.push(`  -H 'content-type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`)
    return parts.join(' \\\n')
  }
  return language === 'fetch' ? fetchCall(call) : python(call)
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function fetchCall({ method, url, body, keyVariable }: CodeCall): string {
  const key = `authorization: \`Bearer \${process.env.${keyVariable}}\``
  const headers = body === undefined ? key : `${key}, 'content-type': 'application/json'`
  const lines = [
    `await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    `  headers: { ${headers} },`,
  ]
  if (body !== undefined)
    lines.push(`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`)
  return [...lines, '})'].join('\n')
}

function python({ method, url, body, keyVariable }: CodeCall): string {
  const lines = ['import os, urllib.request', '', 'request = urllib.request.Request(', `    ${JSON.stringify(url)},`]
  lines.push(`    method=${JSON.stringify(method)},`)
  // A JSON text is also a string of Python when it is encoded as JSON once more.
  if (body !== undefined) lines.push(`    data=${JSON.stringify(JSON.stringify(body))}.encode(),`)
  const type = body === undefined ? '' : ', "content-type": "application/json"'
  lines.push(`    headers={"authorization": "Bearer " + os.environ["${keyVariable}"]${type}},`, ')')
  return [...lines, 'print(urllib.request.urlopen(request).read().decode())'].join('\n')
}
