/**
 * The faults that are set, in the order they were set. A call or event is struck by the first one whose turn it is,
 * and by later ones that decide something else about it. Nothing in it is left to chance.
 */
import type { FaultContent } from '../journal/entry.ts'
import { type AnswerEffect, apiEffects, type WebhookEffects, webhookEffects } from './effects.ts'
import {
  isAbout,
  isItsTurn,
  isPassing,
  isUsedUp,
  type Progress,
  progressOf,
  type Rule,
  ruleAt,
  ruleFrom,
  viewOf,
} from './rule.ts'
import type { FaultSpec } from './schema.ts'
import type { Side } from './sense.ts'
import type { NamedFault } from './spec.ts'

/** One applied fault, as the journal records it beside the call or event. */
export type Hit = Pick<FaultContent, 'fault' | 'effect' | 'hit' | 'of'>

export interface AppliedFaults {
  /** Names. */
  readonly faults: readonly string[]
  readonly hits: readonly Hit[]
}

export interface AppliedApiFaults extends AppliedFaults {
  readonly latencyMs: number
  readonly answer: AnswerEffect | null
}

export interface AppliedWebhookFaults extends AppliedFaults, WebhookEffects {
  /** Called when a held event is sent. */
  release(): void
}

/** A name may be given once. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken'
}

export interface Faults {
  /** Whether any could strike a call: the only thing asked while none is set. */
  readonly onApi: boolean
  readonly onWebhooks: boolean
  /** Throws `NameTaken`. */
  add(spec: FaultSpec): NamedFault
  list(): NamedFault[]
  /** Names of those cleared: all, or the one named when it is there. */
  clear(name?: string): string[]
  takeApi(call: { readonly endpoint: string; readonly chatId: string | undefined }): AppliedApiFaults | null
  takeWebhook(event: { readonly event: string; readonly chatId: string }): AppliedWebhookFaults | null
  reset(): void
  /** Returns the whole state as plain data. */
  capture(): CapturedFaults
  restore(captured: CapturedFaults): void
  /** For an event that one of these faults keeps back: what to call when it goes out. */
  releaseOf(names: readonly string[]): () => void
}

export interface CapturedFaults {
  /** Numbers the names of those that were given none. */
  readonly made: number
  readonly rules: readonly { readonly name: string; readonly spec: FaultSpec; readonly progress: Progress }[]
}

export function createFaults(): Faults {
  let rules: Rule[] = []
  let made = 0
  const live: Record<Side, boolean> = { api: false, webhook: false }

  function refresh(): void {
    for (const side of ['api', 'webhook'] as const)
      live[side] = rules.some(rule => rule.side === side && !isUsedUp(rule))
  }

  const isTaken = (name: string) => rules.some(rule => rule.name === name)

  function freeName(): string {
    do made++
    while (isTaken(`fault-${made}`))
    return `fault-${made}`
  }

  function strike(side: Side, name: string, chatId: string | undefined): Rule[] {
    const struck: Rule[] = []
    const eligible = rules.filter(rule => rule.side === side && !isUsedUp(rule) && !isPassing(rule, chatId))
    for (const rule of eligible) {
      if (isAbout(rule, name, chatId) && hasRoom(rule, struck) && isItsTurn(rule)) struck.push(rule)
    }
    for (const rule of struck) rule.hits++
    if (struck.some(isUsedUp)) refresh()
    return struck
  }

  return {
    get onApi() {
      return live.api
    },
    get onWebhooks() {
      return live.webhook
    },
    add(spec) {
      if (spec.name !== undefined && isTaken(spec.name)) throw new NameTaken(spec.name)
      const rule = ruleFrom(spec, spec.name ?? freeName())
      rules.push(rule)
      refresh()
      return viewOf(rule)
    },
    list: () => rules.map(viewOf),
    clear(name) {
      const gone = rules.filter(rule => name === undefined || rule.name === name)
      rules = rules.filter(rule => !gone.includes(rule))
      refresh()
      return gone.map(rule => rule.name)
    },
    takeApi({ endpoint, chatId }) {
      const struck = strike('api', endpoint, chatId)
      return struck.length === 0 ? null : { ...appliedFaults(struck), ...merged(struck, apiEffects) }
    },
    takeWebhook({ event, chatId }) {
      const struck = strike('webhook', event, chatId)
      if (struck.length === 0) return null
      const effects = merged(struck, webhookEffects)
      const { order } = effects
      const release = order?.kind === 'hold' ? keepBack(struck, chatId, order.passing) : () => {}
      return { ...appliedFaults(struck), ...effects, release }
    },
    reset() {
      rules = []
      made = 0
      refresh()
    },
    capture: () => ({
      made,
      rules: rules.map(rule => ({ name: rule.name, spec: rule.spec, progress: progressOf(rule) })),
    }),
    restore(captured) {
      made = captured.made
      rules = captured.rules.map(({ name, spec, progress }) => ruleAt(spec, name, progress))
      refresh()
    },
    releaseOf(names) {
      const rule = rules.find(({ name, slots }) => names.includes(name) && slots.includes('order'))
      return rule === undefined ? () => {} : () => void rule.holding--
    },
  }
}

/** What another fault decided stands. */
const hasRoom = (rule: Rule, struck: readonly Rule[]): boolean =>
  struck.every(({ slots }) => !slots.some(slot => rule.slots.includes(slot)))

/** Their slots differ, so the faults can be read as if they were one. */
const merged = <Effects>(struck: readonly Rule[], read: (spec: FaultSpec) => Effects): Effects =>
  read(Object.assign({}, ...struck.map(({ spec }) => spec)))

/** Which events pass it is settled by their order alone, not by how fast they are answered. */
function keepBack(struck: readonly Rule[], chatId: string, passing: number): () => void {
  const rule = struck.find(({ slots }) => slots.includes('order'))!
  rule.passing.set(chatId, passing)
  rule.holding++
  return () => void rule.holding--
}

const appliedFaults = (rules: readonly Rule[]): AppliedFaults => ({
  faults: rules.map(({ name }) => name),
  hits: rules.map(({ name, spec, effect, hits }) => ({ fault: name, effect, hit: hits, of: spec.times ?? null })),
})
