/** One fault at work: what it strikes, when its turn is, and how often it has struck. */
import type { FaultEffect } from '../journal/entry.ts'
import { effectOf } from './effects.ts'
import type { FaultSpec } from './schema.ts'
import { type Side, sideOf } from './sense.ts'
import type { NamedFault } from './spec.ts'

export interface Rule {
  readonly name: string
  readonly spec: FaultSpec
  readonly side: Side
  readonly effect: FaultEffect
  /** What it decides of a call or event: two faults that decide different things may strike together. */
  readonly slots: readonly ConcurrencySlot[]
  /** How many it looked at. */
  seen: number
  hits: number
  /** How many events it keeps back. */
  holding: number
  /** By chat: how many of the next events are to pass the one it keeps back. */
  readonly passing: Map<string, number>
}

type ConcurrencySlot =
  | 'latency'
  | 'answer'
  | 'order'
  | 'copies'
  | 'sign'
  | 'truncate'
  | 'drip'
  | 'reset_after_answer'
  | 'http'

const SLOTS: Partial<Record<keyof FaultSpec, ConcurrencySlot>> = {
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
}

/** What it looked at and did so far. */
export interface Progress {
  readonly seen: number
  readonly hits: number
  readonly holding: number
  readonly passing: readonly (readonly [chatId: string, events: number])[]
}

export const progressOf = ({ seen, hits, holding, passing }: Rule): Progress => ({
  seen,
  hits,
  holding,
  passing: [...passing].filter(([, left]) => left > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
})

export const ruleAt = (spec: FaultSpec, name: string, { passing, ...counts }: Progress): Rule => ({
  ...ruleFrom(spec, name),
  ...counts,
  passing: new Map(passing),
})

export function ruleFrom(spec: FaultSpec, name: string): Rule {
  const keys = Object.keys(spec) as (keyof FaultSpec)[]
  const slots = keys.filter(key => spec[key] !== undefined).flatMap(key => SLOTS[key] ?? [])
  return {
    name,
    spec,
    side: sideOf(spec.on),
    effect: effectOf(spec),
    slots,
    seen: 0,
    hits: 0,
    holding: 0,
    passing: new Map(),
  }
}

export const isUsedUp = ({ spec, hits }: Rule): boolean => spec.times !== undefined && hits >= spec.times

/** Whether it is about this endpoint or event, in this chat. */
export function isAbout({ spec, side }: Rule, name: string, chatId: string | undefined): boolean {
  const { on } = spec
  const names = typeof on === 'object' ? [on[side] ?? []].flat() : ['any']
  return (names.includes('any') || names.includes(name)) && (spec.chat_id ?? chatId) === chatId
}

/** Whether this event passes one it keeps back, and so is none of its business. Called once for each event. */
export function isPassing({ passing }: Rule, chatId: string | undefined): boolean {
  const left = chatId === undefined ? 0 : (passing.get(chatId) ?? 0)
  if (left === 0) return false
  passing.set(chatId!, left - 1)
  return true
}

/** Looks at one more of what it is about. Called once for each: it counts. */
export function isItsTurn(rule: Rule): boolean {
  const { skip = 0, every = 1 } = rule.spec
  rule.seen++
  return rule.seen > skip && (rule.seen - skip) % every === 0
}

export const viewOf = ({ name, spec, hits, holding }: Rule): NamedFault => ({
  ...spec,
  name,
  hits,
  of: spec.times ?? null,
  used_up: spec.times !== undefined && hits >= spec.times,
  holding,
})
