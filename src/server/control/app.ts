/** Serves the control API as a listener of `node:http`: checks access, runs the routes, and turns errors into one form of response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type * as z from 'zod/mini'
import { BUDGETS } from '../../base/files/budgets.ts'
import { createJsonMeter } from '../../base/nesting.ts'
import { nextMacrotask } from '../../base/runtime/clock.ts'
import { lazily } from '../../base/runtime/lazy.ts'
import { sameSecret } from '../../base/runtime/node.ts'
import { createSequence } from '../../base/runtime/sequence.ts'
import { shapeOf, typeOf } from '../../base/schemas/definitions.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { messageOf, nearest } from '../../base/text/error-text.ts'
import { findForeignCaller } from '../../platform/api/access.ts'
import { shortenedArrays } from '../../platform/api/body.ts'
import { INTERNAL_HEADER } from '../../platform/contract/errors.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { forwardedText, refusedHostText, type ServerCallers } from './callers.ts'
import { asProblem, ControlProblem, invalidRequest, problemBody, resetProblem } from './problems.ts'
import type { LoadReadiness, ReadinessServer } from './readiness.ts'
import type { ControlContext, ControlRequest, ControlResponse, ControlRoute } from './route.ts'
import { requireWorkspace } from './routes/workspaces.ts'
import { PREFIX, pathsOf, ROUTES, routesText } from './routes.ts'

export interface ControlOptions
  extends Pick<
    ControlContext,
    'simulator' | 'workspaces' | 'url' | 'closing' | 'onStopRequested' | 'agent' | 'loadRecorder' | 'proxy'
  > {
  readonly callers: ServerCallers
  readonly loadReadiness: LoadReadiness | undefined
  /** Routes the calls of the platform by another router from now on. */
  readonly routeCalls: ReadinessServer['routeCalls']
  /** Routes beside those of every server. */
  readonly routes: readonly ControlRoute[]
  /** Why a route is refused; null when it is not. */
  readonly refusedRoute: (route: ControlRoute) => ControlProblem | null
}

type Bindings = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }

export function createControlListener(options: ControlOptions) {
  const { simulator, workspaces, url, closing, onStopRequested, agent, loadRecorder } = options
  const { loadReadiness, routeCalls, proxy } = options
  const control: ControlContext = {
    ...{ simulator, core: coreOf(simulator), workspaces, url, control: url + PREFIX, closing, streams: { count: 0 } },
    ...{ onStopRequested, agent, loadRecorder, recordings: createSequence(), proxy },
    readiness: loadReadiness === undefined ? () => null : lazily(() => loadReadiness({ simulator, routeCalls })),
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

function createControlApp(
  control: ControlContext,
  { refusedRoute, callers }: Pick<ControlOptions, 'refusedRoute' | 'callers'>,
  routes: readonly ControlRoute[],
): Hono<Bindings> {
  const app = new Hono<Bindings>({ strict: false })
  app.onError((error, context) => errorResponse(error, context, control))
  app.use(async (context, next) => {
    const { req } = context
    const headers = { ...req.header(), host: new URL(req.url).host }
    const isOpen = routes.some(route => route.open === true && PREFIX + route.path === req.path)
    const refusal = foreignCaller({ method: req.method, headers }, callers)
    if (refusal !== null) throw refusal
    if (callers.token !== null && !isOpen) checkToken(callers.token, headers)
    await next()
  })
  const methods = new Map<string, string[]>()
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      const isOfWorkspace = path !== PREFIX + route.path
      const refusal = refusedRoute(route)
      app.on(route.method, path, context =>
        refusal === null ? runRoute(route, control, context, isOfWorkspace) : errorResponse(refusal, context, control),
      )
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
    const message = `There is no ${path}${nearest(path, [...methods.keys()]) || `. ${routesText()}`}`
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
  const { epoch } = coreFor(control, context).work
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
    return await toResponse(await route.run(call as ControlRequest<never, never>), context, control)
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
    readiness: () => null,
    control: workspace.control,
    closing: AbortSignal.any([control.closing, workspace.closing]),
  }
}

/** Caches must not store responses, and browsers must not guess their type. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...JSON_TYPE, ...HEADERS, ...headers } })

async function toResponse(reply: ControlResponse, context: Context, control: ControlContext): Promise<Response> {
  if (reply instanceof Response) {
    for (const [name, value] of Object.entries(HEADERS)) reply.headers.set(name, value)
    return reply
  }
  if ('parts' in reply) {
    let text = ''
    for (const part of reply.parts) {
      text += reply.withKeys ? part : control.core.secrets.redact(part)
      // Other requests are answered meanwhile.
      await nextMacrotask()
    }
    return new Response(text, { headers: { ...JSON_TYPE, ...HEADERS } })
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

/** Why the caller is refused, or null when it may call. */
function foreignCaller(
  request: Parameters<typeof findForeignCaller>[0],
  callers: ServerCallers,
): ControlProblem | null {
  const caller = findForeignCaller(request, callers.control)
  if (caller === null) return null
  const { code, value } = caller
  if (code === 'foreign_host')
    return new ControlProblem(403, 'foreign_host', `The control API ${refusedHostText(value ?? '', callers)}`)
  if (code === 'foreign_origin')
    return new ControlProblem(403, 'foreign_origin', `The control API refuses requests of ${pageText(value, callers)}`)
  const message = `The control API refuses requests that came through a tunnel (with the header ${value}): use the address of this machine, or start with --token TOKEN.`
  return new ControlProblem(403, 'through_tunnel', message)
}

/** Another site cannot follow the advice: it does not have the token. */
function pageText(origin: string | null, { token }: ServerCallers): string {
  if (origin === null) return 'pages of another site.'
  const isWritable = /^https?:\/\/[\w.:-]+$/.test(origin)
  const advice = isWritable ? ` If it is the page of handover-sim, ${forwardedText(origin, token)}.` : ''
  return `pages of ${JSON.stringify(origin)}.${advice}`
}

function checkToken(token: string, headers: Readonly<Record<string, string | undefined>>): void {
  const given = headers['x-handover-sim-token'] ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && sameSecret(given, token)) return
  const message =
    'The control API needs its token: send the header Authorization: Bearer TOKEN. It is the value of --token or HANDOVER_SIM_TOKEN of `npx handover-sim start`; without them, controlToken in its ready line (--json) and ready file.'
  throw new ControlProblem(401, 'token_required', message, { headers: { 'www-authenticate': 'Bearer' } })
}

// Query and body of a request, by the schemas of its route

function readQuery(route: ControlRoute, url: URL): unknown {
  const names = [...url.searchParams.keys()]
  const schema: z.ZodMiniType | undefined = route.query
  if (schema === undefined) return refuseAny(names)
  const shape = shapeOf(schema)
  const schemaOf = (name: string) => (Object.hasOwn(shape, name) ? shape[name] : undefined)
  const raw = Object.fromEntries(
    names.map(name => [name, parameterValue(url.searchParams.getAll(name), schemaOf(name))]),
  )
  const parsed = schema.safeParse(raw, ZOD_MESSAGES)
  if (!parsed.success) throw invalidRequest('query', schema, parsed.error.issues, raw)
  return parsed.data
}

function refuseAny([first]: readonly string[]): unknown {
  if (first === undefined) return {}
  throw new ControlProblem(422, 'invalid_query', `${first} is not known here: this route takes no query.`)
}

/** Turns text into a number where the schema expects one; a name that is given twice stays a list. */
function parameterValue(values: readonly string[], schema: z.ZodMiniType | undefined): unknown {
  const [value = ''] = values
  if (values.length > 1) return values
  const numeric = schema !== undefined && typeOf(schema) === 'number' && /^-?\d{1,15}$/.test(value)
  return numeric ? Number(value) : value
}

async function readBody(route: ControlRoute, request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^multipart\/form-data\b/i.test(type)
  const schema: z.ZodMiniType | undefined = isForm ? route.upload : route.body
  const chunks = await readChunks(route, request, isForm)
  if (schema === undefined) {
    if (isForm) throw new ControlProblem(415, 'unsupported_media_type', 'This route takes JSON, not a form.')
    if (chunks.length > 0) throw new ControlProblem(422, 'invalid_body', 'This route takes no body.')
    return undefined
  }
  const raw = isForm ? await readForm(chunks, type) : await readJson(chunks)
  // A snapshot is checked where it is restored, slice by slice.
  const parts = isForm || route.maxValues !== undefined ? [] : shortenedArrays(raw)
  for (const part of parts) parse(part)
  return parse(raw)

  function parse(value: unknown): unknown {
    const parsed = schema!.safeParse(value, ZOD_MESSAGES)
    if (parsed.success) return parsed.data
    throw invalidRequest('body', schema!, parsed.error.issues, raw)
  }
}

/** The deepest body of a request, in levels of arrays and objects. */
const MAX_DEPTH = 64

/** Reads the body, and refuses one that its route does not need before it is parsed. Reads it to its end also then, because not every client sees an answer while it sends. */
async function readChunks(route: ControlRoute, request: Request, isForm: boolean): Promise<Uint8Array<ArrayBuffer>[]> {
  const { maxDepth = MAX_DEPTH, maxValues = BUDGETS.bodyValues } = route
  const maxBytes = isForm ? BUDGETS.formBytes : (route.maxBytes ?? BUDGETS.fileBytes)
  const announced = Number(request.headers.get('content-length') ?? 0)
  const tooLarge = (length: string) =>
    new ControlProblem(413, 'payload_too_large', `A body can have at most ${maxBytes} bytes; this one ${length}.`)
  let refusal = announced > maxBytes ? tooLarge(`has ${announced} bytes`) : null
  if (refusal !== null && announced > BUDGETS.formBytes) throw refusal
  const measure = createJsonMeter(maxDepth)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    if (chunk.length === 0) continue
    size += chunk.length
    if (size > BUDGETS.formBytes) throw refusal ?? tooLarge('is longer')
    if (refusal !== null) continue
    chunks.push(chunk)
    const json = isForm ? { values: 0, fields: 0 } : measure(chunk)
    if (size > maxBytes) refusal = tooLarge('is longer')
    else if (json === null) refusal = invalidBody(`The body is nested more than ${maxDepth} levels deep.`)
    else if (json.values > maxValues)
      refusal = invalidBody(`The body has too many values; at most ${maxValues} are read.`)
    else if (json.fields > BUDGETS.bodyFields)
      refusal = invalidBody(`An object of the body has too many fields; at most ${BUDGETS.bodyFields} are read.`)
  }
  if (refusal !== null) throw refusal
  return chunks
}

const invalidBody = (message: string) =>
  new ControlProblem(422, 'invalid_body', message, { issues: [{ field: 'body', message }] })

/** Reads JSON whatever the content type is, because manual calls often have none. An empty body is an empty object. */
async function readJson(chunks: readonly Uint8Array[]): Promise<unknown> {
  if (chunks.length === 0) return {}
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    let text = ''
    for (const [at, chunk] of chunks.entries()) {
      text += decoder.decode(chunk, { stream: true })
      // A megabyte is 16 chunks or more: other requests are answered meanwhile.
      if (at % 100 === 99) await nextMacrotask()
    }
    return JSON.parse(text + decoder.decode())
  } catch (error) {
    throw new ControlProblem(400, 'invalid_json', `The body is not JSON: ${messageOf(error)}.`)
  }
}

async function readForm(chunks: Uint8Array<ArrayBuffer>[], type: string): Promise<unknown> {
  const form = await new Response(new Blob(chunks), { headers: { 'content-type': type } }).formData().catch(() => null)
  if (form === null)
    throw new ControlProblem(400, 'invalid_form', 'The body is not a form, although its content type says so.')
  const names = [...new Set(form.keys())]
  return Object.fromEntries(
    names.map(name => [name, name === 'files' ? form.getAll(name) : withoutCarriageReturns(form.get(name))]),
  )
}

/** Browsers write line breaks in forms as CRLF, whatever was typed. */
const withoutCarriageReturns = <Value>(value: Value): Value | string =>
  typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value
