/** Every verb of a scenario, and the function that plays it. */
import type { Verb } from '../../scenario/action.ts'
import { agent, target } from './agent-steps.ts'
import { check, expect, none, sees } from './check-steps.ts'
import { availability, deliver, fault, log, wait } from './environment-steps.ts'
import type { Play } from './step-context.ts'
import { bot, press, user } from './user-steps.ts'

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
