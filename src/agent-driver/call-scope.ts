/** What `$(...)` means in one call, for doing it and for showing it. */
import type { Scope } from '../scenario/interpolation.ts'
import type { DriverContext } from './driver.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The scenario's own names give way to ours. */
export function scopeOf({ chat, text, with: own = {}, sim }: DriverContext, env: Environment): Scope {
  return { ...own, ...(text === undefined ? {} : { text }), ...(chat === null ? {} : { chat }), sim, env }
}

const SECRET = /key|token|secret|pass/i

/** The same with secrets by their names: what is shown ends up in reports. */
export function maskedScope(scope: Scope): Scope {
  const env = Object.entries(scope.env as Environment).map(([name, value]) => [
    name,
    SECRET.test(name) ? `$(env.${name})` : value,
  ])
  return { ...scope, env: Object.fromEntries(env), sim: { ...(scope.sim as object), api_key: '$(sim.api_key)' } }
}
