/** Defines a request and its response as plain data: the input and output of the API for every adapter. */
/** A request as an adapter received it. */
export interface ApiRequest {
  readonly method: string
  /** Path and query as received. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The adapter stopped reading because the body is larger than `limits.body`. */
  readonly tooLarge?: boolean
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  /** How an adapter sends the response when a fault changes that. Status 0 means no response. */
  readonly wire?: ResponseWire
}

export type ResponseWire =
  /** No response: the connection is closed, or reset. */
  | { readonly kind: 'lost'; readonly how: 'closed' | 'reset' }
  /** The body is sent in pieces over `overMs` milliseconds of wall time; `stop` is aborted by the next reset and closes the connection. */
  | { readonly kind: 'slow'; readonly overMs: number; readonly stop: AbortSignal }
