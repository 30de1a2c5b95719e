/** Serves the control API as a listener of `node:http`: checks access, runs the routes, and turns errors into one form of response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { sameSecret } from '../../base/runtime/node.ts'
import { messageOf, nearest } from '../../base/text/error-text.ts'
import { INTERNAL_HEADER } from '../../platform/contract/errors.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { type AllowedHosts, refusedHostText } from './addresses.ts'
import { asProblem, ControlProblem, problemBody, resetProblem } from './problems.ts'
import { readBody, readQuery } from './request.ts'
import type { ControlContext, ControlRequest, ControlResponse, ControlRoute } from './route.ts'
import { requireWorkspace } from './routes/workspaces.ts'
import { PREFIX, pathsOf, ROUTES, routesText } from './routes.ts'

export interface ControlOptions
  extends Access,
    Pick<
      ControlContext,
      'simulator' | 'workspaces' | 'url' | 'closing' | 'onStopRequested' | 'agent' | 'loadRecorder'
    > {
  /** Routes beside those of every server. */
  readonly routes: readonly ControlRoute[]
}

type Bindings = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }

export function createControlListener(options: ControlOptions) {
  const { simulator, workspaces, url, closing, onStopRequested, agent, loadRecorder } = options
  const control: ControlContext = {
    ...{ simulator, core: coreOf(simulator), workspaces, url, control: url + PREFIX, closing, streams: { count: 0 } },
    ...{ onStopRequested, agent, loadRecorder },
    async openApi() {
      const { controlOpenApi } = await import('./openapi.ts')
      return controlOpenApi({ url })
    },
  }
  const app = createControlApp(control, options, [...ROUTES, ...options.routes])
  // The global Request and Response stay: this server may be part of another program.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (URL.canParse(`http://${request.headers.host}`)) void listener(request, response)
    else {
      // Hono builds a URL from the `Host` header, which is impossible for some values.
      const message = `The header Host must be a host name or an address with an optional port, got ${JSON.stringify(request.headers.host ?? null)}.`
      const body = JSON.stringify(problemBody(new ControlProblem(400, 'invalid_host', message)))
      request.resume()
      response.writeHead(400, { ...JSON_TYPE, ...HEADERS, connection: 'close' }).end(body)
    }
  }
}

function createControlApp(control: ControlContext, access: Access, routes: readonly ControlRoute[]): Hono<Bindings> {
  const app = new Hono<Bindings>({ strict: false })
  app.onError((error, context) => errorResponse(error, context, control))
  app.use(async (context, next) => {
    const host = new URL(context.req.url).host
    const open = routes.some(route => route.open === true && PREFIX + route.path === context.req.path)
    const refusal = refusedAccess(access, { host, header: name => context.req.header(name), open })
    if (refusal !== null) throw refusal
    await next()
  })
  const methods = new Map<string, string[]>()
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      const isOfWorkspace = path !== PREFIX + route.path
      app.on(route.method, path, context => runRoute(route, control, context, isOfWorkspace))
      methods.set(path, [...(methods.get(path) ?? []), route.method])
    }
  }
  for (const [path, known] of methods) {
    app.all(path, ({ req }) => {
      const allow = known.join(', ')
      const message = `${req.path} takes ${allow}, got ${req.method}.`
      throw new ControlProblem(405, 'method_not_allowed', message, { headers: { allow } })
    })
  }
  app.notFound(context => {
    const { path } = context.req
    const near = nearest(path, [...methods.keys()]) || '.'
    const message = `There is no ${path}${near} ${routesText()}`
    return errorResponse(new ControlProblem(404, 'route_not_found', message), context, control)
  })
  return app
}

/** Catches refusals of the platform as well: they are not Errors, and hono handles only Errors. */
async function runRoute(
  route: ControlRoute,
  control: ControlContext,
  context: Context,
  isOfWorkspace: boolean,
): Promise<Response> {
  const { epoch } = coreFor(control, context)
  const begun = epoch.count
  try {
    const { req } = context
    const query = readQuery(route, new URL(req.url))
    const body = req.method === 'GET' || req.method === 'HEAD' ? undefined : await readBody(route, req.raw)
    const parts = isOfWorkspace ? inWorkspace(control, req.param('workspace') ?? '') : control
    const call: ControlRequest<unknown, unknown> = {
      ...parts,
      param: name => req.param(name) ?? '',
      query,
      body,
      header: name => req.header(name),
      signal: AbortSignal.any([req.raw.signal, parts.closing]),
    }
    return toResponse(await route.run(call as ControlRequest<never, never>), context, control)
  } catch (thrown) {
    const wasReset = asProblem(thrown) === null && epoch.count !== begun
    return errorResponse(wasReset ? resetProblem() : thrown, context, control)
  }
}

/** The simulator that a request is for: a workspace, or the main one. */
function coreFor({ core, workspaces }: ControlContext, context: Context): Core {
  const workspace = workspaces.find(context.req.param('workspace') ?? '')
  return workspace === undefined ? core : coreOf(workspace)
}

/** What a route of one simulator has access to below a workspace. */
function inWorkspace(control: ControlContext, id: string): ControlContext {
  const workspace = requireWorkspace(control, id)
  return {
    ...control,
    simulator: workspace,
    core: coreOf(workspace),
    agent: () => null,
    control: workspace.control,
    closing: AbortSignal.any([control.closing, workspace.closing]),
  }
}

/** Caches must not store responses, and browsers must not guess their type. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...JSON_TYPE, ...HEADERS, ...headers } })

function toResponse(reply: ControlResponse, context: Context, control: ControlContext): Response {
  if (reply instanceof Response) {
    for (const [name, value] of Object.entries(HEADERS)) reply.headers.set(name, value)
    return reply
  }
  const { status, body } = reply
  return json(status, reply.withKeys ? body : withoutSecrets(body, context, control))
}

/** A body without the secrets of the server, and of the workspace that the path names. */
function withoutSecrets(body: unknown, context: Context, control: ControlContext): unknown {
  const { secrets } = coreFor(control, context)
  return control.core.secrets.redactDeep(secrets.redactDeep(body))
}

function errorResponse(thrown: unknown, context: Context, control: ControlContext): Response {
  const problem = asProblem(thrown)
  if (problem !== null)
    return json(problem.status, withoutSecrets(problemBody(problem), context, control), problem.headers)
  const where = `${context.req.method} ${context.req.path}`
  const why = messageOf(thrown)
  const message = `Internal error of handover-sim in ${where}: ${why}. Please report it with this text.`
  const body = withoutSecrets({ error: { code: 'internal_error', message } }, context, control)
  return json(500, body, { [INTERNAL_HEADER]: '1' })
}

export interface Access extends AllowedHosts {
  /** The origin of pages behind a proxy, beside that of the request's host; null when there is none. */
  readonly origin: string | null
}

export interface AccessRequest {
  /** Host and port as the client wrote them. */
  readonly host: string
  header(name: string): string | undefined
  /** Whether the route needs no token. */
  readonly open: boolean
}

/** Why the request is refused, or null when it is allowed. */
export function refusedAccess(access: Access, request: AccessRequest): ControlProblem | null {
  return foreignHost(access, request) ?? foreignPage(access, request) ?? withoutToken(access, request)
}

/** Detects DNS rebinding: a page of another site whose host name resolves to this machine sends that name as `Host`. */
function foreignHost(access: Access, { host }: AccessRequest): ControlProblem | null {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  if (access.hosts === null || access.hosts.includes(name)) return null
  return new ControlProblem(403, 'foreign_host', `The control API ${refusedHostText(host, access)}`)
}

function foreignPage(access: Access, { host, header }: AccessRequest): ControlProblem | null {
  const origin = header('origin')
  const site = header('sec-fetch-site')
  if (
    origin !== undefined &&
    origin !== access.origin &&
    !(URL.canParse(origin) && new URL(origin).host === host.toLowerCase().replace(/:80$/, ''))
  ) {
    return new ControlProblem(
      403,
      'foreign_origin',
      `The control API refuses requests of pages of ${JSON.stringify(origin)}.`,
    )
  }
  if (site !== 'cross-site') return null
  return new ControlProblem(403, 'foreign_origin', 'The control API refuses requests of pages of another site.')
}

function withoutToken({ token }: Access, { header, open }: AccessRequest): ControlProblem | null {
  if (token === null || open) return null
  const given = header('x-handover-sim-token') ?? /^Bearer +(\S+)$/i.exec(header('authorization') ?? '')?.[1]
  if (given !== undefined && sameSecret(given, token)) return null
  const message =
    'The control API needs its token: send the header Authorization: Bearer TOKEN. It is the value of --token or HANDOVER_SIM_TOKEN of `handover-sim start`; without them, controlToken in its ready line (--json) and ready file.'
  return new ControlProblem(401, 'token_required', message, { headers: { 'www-authenticate': 'Bearer' } })
}
