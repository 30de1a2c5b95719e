/** A request and its answer as plain data: what every door hands in and gets back. */
export interface ApiRequest {
  readonly method: string
  /** Path and query as they came. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The door stopped reading because the body passed `limits.body`. */
  readonly tooLarge?: boolean
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  /** What a door does instead of sending it as usual. Status 0 goes out as nothing at all. */
  readonly wire?: ResponseWire
}

export type ResponseWire =
  /** No answer: the connection is closed, or reset. */
  | { readonly kind: 'lost'; readonly how: 'closed' | 'reset' }
  /** The body takes this long on the wall, in pieces; `stop` aborts with the next reset and closes the connection. */
  | { readonly kind: 'slow'; readonly overMs: number; readonly stop: AbortSignal }
