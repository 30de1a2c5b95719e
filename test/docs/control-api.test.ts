/** docs/control-api.md and the routes there really are. */
import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/contract/endpoints.ts'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import { startServer } from '../../src/server/start.ts'
import { blocks, hasShell, inlineCode, PAGES, read, rows, runInShell } from './pages.ts'

const PAGE = read('docs/control-api.md')

interface Parameter {
  readonly name: string
  readonly in: string
}
type Operation = { readonly parameters?: readonly Parameter[] }
const paths = controlOpenApi().paths as Record<string, Record<string, Operation>>
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    query: (operation.parameters ?? []).filter(one => one.in === 'query').map(one => one.name),
  })),
)
const told = rows(PAGE.split('\n## ')[0]!).slice(1)
const routeOf = ([cell = '']: string[]) => cell.replaceAll('`', '')

/** Told by one sentence instead of a row each. */
const BELOW = '/_sim/workspaces/:workspace/'
const own = routes.filter(({ route }) => !route.includes(BELOW))

it('lists the routes of the OpenAPI document, and no others', () => {
  expect(told.map(routeOf).sort()).toEqual(own.map(({ route }) => route).sort())
})

it('says which of them each workspace has', () => {
  const [, first = '', last = ''] = /Every route from `([^`]+)` to `([^`]+)` is there once more/.exec(PAGE)!
  const listed = told.map(routeOf)
  const named = listed.slice(listed.indexOf(first), listed.indexOf(last) + 1)
  const twins = routes.map(({ route }) => route).filter(route => route.includes(BELOW))
  expect(twins.map(route => route.replace(BELOW, '/_sim/')).sort()).toEqual([...named].sort())
})

it('names their query', () => {
  for (const { route, query } of own) {
    const asked = told.find(row => routeOf(row) === route)![1]!
    const names = [...(/\?([\w=&]+)/.exec(asked)?.[1]?.matchAll(/(\w+)=/g) ?? [])].map(([, name]) => name)
    expect(names, route).toEqual(query)
  }
})

it.each(PAGES)('%s names only routes that exist', page => {
  const known = routes.map(({ route }) => route.split(' ')[1]!.replace(/:\w+/g, '[^/]+'))
  const text = read(page)
  const code = [...inlineCode(text), ...blocks(text, 'sh'), ...blocks(text, '')].join('\n')
  const named = [...code.matchAll(/\/_sim[\w/:$.-]*/g)].map(([path]) => path)
  const unknown = named.filter(path => !known.some(one => new RegExp(`^${one}$`).test(path)))
  expect(unknown).toEqual([])
})

it('lists the endpoints that can be waited for', () => {
  const code = inlineCode(PAGE)
  for (const id of Object.keys(ENDPOINTS)) expect(code).toContain(id)
})

it.skipIf(!hasShell)('its first command waits for a call that was made (needs bash and curl)', async () => {
  await using server = await startServer({ port: 0 })
  const chat = await server.chat()
  const body = JSON.stringify({ bot_id: server.botId, chat_id: chat.id })
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST', headers, body })
  const { code, stdout } = await runInShell(blocks(PAGE, 'sh')[0]!, { SIM: server.url, CHAT: chat.id })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'api', endpoint: 'start', status: 200, chat_id: chat.id })
})
