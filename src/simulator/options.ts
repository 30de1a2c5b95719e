/** What a simulator is made from, and the values that stand when nothing is said. */
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

export interface PlatformSimulatorOptions {
  /** Same seed: same ids, names, texts and payload bytes. Default 1. */
  readonly seed?: number
  /** What `_links.self` and attachment links begin with; also where `fetch` answers. */
  readonly baseUrl?: string
  /** `virtual` moves only by `clock.advance`. Default virtual in-process, real for a server. */
  readonly clock?: 'real' | 'virtual' | { readonly mode: 'virtual'; readonly start?: string | Date }
  readonly bot?: {
    readonly id?: number
    readonly name?: string
    readonly organizationId?: number
    readonly replies?: readonly BotReply[]
  }
  readonly webhook?: {
    readonly url?: string
    /** Deliveries go to this function instead of the network. */
    readonly fetch?: (request: Request) => Response | Promise<Response>
  }
  /** As in the config file: `{ time_zone, 'mon-fri': '09:00-17:00' }`. */
  readonly businessHours?: Readonly<Record<string, unknown>> | null
  /** Dotted names; each value as it would be written in the config file. */
  readonly knobs?: Readonly<Record<string, unknown>>
  /** Whether answers name their assumptions in the header `x-handover-sim-unspecified`. Default true. */
  readonly markers?: boolean
  readonly translate?: Translate
  readonly summarize?: Summarize
  /** How many journal entries are kept. Default 10,000. */
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

/** What is wrong with one option or setting. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** What would be accepted instead, where that can be listed. */
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

/** Reads one knob, or says what is wrong with it. */
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
