/** What `$(...)` reads in a step: what the scenario says, what was captured, and what the journal tells of the play. */
import { fill, type Scope, Unfillable } from '../fill.ts'
import type { Facts } from './facts.ts'

/** Captured values: of the lane, and of the whole play for what other lanes read. */
export interface Captures {
  keep(lane: string, name: string, value: unknown): void
  of(lane: string): Readonly<Record<string, unknown>>
  readonly all: Readonly<Record<string, unknown>>
}

export function createCaptures(): Captures {
  const all: Record<string, unknown> = {}
  const lanes = new Map<string, Record<string, unknown>>()
  return {
    keep(lane, name, value) {
      const own = lanes.get(lane) ?? {}
      lanes.set(lane, own)
      own[name] = value
      all[name] = value
    },
    of: lane => ({ ...all, ...lanes.get(lane) }),
    get all() {
      return { ...all }
    },
  }
}

/** The nearer word wins: the step's own before captures, captures before the lane's, the lane's before `vars`. */
export function scopeFor(facts: Facts, captures: Captures, lane: string, own: Scope = {}): Scope {
  const { plan, started } = facts
  const base = {
    chat: facts.opened(lane)?.chat ?? {},
    bot: started?.bot ?? plan.bot,
    config: started?.config ?? {},
    env: started?.env ?? {},
    sim: started?.sim ?? {},
    ...plan.matrix,
  }
  const ofLane = plan.lanes.find(({ name }) => name === lane)?.scope ?? {}
  const said = { ...[plan.vars, ofLane].reduce<Scope>(filledOver, base), ...captures.of(lane) }
  return filledOver(said, own)
}

/** Values may read what stands before them. Captured ones are somebody else's data: nothing in them is filled. */
export function filledOver(below: Scope, layer: Scope): Scope {
  const scope: Record<string, unknown> = { ...below }
  for (const [name, value] of Object.entries(layer)) scope[name] = filled(value, scope)
  return scope
}

/** What cannot be filled yet is kept: it is an error only where it is read. */
function filled(value: unknown, scope: Scope): unknown {
  try {
    return fill(value, scope)
  } catch (error) {
    if (error instanceof Unfillable) return value
    throw error
  }
}
