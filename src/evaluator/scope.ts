/** What `$(...)` reads in a step: what the scenario says, what was captured, and what the journal tells of the play. */
import { InterpolationError, type InterpolationScope, interpolate } from '../scenario/interpolation.ts'
import type { JournalIndex } from './journal-index.ts'

/** Captured values: of the lane, and of the whole play for what other lanes read. */
export interface Captures {
  keep(conversation: string, name: string, value: unknown): void
  of(conversation: string): Readonly<Record<string, unknown>>
  readonly all: Readonly<Record<string, unknown>>
}

export function createCaptures(): Captures {
  const all: Record<string, unknown> = {}
  const conversations = new Map<string, Record<string, unknown>>()
  return {
    keep(conversation, name, value) {
      const own = conversations.get(conversation) ?? {}
      conversations.set(conversation, own)
      own[name] = value
      all[name] = value
    },
    of: conversation => ({ ...all, ...conversations.get(conversation) }),
    get all() {
      return { ...all }
    },
  }
}

/** The nearer word wins: the step's own before captures, captures before the lane's, the lane's before `vars`. */
export function scopeFor(
  index: JournalIndex,
  captures: Captures,
  conversation: string,
  own: InterpolationScope = {},
): InterpolationScope {
  const { plan, started } = index
  const base = {
    chat: index.opened(conversation)?.chat ?? {},
    bot: started?.bot ?? plan.bot,
    config: started?.config ?? {},
    env: started?.env ?? {},
    sim: started?.sim ?? {},
    ...plan.matrix,
  }
  const ofConversation = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
  const said = {
    ...[plan.vars, ofConversation].reduce<InterpolationScope>(filledOver, base),
    ...captures.of(conversation),
  }
  return filledOver(said, own)
}

/** Values may read what stands before them. Captured ones are somebody else's data: nothing in them is filled. */
export function filledOver(below: InterpolationScope, layer: InterpolationScope): InterpolationScope {
  const scope: Record<string, unknown> = { ...below }
  for (const [name, value] of Object.entries(layer)) scope[name] = filled(value, scope)
  return scope
}

/** What cannot be filled yet is kept: it is an error only where it is read. */
function filled(value: unknown, scope: InterpolationScope): unknown {
  try {
    return interpolate(value, scope)
  } catch (error) {
    if (error instanceof InterpolationError) return value
    throw error
  }
}
