/** Defines the options of a simulator and their defaults. */

import type { NodeListener } from '../../base/runtime/http-transport.ts'
import { parseBytes } from '../../base/text/quantities.ts'
import type { KnobSettings } from '../contract/knobs.ts'
import type { Summarize, Translate } from '../rules/engines.ts'
import type { BotReply } from '../rules/state.ts'

/** Options of the platform. */
export interface PlatformSimulatorOptions {
  /** Determines ids, names, texts and payload bytes. Default 1. */
  readonly seed?: number
  /** The beginning of `_links.self` and of attachment links. Default `https://bot.example.test`. */
  readonly baseUrl?: string
  /** A `virtual` clock moves only with `clock.advance`. Default: virtual in-process, real for a server. */
  readonly clock?: 'real' | 'virtual' | { readonly mode: 'virtual'; readonly start?: string | Date }
  /** The bot of the workspace. Defaults: id 1042, name Nora, organizationId 7. */
  readonly bot?: {
    readonly id?: number
    readonly name?: string
    readonly organizationId?: number
    readonly replies?: readonly BotReply[]
  }
  readonly webhook?: {
    readonly url?: string
    /** Receives events in-process instead of over the network. */
    readonly fetch?: (request: Request) => Response | Promise<Response>
    /** Receives events in-process as a request listener of `node:http`; `fromNode` and `fromFastify` create it. */
    readonly listener?: NodeListener
  }
  /** Business hours as in the config file: `{ time_zone, 'mon-fri': '09:00-17:00' }`. Null: always open. */
  readonly businessHours?: Readonly<Record<string, unknown>> | null
  /** Knobs by dotted name (docs/config.md), with values as in the config file. */
  readonly knobs?: KnobSettings
  /** Whether answers name their assumptions in the header `x-handover-sim-unspecified`. Default true. */
  readonly markers?: boolean
  /** Replaces the translation engine. May return a promise. */
  readonly translate?: Translate
  /** Replaces the summary engine. May return a promise. */
  readonly summarize?: Summarize
  /** The maximum number of journal entries; older ones are evicted. Default 10,000. */
  readonly journalLimit?: number
  /**
   * The maximum memory of the journal, and separately of all transcripts, as an estimate: bytes, or a text such as
   * `64mb` or `500kb`. The oldest entries and messages are evicted. Default `64mb`.
   */
  readonly memoryLimit?: number | string
}

/** Knobs and settings that `configure` changes. */
export type SettingChanges = KnobSettings & {
  readonly 'webhook.url'?: string | null
  readonly 'bot.replies'?: readonly BotReply[]
  readonly business_hours?: PlatformSimulatorOptions['businessHours']
}

export const DEFAULTS = {
  port: 4747,
  host: '127.0.0.1',
  seed: 1,
  baseUrl: 'https://bot.example.test',
  /** The address of a webhook in this process. */
  webhookUrl: 'https://intermediary.example.test/webhook',
  botId: 1042,
  botName: 'Nora',
  organizationId: 7,
  journalLimit: 10_000,
  memoryLimit: 64 * 1_048_576,
} as const

/** The bound of the journal, and of the transcripts, in bytes. */
export const memoryLimitOf = ({ memoryLimit }: Pick<PlatformSimulatorOptions, 'memoryLimit'>): number =>
  parseBytes(memoryLimit) ?? DEFAULTS.memoryLimit
