/** A request and its answer as plain data: what every door hands in and gets back. */
export interface Exchange {
  readonly method: string
  /** Path and query as they came. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The door stopped reading because the body passed `limits.body`. */
  readonly tooLarge?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}
