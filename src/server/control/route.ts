/** Defines the form of a route; registration, checks and documentation read it. */
import type * as z from 'zod/mini'
import type { Core } from '../../simulator/core.ts'
import type { PlatformSimulator } from '../../simulator/simulator.ts'
import type { Workspaces } from '../../simulator/workspaces.ts'

/** What every route has access to. */
export interface ControlContext {
  readonly simulator: PlatformSimulator
  readonly core: Core
  readonly workspaces: Workspaces
  /** The address the server listens on. */
  readonly url: string
  /** Where the routes for this simulator begin. */
  readonly control: string
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

export interface ControlRequest<Query, Body> extends ControlContext {
  /** A parameter of the path. */
  param(name: string): string
  readonly query: Query
  readonly body: Body
  /** Names in lower case. */
  header(name: string): string | undefined
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal
}

/** A status and a value to send as JSON, or a complete response. */
export type ControlResponse = { readonly status: number; readonly body: unknown } | Response

export interface RouteDefinition<Query, Body> {
  readonly id: string
  /** The id of the route that this one repeats for one workspace. */
  readonly workspaceRouteOf?: string
  readonly group:
    | 'health'
    | 'chats'
    | 'workspace'
    | 'journal'
    | 'faults'
    | 'time'
    | 'snapshot'
    | 'workspaces'
    | 'documents'
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/_sim`; `:id` is a parameter. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly query?: z.ZodMiniType<Query>
  readonly body?: z.ZodMiniType<Body>
  /** The form of the body as `multipart/form-data`. */
  readonly upload?: z.ZodMiniType<Body>
  readonly example?: unknown
  /** Whether no token is needed. */
  readonly open?: boolean
  readonly responses: Readonly<Record<number, DocumentedResponse>>
  run(call: ControlRequest<Query, Body>): ControlResponse | Promise<ControlResponse>
}

export interface DocumentedResponse {
  readonly description: string
  /** Null when the response is not JSON. */
  readonly schema: z.ZodMiniType | null
  readonly type?: string
}

export type ControlRoute = RouteDefinition<never, never>

/** Keeps the types of query and body together with the function that uses them. */
export const defineRoute = <Query = unknown, Body = unknown>(route: RouteDefinition<Query, Body>): ControlRoute =>
  route as unknown as ControlRoute

export const ok = (body: unknown): ControlResponse => ({ status: 200, body })
