/** Defines the form of a route, and the schemas that several routes share. Registration, checks and documentation read them. */
import * as z from 'zod/mini'
import type { createSequence } from '../../base/runtime/sequence.ts'
import { typed } from '../../base/schemas/definitions.ts'
import { DURATION_PATTERN, type Duration, parseDuration } from '../../base/text/quantities.ts'
import type { DriverCall } from '../../evaluation/scenario/run-events.ts'
import { named } from '../../platform/contract/schemas.ts'
import type { Chat } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Workspaces } from '../../platform/simulator/workspaces.ts'
import type { OpenStreams } from './event-stream.ts'
import type { Readiness } from './readiness.ts'
import type { LoadRecorder } from './recorder.ts'

/** Plays the human agent in a help desk. */
export interface AgentPlayer {
  readonly plays: 'demo' | 'driver'
  /** The file or address of the driver, for messages. */
  readonly name: string
  /** Loads the driver at the first use. Rejects when it cannot be used. */
  verbs(): Promise<readonly string[]>
  /** Never rejects when `verbs` has the verb: a failure is in the outcome. */
  call(action: AgentAction, signal: AbortSignal): Promise<DriverCall>
}

export interface AgentAction {
  readonly verb: string
  /** Null for the verbs of the whole help desk. */
  readonly chat: Chat | null
  readonly text?: string | undefined
  /** The parameters of a verb of the user. */
  readonly with?: Readonly<Record<string, unknown>> | undefined
}

/** What a proxy records, and into which file. */
export interface ProxyDescription {
  readonly upstream: string
  readonly webhook_url: string
  readonly since: string
  readonly file: string
}

/** What every route has access to. */
export interface ControlContext {
  readonly simulator: PlatformSimulator
  readonly core: Core
  readonly workspaces: Workspaces
  /** The address the server listens on. */
  readonly url: string
  /** The path at which the routes for this simulator begin. */
  readonly control: string
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
  readonly streams: OpenStreams
  /** Undefined when the program that created the server accepts no requests to stop. */
  readonly onStopRequested: (() => void) | undefined
  /** Null when no help desk is attached, and for workspaces. */
  agent(): AgentPlayer | null
  /** Describes this API. */
  openApi(): Promise<unknown>
  /** Null when the program that created the server judges no checks, and for workspaces. Loaded at the first use. */
  readiness(): Promise<Readiness> | null
  /** Undefined when the program that created the server records nothing. */
  readonly loadRecorder: LoadRecorder | undefined
  /** Null for a simulator. */
  readonly proxy: ProxyDescription | null
  /** Runs recordings one after the other. */
  readonly recordings: ReturnType<typeof createSequence>
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

/**
 * A status and a value to send as JSON, or JSON that is written in parts, without secrets unless the client asked for keys;
 * or a complete response.
 */
export type ControlResponse =
  | { readonly status: number; readonly body: unknown; readonly withKeys?: boolean }
  | { readonly parts: Iterable<string>; readonly withKeys: boolean }
  | Response

export interface RouteDefinition<Query, Body> {
  readonly id: string
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
    | 'ui'
    | 'agent'
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
  /** The deepest body, in levels of arrays and objects; 64 by default. */
  readonly maxDepth?: number
  /** The largest body; 4 MiB by default. */
  readonly maxBytes?: number
  /** How many values a body may have, about; 200,000 by default. */
  readonly maxValues?: number
  /** Whether no token is needed. */
  readonly open?: boolean
  /** By status; text describes a refusal, whose body is a `ControlErrorResponse`. */
  readonly responses: Readonly<Record<number, string | DocumentedResponse>>
  run(call: ControlRequest<Query, Body>): ControlResponse | Promise<ControlResponse>
}

export interface DocumentedResponse {
  readonly description: string
  /** Null when the response is not JSON. */
  readonly schema: z.ZodMiniType | null
  readonly type?: string
}

export type ControlRoute = RouteDefinition<never, never>

/** Creates the function that defines routes of a group by `METHOD /path`; it keeps the types of query and body together. */
export const routesOf =
  (group: ControlRoute['group']) =>
  <Query = unknown, Body = unknown>(
    endpoint: `${ControlRoute['method']} ${string}`,
    route: Omit<RouteDefinition<Query, Body>, 'group' | 'method' | 'path'>,
  ): ControlRoute => {
    const [method, path] = endpoint.split(' ')
    return { ...route, group, method, path } as unknown as ControlRoute
  }

export const ok = (body: unknown, withKeys = false): ControlResponse => ({ status: 200, body, withKeys })

// Schemas that several groups of routes use

export const NonEmptyText = z.string().check(z.minLength(1))

export const SeqNumber = z.int().check(z.gte(0))

export const MomentQuery = z.strictObject({
  at: z.optional(SeqNumber.check(z.describe('A seq of the journal: as it was after this entry'))),
})
export type MomentQuery = z.infer<typeof MomentQuery>

export const DurationSchema = typed<Duration>(
  z.string().check(
    z.refine(text => parseDuration(text) !== null, { error: 'a duration such as 500ms, 5s, 10m, 12h' }),
    z.meta({ id: 'Duration', pattern: DURATION_PATTERN, examples: ['500ms', '5s', '10m'] }),
  ),
)

export const booleanFlag = (description: string) => z.optional(z.enum(['true', 'false']).check(z.describe(description)))

const Issue = z.object({
  field: z.string(),
  message: z.string(),
  allowed: z.optional(z.union([z.string(), z.array(z.string())])),
})

export const ControlErrorBody = z.object({ code: z.string(), message: z.string(), issues: z.optional(z.array(Issue)) })

export const ControlErrorResponse = z
  .object({ error: ControlErrorBody })
  .check(named('ControlError', 'Why the request was refused'))
