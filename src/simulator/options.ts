/** Defines the options of a simulator and their defaults, and reads knobs. */
import {
  allowedFor,
  defaultKnobs,
  isKnob,
  KNOB_NAMES,
  type KnobName,
  type Knobs,
  parseKnob,
} from '../contract/knobs.ts'
import type { BotReply } from '../platform/context.ts'
import type { Summarize } from '../platform/summary.ts'
import type { Translate } from '../platform/translation.ts'
import { suggest } from '../text/near-names.ts'

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
  }
  /** Business hours as in the config file: `{ time_zone, 'mon-fri': '09:00-17:00' }`. Null: always open. */
  readonly businessHours?: Readonly<Record<string, unknown>> | null
  /** Knobs by dotted name (docs/config.md), with values as in the config file. */
  readonly knobs?: Readonly<Record<string, unknown>>
  /** Whether answers name their assumptions in the header `x-handover-sim-unspecified`. Default true. */
  readonly markers?: boolean
  /** Replaces the translation engine. May return a promise. */
  readonly translate?: Translate
  /** Replaces the summary engine. May return a promise. */
  readonly summarize?: Summarize
  /** The maximum number of journal entries; older ones are evicted. Default 10,000. */
  readonly journalLimit?: number
}

export const DEFAULTS = {
  seed: 1,
  baseUrl: 'https://bot.example.test',
  botId: 1042,
  botName: 'Nora',
  organizationId: 7,
  journalLimit: 10_000,
} as const

/** A problem of one option or setting. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** The accepted values or names, if they can be listed. */
  readonly allowed?: string | readonly string[]
}

/** Options or settings are invalid. `problems` has one item for each invalid name or value; nothing was changed. */
export class InvalidOptionError extends Error {
  override readonly name = 'InvalidOptionError'
  readonly problems: readonly SettingProblem[]
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(problem => problem.message).join(' '))
    this.problems = problems
  }
}

/** Reads one knob, or returns its problem. */
export function readKnob(name: string, raw: unknown): { name: KnobName; value: unknown } | SettingProblem {
  if (!isKnob(name)) return { name, message: `${name} is not a knob${suggest(name, KNOB_NAMES)}` }
  const value = parseKnob(name, raw)
  if (value !== undefined) return { name, value }
  const allowed = allowedFor(name)
  return { name, message: `${name} must be ${allowed}, got ${JSON.stringify(raw)}.`, allowed }
}

/** Sets the named knobs, all or none. Throws `InvalidOptionError`. */
export function applyKnobs(knobs: Knobs, raw: Readonly<Record<string, unknown>>): void {
  const read = Object.entries(raw).map(([name, value]) => readKnob(name, value))
  const problems = read.filter((one): one is SettingProblem => 'message' in one)
  if (problems.length > 0) throw new InvalidOptionError(problems)
  for (const one of read) if ('value' in one) Object.assign(knobs, { [one.name]: one.value })
}

export function knobsFrom(raw: Readonly<Record<string, unknown>>): Knobs {
  const knobs = defaultKnobs()
  applyKnobs(knobs, raw)
  return knobs
}
