/** Every verb of a scenario, and the function that plays it. */
import type { Verb } from '../../scenario/action.ts'
import { agent, target } from './agent.ts'
import { check, expect, none, sees } from './checks.ts'
import { availability, deliver, fault, log, wait } from './surroundings.ts'
import { bot, press, user } from './user.ts'
import type { Play } from './verb.ts'

export const VERBS: { readonly [V in Verb]: Play<V> } = {
  user,
  press,
  bot,
  agent,
  sees,
  wait,
  availability,
  fault,
  deliver,
  target,
  expect,
  none,
  check,
  log,
}
