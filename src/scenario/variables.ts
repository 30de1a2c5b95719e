/**
 * Computes what `$(...)` reads in a step. The runner keeps variables while it runs a scenario and writes what it
 * captures into the journal; the evaluator computes the same variables from the run events of a journal.
 */
import { InterpolationError, type InterpolationScope, interpolate } from './interpolation.ts'
import type { Plan } from './plan.ts'
import type { ConversationOpened, ScenarioStarted } from './run-events.ts'

type Values = Readonly<Record<string, unknown>>

export interface Variables {
  start(event: ScenarioStarted): void
  open(event: ConversationOpened): void
  /** Keeps values for later steps: those of the conversation first, then for all others. */
  capture(conversation: string, values: Values): void
  /** Everything captured so far, by name. */
  readonly captures: Values
  /** The values for a step of a conversation; `own` are those of the step itself, such as `$(i)` of a repeat. */
  scopeOf(conversation: string, own?: InterpolationScope): InterpolationScope
}

export function createVariables(plan: Plan): Variables {
  const chats = new Map<string, ConversationOpened['chat']>()
  const captured = new Map<string, Values>()
  let captures: Values = {}
  let started: ScenarioStarted | null = null

  function baseOf(conversation: string): InterpolationScope {
    return {
      chat: chats.get(conversation) ?? {},
      bot: started?.bot ?? plan.bot,
      config: started?.config ?? {},
      env: started?.env ?? {},
      sim: started?.sim ?? {},
      ...plan.matrix,
    }
  }

  return {
    start(event) {
      started = event
    },
    open: ({ conversation, chat }) => void chats.set(conversation, chat),
    capture(conversation, values) {
      captured.set(conversation, { ...captured.get(conversation), ...values })
      captures = { ...captures, ...values }
    },
    get captures() {
      return captures
    },
    /** The nearer value wins: the step's own, then captures, then those of the conversation, then `vars`. */
    scopeOf(conversation, own = {}) {
      const ofConversation = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
      const written = [plan.vars, ofConversation].reduce<InterpolationScope>(filledOver, baseOf(conversation))
      return filledOver({ ...written, ...captures, ...captured.get(conversation) }, own)
    },
  }
}

/** Adds a layer whose values may read the values below. Captured values are foreign data and are never interpolated. */
export function filledOver(below: InterpolationScope, layer: InterpolationScope): InterpolationScope {
  const scope: Record<string, unknown> = { ...below }
  for (const [name, value] of Object.entries(layer)) scope[name] = filled(value, scope)
  return scope
}

/** Keeps a value that cannot be interpolated yet: it is an error only where it is read. */
function filled(value: unknown, scope: InterpolationScope): unknown {
  try {
    return interpolate(value, scope)
  } catch (error) {
    if (error instanceof InterpolationError) return value
    throw error
  }
}
