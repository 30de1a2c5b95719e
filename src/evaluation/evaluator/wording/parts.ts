/** Renders the parts that texts of failures are made of: calls, steps, times, counts. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { Times } from '../../scenario/plan.ts'
import type {
  ActionName,
  CallRef,
  ChatRef,
  InboxItemRef,
  PatternRef,
  RequirementRef,
  RequirementTree,
  TextPlace,
  Within,
} from '../failure.ts'

/** Who reads a text: authors of scenario files, or of tests that use the library. */
export type Audience = 'scenario' | 'test'

const PARTS = {
  never: 'not at all',
  once: 'once',
  twice: 'twice',
  times: (count: number) => `${count} times`,
  exactly: (often: string) => `exactly ${often}`,
  atLeast: (often: string) => `at least ${often}`,
  atMost: (often: string) => `at most ${often}`,
  range: (min: number, max: number) => `${min} to ${max} times`,
  anyNumber: 'any number of times',
  apart: (duration: string) => `, ${duration} apart`,
  badKey: ' with a missing or wrong key',
  alias: (alias: string) => ` under /${alias}/`,
  call: 'the platform',
  all: 'all of',
  seq: 'in this order',
  oneOf: 'one of',
  inChat: (chat: string) => ` in chat ${JSON.stringify(chat)}`,
  chat: (chat: string) => `chat ${JSON.stringify(chat)}`,
  chatOf: (chat: string, scenario: string) => `chat ${JSON.stringify(chat)} of ${JSON.stringify(scenario)}`,
  step: (number: number, label: string) => `step ${number} (${label})`,
  stepWithId: (number: number, id: string, label: string) => `step ${number} ${id} (${label})`,
  within: (duration: string) => `within ${duration}`,
  withinOf: (duration: string, from: string) => `within ${duration} of ${from}`,
  item: (position: number) => `inbox item ${position}`,
  request: 'request',
  files: (count: number) => ` with ${count} file${count === 1 ? '' : 's'}`,
  noDriver: 'there is no agent driver (--agent-driver FILE)',
  verbs: (verbs: string) => `the agent driver has only ${verbs}`,
  noVerbs: 'the agent driver has no verb that can be played here (a manual one needs a terminal)',
}

/** `0.7 s`, `40 ms` */
export function seconds(ms: number): string {
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`
}

/** `+0.84 s` */
export const offset = (ms: number): string => `${ms <= -5 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)} s`

/** `once`, `3 times` */
export function timesText(count: number): string {
  return count === 0 ? PARTS.never : count === 1 ? PARTS.once : count === 2 ? PARTS.twice : PARTS.times(count)
}

/** `exactly once`, `at least 2 times`, `1 to 3 times`. */
export function howOften({ min, max }: Times): string {
  if (min === max) return min === 0 ? PARTS.never : PARTS.exactly(timesText(min))
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? PARTS.anyNumber : PARTS.atLeast(timesText(min))
  return min === 0 ? PARTS.atMost(timesText(max)) : PARTS.range(min, max)
}

const LISTED = 5

/** `#15, #21, #22, #23, #24, …`: the text has the count beside it, and the failure refers to all entries. */
export function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, LISTED).map(seq => `#${seq}`)
  return seqs.length > LISTED ? `${shown.join(', ')}, …` : shown.join(', ')
}

/** `message { message: "Hi" }` */
export const patternText = ({ call, body }: PatternRef): string => (body === null ? call : `${call} ${body}`)

/** The same for sentences in which `any` is no name. */
export function callNamed({ call, body }: PatternRef): string {
  const name = call === 'any' ? PARTS.call : call
  return body === null ? name : `${name} ${body}`
}

/** A requirement without how often. */
export const callWithKey = (requirement: RequirementRef): string => {
  const { alias, auth } = requirement
  return `${callNamed(requirement)}${auth === 'invalid' ? PARTS.badKey : ''}${alias === null ? '' : PARTS.alias(alias)}`
}

export function requirementText(requirement: RequirementRef): string {
  const { times, apartMs, auth, alias } = requirement
  const often = times.min === 1 && times.max === 1 ? '' : ` ${howOften(times)}`
  const apart = apartMs === null ? '' : PARTS.apart(formatDuration(apartMs))
  const key = auth === 'invalid' ? PARTS.badKey : ''
  return `${patternText(requirement)}${key}${alias === null ? '' : PARTS.alias(alias)}${often}${apart}`
}

export const treeText = (tree: RequirementTree): string =>
  tree.op === 'call' ? requirementText(tree) : `${PARTS[tree.op]} [${tree.of.map(treeText).join(', ')}]`

/** `#11 message` */
export const callText = ({ seq, endpoint, method, path }: CallRef): string =>
  `#${seq} ${endpoint ?? `${method} ${path}`}`

/** Nothing where a scenario has one chat, and for the bot as a whole. */
export const inChat = (chat: string | null): string => (chat ? PARTS.inChat(chat) : '')

export const chatText = ({ chat, scenario }: ChatRef): string =>
  scenario === null ? PARTS.chat(chat) : PARTS.chatOf(chat, scenario)

export function stepText(action: ActionName): string {
  if ('seq' in action) return `#${action.seq} (${action.label})`
  const { number, id, label } = action
  return id === null ? PARTS.step(number, label) : PARTS.stepWithId(number, id, label)
}

export function withinText({ ms, from }: Within): string {
  if (from === null) return PARTS.within(formatDuration(ms))
  return PARTS.withinOf(formatDuration(ms), 'seq' in from ? `#${from.seq}` : stepText(from.step))
}

export const itemText = ({ position, text, files }: InboxItemRef): string =>
  `${PARTS.item(position)} ${text ?? PARTS.request}${files === 0 ? '' : PARTS.files(files)}`

export const itemName = ({ position }: Pick<InboxItemRef, 'position'>): string => PARTS.item(position)

export const whereText = (place: TextPlace): string =>
  place.code === 'call' ? `${place.method} ${place.path}` : itemName(place)

/** `the agent driver has only accept, says` */
export function driverHas(verbs: readonly string[] | null): string {
  if (verbs === null) return PARTS.noDriver
  return verbs.length > 0 ? PARTS.verbs(verbs.join(', ')) : PARTS.noVerbs
}

const LONGEST_QUOTE = 60

/** A regular expression, cut to one short line. */
export const patternName = (pattern: string): string =>
  pattern.length > LONGEST_QUOTE ? `${pattern.slice(0, LONGEST_QUOTE - 1)}…` : pattern

/** A user's text in quotes, cut to one short line. */
export function quotedText(text: string): string {
  const signs = [...text]
  return JSON.stringify(signs.length > LONGEST_QUOTE ? `${signs.slice(0, LONGEST_QUOTE - 1).join('')}…` : text)
}

/** A text of a table, fixed or made from the coded value it belongs to. */
export type TextsOf<Coded extends { readonly code: string }> = {
  readonly [Code in Coded['code']]: string | ((value: Extract<Coded, { code: Code }>, audience: Audience) => string)
}

/** Renders a coded value with the table of its kind. */
export function renderCode<Coded extends { readonly code: string }>(
  texts: TextsOf<Coded>,
  value: Coded,
  audience: Audience,
): string {
  const text: string | ((value: never, audience: Audience) => string) = texts[value.code as Coded['code']]
  return typeof text === 'function' ? text(value as never, audience) : text
}
