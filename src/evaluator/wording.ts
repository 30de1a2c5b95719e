/** Pieces of sentences the judge's findings are made of. */

import type { CallPattern, Expectation, Times } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import { flow } from './matching/value-text.ts'
import type { Difference } from './verdict.ts'

/** For people: `0.7 s`, `40 ms`. */
export function seconds(ms: number): string {
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`
}

/** `+0.84 s` */
export const offset = (ms: number): string => `${ms <= -5 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)} s`

const NUMBERS = ['not at all', 'once', 'twice']
const timesWord = (count: number) => NUMBERS[count] ?? `${count} times`

/** `exactly once`, `at least 2 times`, `1 to 3 times`. */
export function howOften({ min, max }: Times): string {
  if (min === max) return min === 0 ? 'not at all' : `exactly ${timesWord(min)}`
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? 'any number of times' : `at least ${timesWord(min)}`
  return min === 0 ? `at most ${timesWord(max)}` : `${min} to ${max} times`
}

const LISTED = 5

/** `#15, #21, #22, #23, #24, …`: how many there are is told beside it, and the failure points at all. */
export function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, LISTED).map(seq => `#${seq}`)
  return seqs.length > LISTED ? `${shown.join(', ')}, …` : shown.join(', ')
}

/** `message { message: "Hi" }`; a body that asks nothing is left out. */
export function patternText({ call, body }: CallPattern, longest = 90): string {
  const empty = body === null || body === undefined || (typeof body === 'object' && Object.keys(body).length === 0)
  return empty ? call : `${call} ${flow(body, longest)}`
}

export function requirementText(leaf: Expectation): string {
  const often = leaf.times.min === 1 && leaf.times.max === 1 ? '' : ` ${howOften(leaf.times)}`
  const apart = leaf.apartMs === null ? '' : `, ${formatDuration(leaf.apartMs)} apart`
  const key = leaf.auth === 'invalid' ? ' with a missing or wrong key' : ''
  const path = leaf.alias === null ? '' : ` under /${leaf.alias}/`
  return `${patternText(leaf)}${key}${path}${often}${apart}`
}

export const stepName = ({ number, id, label }: Pick<PlannedStep, 'number' | 'id' | 'label'>): string =>
  id === null ? `step ${number} (${label})` : `step ${number} ${id} (${label})`

/** `message: "I'm Anna" wanted, "I&#39;m Anna" there (only HTML escaping differs)` */
export function differenceText({ path, expected, actual, hint }: Difference): string {
  const field = path === '' ? '' : `${path}: `
  const why = hint === undefined ? '' : ` (${hint})`
  return `${field}${expected} wanted, ${actual === 'absent' ? 'nothing' : actual} there${why}`
}

export const inConversation = (conversation: string | null, many: boolean): string =>
  conversation !== null && many ? ` in chat ${JSON.stringify(conversation)}` : ''

/** `the agent driver has only accept, says` */
export function driverHas(verbs: readonly string[] | null | undefined): string {
  if (verbs == null) return 'there is no agent driver (--agent-driver FILE)'
  if (verbs.length > 0) return `the agent driver has only ${verbs.join(', ')}`
  return 'the agent driver has no verb that can be played here (a manual one needs a terminal)'
}
