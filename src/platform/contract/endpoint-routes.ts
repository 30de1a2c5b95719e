/** Lists the nine endpoints: method, path, key and rule. Their schemas are in `endpoints.ts`, because a start does not need them. */

/** `handover`: the key of the handover settings page (A2). `read_chats`: a bot API key with 'Read chats' (A3). */
export type Scope = 'handover' | 'read_chats'

/** One endpoint of the platform, without the schemas of its bodies. */
export interface EndpointRoute {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** As the platform writes it, trailing slash included; `{chatId}` is the only parameter. */
  readonly path: string
  readonly scope: Scope
  /** The rule of docs/reference/platform.md that describes it. */
  readonly rule: string
  readonly summary: string
}

const post = <const Id extends string, const Path extends string>(id: Id, path: Path, rule: string, summary: string) =>
  ({ id, method: 'POST', path: `/api/v2/handover/${path}` as const, scope: 'handover', rule, summary }) as const

/** The endpoints by id (E1-E9). A GET request has no body. */
export const ENDPOINT_ROUTES = {
  transcript: post('transcript', 'transcript', 'E1', 'Get handover transcript'),
  summarize: post('summarize', 'summarize', 'E2', 'Summarize chat'),
  availability: post('availability', 'availability', 'E3', 'Set handover availability'),
  start: post('start', 'start', 'E4', 'Start handover'),
  end: post('end', 'end', 'E5', 'End handover'),
  message: post('message', 'message/', 'E6', 'Send message to user'),
  typing_start: post('typing_start', 'typing_start', 'E7', 'Agent typing start'),
  typing_stop: post('typing_stop', 'typing_stop', 'E8', 'Agent typing stop'),
  chat: {
    id: 'chat',
    method: 'GET',
    path: '/api/v1/chats/{chatId}',
    scope: 'read_chats',
    rule: 'E9',
    summary: 'Get chat transcript',
  },
} as const satisfies Record<string, EndpointRoute>
/** The id of an endpoint: a key of `ENDPOINTS`. */
export type EndpointId = keyof typeof ENDPOINT_ROUTES

/** The two spellings of the handover paths (V2, W7). */
export const ALIASES = ['handover', 'takeover'] as const
/** One of the two spellings. */
export type Alias = (typeof ALIASES)[number]
