/** A fault as scenarios and the control API write it. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { WebhookEventName } from '../contract/events.ts'
import type { SignMode } from '../contract/sign-modes.ts'

/** `on: api`, `on: { api: message }`, `on: { api: [start, message] }`, `on: webhook`, `on: { webhook: MESSAGE FROM USER }`. */
export type FaultOn =
  | 'api'
  | 'webhook'
  | { readonly api: EndpointId | 'any' | readonly EndpointId[] }
  | { readonly webhook: WebhookEventName | 'any' | string | readonly string[] }

/**
 * Exactly one effect on the API side (`latency` may stand beside another); on the webhook side effects may be
 * combined where they can be. Durations are written with a unit.
 */
export interface FaultSpec {
  /** What journal, log and reports call it. Made up when absent: `fault-1`. */
  readonly name?: string
  readonly on: FaultOn
  /** Only for this chat. In scenarios: the lane's chat unless the step says otherwise. */
  readonly chat_id?: string
  /** How many hits before it is used up. Default: until cleared. */
  readonly times?: number
  /** Lets this many pass first. */
  readonly skip?: number
  /** Only every n-th. */
  readonly every?: number

  // On the platform's API
  readonly respond?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  }
  readonly latency?: string
  /** before: lost unprocessed. after: processed, the answer lost. */
  readonly drop?: 'before' | 'after'
  /** The connection is reset before anything is processed. */
  readonly reset?: true
  /** The answer's body takes this long, in pieces. */
  readonly slow_body?: string
  /** The answer's body is cut in the middle of its JSON. */
  readonly malformed?: true

  // On webhooks
  /** Out of its lane: later ones may pass. */
  readonly delay?: string
  /** Holds its lane: later ones wait. */
  readonly slow?: string
  /** Sent this many times in all. */
  readonly duplicate?: number
  /** Between duplicates. Default 0. */
  readonly gap?: string
  /** Sent after the next event of the chat. */
  readonly swap?: true
  /** Kept until this many later events of the chat have passed it, or the fault is cleared. */
  readonly hold?: number
  readonly sign?: Exclude<SignMode, 'valid'>
  /** The body ends early; the signature is that of the whole. */
  readonly truncate?: true
  /** The request's body takes this long, in pieces. */
  readonly drip?: string
  /** The connection is reset as soon as the answer has come. */
  readonly reset_after_answer?: true
  /** Legal, but rarely seen. */
  readonly http?: 'header-case' | 'chunked' | readonly ('header-case' | 'chunked')[]
}
