/** Decides when one fault applies, and counts how often it did. */
import { keysOf } from '../contract/objects.ts'
import type { FaultEffect } from '../journal/entry.ts'
import { effectOf } from './effects.ts'
import { type FaultSpec, type Side, sideOf } from './schema.ts'

/** A fault that is set, and what it did so far. */
export interface NamedFault extends FaultSpec {
  readonly name: string
  readonly hits: number
  /** How many hits it has in all; null: until it is cleared. */
  readonly of: number | null
  readonly used_up: boolean
  /** How many events it holds now. */
  readonly holding: number
}

export interface FaultRule {
  readonly name: string
  readonly spec: FaultSpec
  readonly side: Side
  readonly effect: FaultEffect
  /** What it changes of a call or event. Faults that change different aspects can apply together. */
  readonly aspects: readonly Aspect[]
  /** How many calls or events it matched. */
  seen: number
  hits: number
  /** How many events it holds now. */
  holding: number
  /** By chat: how many of the next events pass the one it holds. */
  readonly passing: Map<string, number>
}

const ASPECTS = {
  latency: 'latency',
  respond: 'answer',
  drop: 'answer',
  reset: 'answer',
  slow_body: 'answer',
  malformed: 'answer',
  delay: 'order',
  slow: 'order',
  swap: 'order',
  hold: 'order',
  duplicate: 'copies',
  sign: 'sign',
  truncate: 'truncate',
  drip: 'drip',
  reset_after_answer: 'reset_after_answer',
  http: 'http',
} as const satisfies Partial<Record<keyof FaultSpec, string>>

type Effect = keyof typeof ASPECTS
type Aspect = (typeof ASPECTS)[Effect]

const EFFECTS = keysOf(ASPECTS)

/** The counters of a rule as plain data. */
export interface FaultProgress {
  readonly seen: number
  readonly hits: number
  readonly holding: number
  readonly passing: readonly (readonly [chatId: string, events: number])[]
}

export const progressOf = ({ seen, hits, holding, passing }: FaultRule): FaultProgress => ({
  seen,
  hits,
  holding,
  passing: [...passing].filter(([, left]) => left > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
})

const NO_PROGRESS: FaultProgress = { seen: 0, hits: 0, holding: 0, passing: [] }

export function createRule(spec: FaultSpec, name: string, { passing, ...counts } = NO_PROGRESS): FaultRule {
  const aspects = EFFECTS.filter(effect => spec[effect] !== undefined).map(effect => ASPECTS[effect])
  const { on } = spec
  return { name, spec, side: sideOf(on), effect: effectOf(spec), aspects, ...counts, passing: new Map(passing) }
}

export const isUsedUp = ({ spec, hits }: FaultRule): boolean => spec.times !== undefined && hits >= spec.times

/** Whether the rule is about this endpoint or event in this chat. */
export function matches({ spec, side }: FaultRule, name: string, chatId: string | undefined): boolean {
  const { on } = spec
  const names = typeof on === 'object' ? [on[side] ?? []].flat() : ['any']
  return (names.includes('any') || names.includes(name)) && (spec.chat_id ?? chatId) === chatId
}

/** Whether an earlier rule already changes the same aspect. */
export const sharesAspect = (rule: FaultRule, applied: readonly FaultRule[]): boolean =>
  applied.some(({ aspects }) => aspects.some(aspect => rule.aspects.includes(aspect)))

/** Whether this event passes one that the rule holds; the rule does not apply to such an event. Counts down. */
export function isPassing({ passing }: FaultRule, chatId: string | undefined): boolean {
  const left = chatId === undefined ? 0 : (passing.get(chatId) ?? 0)
  if (chatId === undefined || left === 0) return false
  passing.set(chatId, left - 1)
  return true
}

/** Whether the rule applies to the next call or event it matches. Counts up. */
export function isTurn(rule: FaultRule): boolean {
  const { skip = 0, every = 1 } = rule.spec
  rule.seen++
  return rule.seen > skip && (rule.seen - skip) % every === 0
}

export const viewOf = (rule: FaultRule): NamedFault => ({
  ...rule.spec,
  name: rule.name,
  hits: rule.hits,
  of: rule.spec.times ?? null,
  used_up: isUsedUp(rule),
  holding: rule.holding,
})
