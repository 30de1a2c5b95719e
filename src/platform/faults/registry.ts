/**
 * Stores the faults that are set, and applies them to calls and events. In the order they were set, the first fault that
 * is due applies, and later ones that change something else. Nothing depends on chance.
 */

import { keysOf } from '../../base/objects.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import type { FaultContent, FaultEffect } from '../journal/entry.ts'
import { apiEffects, effectOf, type ResponseEffect, type WebhookEffects, webhookEffects } from './effects.ts'
import type { FaultFields } from './schema.ts'
import { type Side, sideOf } from './sides.ts'

/** One applied fault, as the journal records it beside the call or event. */
export type Hit = Pick<FaultContent, 'fault' | 'effect' | 'hit' | 'of'>

export interface AppliedFaults {
  /** Names. */
  readonly faults: readonly string[]
  readonly hits: readonly Hit[]
}

export interface AppliedApiFaults extends AppliedFaults {
  readonly latencyMs: number
  readonly responseEffect: ResponseEffect | null
}

export interface AppliedWebhookFaults extends AppliedFaults, WebhookEffects {
  /** Called when the event is no longer held. */
  release(): void
}

/** A fault that is set, and what it did so far. */
export interface NamedFault extends FaultFields {
  readonly name: string
  readonly hits: number
  /** How many hits it has in all; null: until it is cleared. */
  readonly of: number | null
  readonly used_up: boolean
  /** How many events it holds now. */
  readonly holding: number
}

/** `fileAgeMs`: how long ago the user sent the file of a link, whose endpoint is `file`. */
interface MatchedCall {
  readonly endpoint: string
  readonly chatId: string | undefined
  readonly fileAgeMs?: number
}

export class FaultNameTakenError extends Error {
  override readonly name = 'FaultNameTakenError'
}

export interface CapturedFaults {
  /** How many names were made for faults without one. */
  readonly made: number
  readonly rules: readonly Pick<FaultRule, 'name' | 'spec' | 'seen' | 'hits'>[]
}

/** What a fault changes of a call or an event. Faults that change different aspects can apply together. */
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
} as const satisfies Partial<Record<keyof FaultFields, string>>

interface FaultRule {
  readonly name: string
  readonly spec: FaultFields
  readonly side: Side
  readonly effect: FaultEffect
  readonly aspects: readonly (typeof ASPECTS)[keyof typeof ASPECTS][]
  /** How many calls or events it matched. */
  seen: number
  hits: number
  /** How many events it holds now. */
  holding: number
  /** How many of the next events of a chat pass the event that the rule holds. */
  readonly passing: Map<string, number>
}

export class FaultRegistry {
  #rules: readonly FaultRule[] = []
  /** How many names were made. */
  #made = 0
  /** Whether any fault may apply to a call, or to an event. Without one, they skip the registry. */
  readonly active: Record<Side, boolean> = { api: false, webhook: false }

  /** Throws `FaultNameTakenError`. */
  add(spec: FaultFields): NamedFault {
    const isTaken = (name: string) => this.#rules.some(rule => rule.name === name)
    if (spec.name !== undefined && isTaken(spec.name)) throw new FaultNameTakenError(spec.name)
    let { name } = spec
    while (name === undefined || isTaken(name)) name = `fault-${++this.#made}`
    const rule = createRule(spec, name)
    this.#setRules([...this.#rules, rule])
    return describeFault(rule)
  }

  list(): NamedFault[] {
    return this.#rules.map(describeFault)
  }

  /** Clears all faults or the named one. */
  clear(name?: string): void {
    this.#setRules(this.#rules.filter(rule => name !== undefined && rule.name !== name))
  }

  /** Applies faults to a call, and counts it. */
  takeApi(call: MatchedCall): AppliedApiFaults | null {
    const applied = this.#take('api', call.endpoint, call.chatId, call.fileAgeMs)
    return applied.length === 0 ? null : { ...recordHits(applied), ...apiEffects(mergeSpecs(applied)) }
  }

  /** Applies faults to an event, and counts it. */
  takeWebhook({ event, chatId }: { readonly event: string; readonly chatId: string }): AppliedWebhookFaults | null {
    const applied = this.#take('webhook', event, chatId)
    if (applied.length === 0) return null
    const effects = webhookEffects(mergeSpecs(applied))
    const holder = effects.order?.kind === 'hold' ? applied.find(({ aspects }) => aspects.includes('order')) : null
    if (holder && effects.order?.kind === 'hold') {
      // The order of events decides which ones pass the held one, not the time of their answers.
      holder.passing.set(chatId, effects.order.passing)
      holder.holding++
    }
    const release = () => {
      if (holder) holder.holding--
    }
    return { ...recordHits(applied), ...effects, release }
  }

  reset(): void {
    this.#made = 0
    this.#setRules([])
  }

  /** Returns the faults with their counters as plain data. */
  capture(): CapturedFaults {
    return { made: this.#made, rules: this.#rules.map(({ name, spec, seen, hits }) => ({ name, spec, seen, hits })) }
  }

  restore(captured: CapturedFaults): void {
    this.#made = captured.made
    this.#setRules(captured.rules.map(({ name, spec, seen, hits }) => createRule(spec, name, seen, hits)))
  }

  #setRules(rules: readonly FaultRule[]): void {
    this.#rules = rules
    for (const side of ['api', 'webhook'] as const)
      this.active[side] = rules.some(rule => rule.side === side && !isUsedUp(rule))
  }

  /** The rules that apply to one call or event. Every rule that matches it counts it. */
  #take(side: Side, name: string, chatId: string | undefined, fileAgeMs = 0): readonly FaultRule[] {
    const applied: FaultRule[] = []
    for (const rule of this.#rules) {
      if (rule.side !== side || isUsedUp(rule)) continue
      // An event that passes one that the rule holds.
      const passing = chatId === undefined ? 0 : (rule.passing.get(chatId) ?? 0)
      if (chatId !== undefined && passing > 0) {
        rule.passing.set(chatId, passing - 1)
        continue
      }
      const { on, chat_id, skip = 0, every = 1 } = rule.spec
      const names = typeof on === 'object' ? [on[side] ?? []].flat() : ['any']
      const isNamed = names.includes(name) || (names.includes('any') && name !== 'file')
      if (!isNamed || (chat_id ?? chatId) !== chatId || fileAgeMs >= newFor(rule)) continue
      // An earlier rule already changes the same aspect.
      if (applied.some(({ aspects }) => aspects.some(aspect => rule.aspects.includes(aspect)))) continue
      const turn = rule.seen++ - skip
      if (turn >= 0 && (turn + 1) % every === 0) applied.push(rule)
    }
    for (const rule of applied) rule.hits++
    if (applied.some(isUsedUp)) this.#setRules(this.#rules)
    return applied
  }
}

function createRule(spec: FaultFields, name: string, seen = 0, hits = 0): FaultRule {
  const aspects = keysOf(ASPECTS).flatMap(effect => (spec[effect] === undefined ? [] : ASPECTS[effect]))
  return {
    ...{ name, spec, side: sideOf(spec.on), effect: effectOf(spec), aspects },
    ...{ seen, hits, holding: 0, passing: new Map() },
  }
}

const newFor = ({ spec }: FaultRule): number => parseDuration(spec.while_new) ?? Number.POSITIVE_INFINITY

const isUsedUp = ({ spec, hits }: FaultRule): boolean => spec.times !== undefined && hits >= spec.times

/** Rules that apply together change different aspects, so their specifications can be read as one. */
const mergeSpecs = (rules: readonly FaultRule[]): FaultFields => Object.assign({}, ...rules.map(({ spec }) => spec))

const recordHits = (rules: readonly FaultRule[]): AppliedFaults => ({
  faults: rules.map(({ name }) => name),
  hits: rules.map(({ name, spec, effect, hits }) => ({ fault: name, effect, hit: hits, of: spec.times ?? null })),
})

const describeFault = (rule: FaultRule): NamedFault => ({
  ...rule.spec,
  name: rule.name,
  hits: rule.hits,
  of: rule.spec.times ?? null,
  used_up: isUsedUp(rule),
  holding: rule.holding,
})
