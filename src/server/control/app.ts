/** The control API as a listener of `node:http`: hono routes over the table, guarded, with one form of error. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { INTERNAL_HEADER } from '../../contract/errors.ts'
import { coreOf, type PlatformSimulator } from '../../simulator/simulator.ts'
import type { Workspaces } from '../../simulator/workspaces/registry.ts'
import { nearest } from '../../text/near-names.ts'
import { type Access, refusedAccess } from './access.ts'
import { asProblem, ControlProblem, problemBody } from './problems.ts'
import { readBody, readQuery } from './request.ts'
import type { Call, Reply, Route, SimulatorRouter } from './route.ts'
import { BELOW, PREFIX, ROUTES, routeLines } from './routes.ts'

export interface ControlOptions extends Access {
  readonly simulator: PlatformSimulator
  readonly workspaces: Workspaces
  readonly url: string
  readonly closing: AbortSignal
}

type Bindings = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }

export function createControlListener(options: ControlOptions) {
  const { simulator, workspaces, url, closing } = options
  const house = { simulator, core: coreOf(simulator), workspaces, url, control: url + PREFIX, closing }
  const app = createControlApp(house, options)
  // Replacing the global Request and Response would reach into the program this server is part of.
  return getRequestListener(app.fetch, { overrideGlobalObjects: false })
}

function createControlApp(house: SimulatorRouter, guard: Access): Hono<Bindings> {
  const app = new Hono<Bindings>({ strict: false })
  app.onError((error, context) => failed(error, context))
  app.use(async (context, next) => {
    const refusal = refusedAccess(guard, asking(context))
    if (refusal !== null) throw refusal
    await next()
  })
  for (const route of ROUTES) app.on(route.method, PREFIX + route.path, context => answered(route, house, context))
  app.notFound(context => failed(unknownRoute(context.req.method, new URL(context.req.url).pathname), context))
  return app
}

const asking = (context: Context) => ({
  host: new URL(context.req.url).host,
  header: (name: string) => context.req.header(name),
  open: ROUTES.some(({ open, path }) => open === true && PREFIX + path === context.req.path),
})

/** Refusals of the platform are no Errors, and hono takes care of Errors only. */
async function answered(route: Route, house: SimulatorRouter, context: Context): Promise<Response> {
  try {
    return toResponse(await run(route, house, context))
  } catch (thrown) {
    return failed(thrown, context)
  }
}

async function run(route: Route, house: SimulatorRouter, context: Context): Promise<Reply> {
  const { req } = context
  const query = readQuery(route, new URL(req.url))
  const body = req.method === 'GET' || req.method === 'HEAD' ? undefined : await readBody(route, req.raw)
  const signal = AbortSignal.any([req.raw.signal, house.closing])
  const call: Call<unknown, unknown> = {
    ...house,
    params: req.param() as Record<string, string>,
    query,
    body,
    header: name => req.header(name),
    signal,
  }
  return route.run(call as Call<never, never>)
}

/** No page elsewhere may read an answer, no cache may keep one. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...HEADERS, ...headers },
  })

function toResponse(reply: Reply): Response {
  if (!(reply instanceof Response)) return json(reply.status, reply.body)
  for (const [name, value] of Object.entries(HEADERS)) reply.headers.set(name, value)
  return reply
}

function failed(thrown: unknown, context: Context): Response {
  const problem = asProblem(thrown)
  if (problem !== null) return json(problem.status, problemBody(problem), problem.headers)
  const where = `${context.req.method} ${context.req.path}`
  const why = thrown instanceof Error ? thrown.message : String(thrown)
  const message = `A fault of handover-sim in ${where}: ${why}. Please report it with this text.`
  return json(500, { error: { code: 'internal_error', message } }, { [INTERNAL_HEADER]: '1' })
}

/** A path with other methods is 405, any other one 404 with everything there is. */
function unknownRoute(method: string, path: string): ControlProblem {
  const methods = ROUTES.filter(route => patternOf(route).test(path)).map(route => route.method)
  if (methods.length > 0) {
    const allow = [...new Set(methods)].join(', ')
    const message = `${path} takes ${allow}, got ${method}.`
    return new ControlProblem(405, 'method_not_allowed', message, { headers: { allow } })
  }
  const below = path.slice(PREFIX.length)
  const paths = ROUTES.map(route => route.path)
  const near = nearest(below, paths).replace('mean ', `mean ${PREFIX}`) || '.'
  return new ControlProblem(
    404,
    'route_not_found',
    `There is no ${path}${near} Routes: ${routeLines().join(', ')}; most of them also below ${PREFIX}${BELOW}.`,
  )
}

const patternOf = ({ path }: Route) => new RegExp(`^${PREFIX}${path.replace(/:[a-z]+/g, '[^/]+')}/?$`)
