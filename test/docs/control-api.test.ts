/** Compares docs/reference/control-api.md with the routes of the control API. */

import { expect, it } from 'vitest'
import { createRedactor } from '../../src/base/text/redactor.ts'
import { startSimulator } from '../../src/index.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { uiRoutes } from '../../src/running/ui-mode/routes.ts'
import { createSavedSession } from '../../src/running/ui-mode/session.ts'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import { ranOf } from '../scenario/journal-builder.ts'
import { blocks, hasShell, inlineCode, PAGES, read, rows, runInShell } from './pages.ts'

const PAGE = read('docs/reference/control-api.md')

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
const documented = rows(PAGE.split('\n## ')[0]!).slice(1)
const routeOf = ([cell = '']: string[]) => cell.replaceAll('`', '')

/** One sentence of the page describes these routes instead of one row each. */
const BELOW = '/_sim/workspaces/:workspace/'
const own = routes.filter(({ route }) => !route.includes(BELOW))

it('lists exactly the routes of the OpenAPI document', () => {
  expect(documented.map(routeOf).sort()).toEqual(own.map(({ route }) => route).sort())
})

it('lists the routes that each workspace has', () => {
  const [, first = '', last = ''] = /Every route from `([^`]+)` to `([^`]+)` also exists for each workspace/.exec(PAGE)!
  const listed = documented.map(routeOf)
  const named = listed.slice(listed.indexOf(first), listed.indexOf(last) + 1)
  const ofWorkspaces = routes.map(({ route }) => route).filter(route => route.includes(BELOW))
  expect(ofWorkspaces.map(route => route.replace(BELOW, '/_sim/')).sort()).toEqual([...named].sort())
})

/** The routes that only the page of UI mode uses begin so. */
const [, PRIVATE = ''] = /The routes under `(\S+)` serve the page of \[UI mode\]/.exec(PAGE)!

it('names the routes that are private to the page of UI mode, which the OpenAPI document does not have', () => {
  const secrets = createRedactor()
  const session = createSavedSession(ranOf([]), [], secrets, () => undefined)
  const paths = uiRoutes(session, secrets).map(({ path }) => `/_sim${path}`)
  expect(paths).toContain(PRIVATE)
  expect(paths.filter(path => path !== PRIVATE && !path.startsWith(`${PRIVATE}/`))).toEqual([])
  expect(routes.filter(({ route }) => route.includes(PRIVATE))).toEqual([])
})

it.each(PAGES)('%s names only routes that exist', page => {
  const known = routes.map(({ route }) => route.split(' ')[1]!.replace(/:\w+/g, '[^/]+'))
  const text = read(page)
  const code = [...inlineCode(text), ...blocks(text, 'sh'), ...blocks(text, '')].join('\n')
  const named = [...code.matchAll(/\/_sim[\w/:$.-]*/g)].map(([path]) => path)
  const unknown = named.filter(path => path !== PRIVATE && !known.some(one => new RegExp(`^${one}$`).test(path)))
  expect(unknown).toEqual([])
})

it('lists the endpoints that the wait route accepts', () => {
  const code = inlineCode(PAGE)
  for (const id of Object.keys(ENDPOINTS)) expect(code).toContain(id)
})

it.skipIf(!hasShell)('its first command returns a call (needs bash and curl)', async () => {
  await using server = await startSimulator({ port: 0 })
  const chat = await server.chat()
  const body = JSON.stringify({ bot_id: server.botId, chat_id: chat.id })
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST', headers, body })
  const { code, stdout } = await runInShell(blocks(PAGE, 'sh')[0]!, { SIM: server.url, CHAT: chat.id })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'api', endpoint: 'start', status: 200, chat_id: chat.id })
})
