/** Names calls, times, chats and differences in the sentences of findings. */
import { cut } from '../../base/text/cut.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { Difference, StepName } from '../finding.ts'
import type { CallPattern, Expectation, ExpectTree, Times } from '../scenario/plan.ts'
import { bodyNotation, type Notation } from '../scenario/value-text.ts'
import { ABSENT } from './match.ts'

/** Who reads a text: authors of scenario files, or of tests that use the library. */
export type Audience = 'scenario' | 'test'

/** `0.7 s`, `40 ms` */
export function seconds(ms: number): string {
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`
}

/** `+0.84 s` */
export const offset = (ms: number): string => `${ms <= -5 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)} s`

/** `once`, `3 times` */
export function timesText(count: number): string {
  if (count === 0) return 'not at all'
  if (count <= 2) return count === 1 ? 'once' : 'twice'
  return `${count} times`
}

/** `exactly once`, `at least 2 times`, `1 to 3 times`. */
export function howOften({ min, max }: Times): string {
  if (max === 0) return 'not at all'
  if (min === max) return `exactly ${timesText(min)}`
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? 'any number of times' : `at least ${timesText(min)}`
  return min === 0 ? `at most ${timesText(max)}` : `${min} to ${max} times`
}

const MAX_LISTED = 5

/** `#15, #21, #22, #23, #24, …`: the text has the count beside it, and the finding refers to all entries. */
export function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, MAX_LISTED).map(seq => `#${seq}`)
  return seqs.length > MAX_LISTED ? `${shown.join(', ')}, …` : shown.join(', ')
}

/** `, and 2 more (#15, #21)`, or nothing. */
export const another = (seqs: readonly number[]): string =>
  seqs.length === 0 ? '' : `, and ${seqs.length} more (${listed(seqs)})`

export const within = (ms: number): string => `within ${formatDuration(ms)}`

/** `message { message: "Hi" }` */
export function patternText({ call, body }: CallPattern): string {
  const notation = bodyNotation(body)
  return notation === null ? call : `${call} ${notation}`
}

/** The same for sentences in which `any` is no name. */
export const callNamed = (pattern: CallPattern): string =>
  pattern.call === 'any' ? patternText(pattern).replace('any', 'the platform') : patternText(pattern)

const keyAndAlias = ({ auth, alias }: Expectation): string =>
  `${auth === 'invalid' ? ' with a missing or wrong key' : ''}${alias === null ? '' : ` under /${alias}/`}`

/** A requirement without how often. */
export const callWithKey = (leaf: Expectation): string => `${callNamed(leaf)}${keyAndAlias(leaf)}`

export function requirementText(leaf: Expectation): string {
  const { times, apartMs } = leaf
  const often = times.min === 1 && times.max === 1 ? '' : ` ${howOften(times)}`
  const apart = apartMs === null ? '' : `, ${formatDuration(apartMs)} apart`
  return `${patternText(leaf)}${keyAndAlias(leaf)}${often}${apart}`
}

const OPERATIONS = { all: 'all of', seq: 'in this order', oneOf: 'one of' }

export const treeText = (tree: ExpectTree): string =>
  tree.op === 'call' ? requirementText(tree) : `${OPERATIONS[tree.op]} [${tree.of.map(treeText).join(', ')}]`

interface NamedCall {
  readonly seq: number
  /** Null: no path of the platform. */
  readonly endpoint: EndpointId | null
  readonly entry: { readonly method: string; readonly path: string }
}

/** `#11 message` */
export const callText = ({ seq, endpoint, entry }: NamedCall): string =>
  `#${seq} ${endpoint ?? `${entry.method} ${entry.path}`}`

/** Nothing where a scenario has one chat, and for the bot as a whole. */
export const inChat = (chat: string | null): string => (chat ? ` in chat ${JSON.stringify(chat)}` : '')

/** An action: a step of a scenario by its number, an action of a test by its journal entry. */
export type ActionName = StepName | { readonly seq: number; readonly label: string }

export const stepText = (action: ActionName): string =>
  'seq' in action
    ? `#${action.seq} (${action.label})`
    : `step ${action.number}${action.id === null ? '' : ` ${action.id}`} (${action.label})`

/** A time limit and where it counts from: a step, a call, or the start of the step itself. */
export interface Within {
  readonly ms: number
  readonly from: { readonly step: StepName } | { readonly seq: number } | null
}

export function withinText({ ms, from }: Within): string {
  const base = from === null ? '' : ` of ${'seq' in from ? `#${from.seq}` : stepText(from.step)}`
  return `${within(ms)}${base}`
}

const MAX_QUOTE_CHARS = 60

/** A regular expression, cut to one short line. */
export const patternName = (pattern: string): string => cut(pattern, MAX_QUOTE_CHARS)

/** A user's text in quotes, cut to one short line. */
export function quotedText(text: string): string {
  const chars = [...text]
  return JSON.stringify(chars.length > MAX_QUOTE_CHARS ? `${chars.slice(0, MAX_QUOTE_CHARS - 1).join('')}…` : text)
}

/** `message: expected "I'm Anna", received "I&#39;m Anna" (only HTML escaping differs)` */
export function differenceText({ path, expected, received, hint }: Difference): string {
  const field = path === '' ? '' : `${path}: `
  const why = hint === undefined ? '' : ` (${hint})`
  // An element of a list is no field that a call can have.
  if (received === ABSENT && /\w$/.test(path)) return `it has no ${path} (expected ${expected})${why}`
  return `${field}expected ${expected}, received ${received === ABSENT ? 'nothing' : received}${why}`
}

/** The first difference, and how many more there are. */
export const firstDifferenceText = (first: Difference, moreCount: number): string =>
  `${differenceText(first)}${moreCount === 0 ? '' : ` and ${counted(moreCount, 'more difference')}`}`

/** `: TypeError: x is not a function` */
export const answerBody = (body: string): string => `: ${body === '' ? 'an empty body' : body}`

export const webhookUrl = (audience: Audience): string => (audience === 'test' ? 'webhook.url' : '--target')

/** Says that a check needs entries that were evicted. */
export const evictedText = (firstSeq: number): string =>
  `the journal no longer has the entries before #${firstSeq}, so the calls in them cannot be checked; raise journalLimit or memoryLimit, or check earlier`

/** The verbs of a driver's own that shipped scenarios need, and what each has to do. docs/reference/driver.md shows both in full. */
const OWN_VERBS: ReadonlyMap<string, string> = new Map([
  ['does.announce', 'send the waiting user a system message with the position in the queue'],
  ['does.transfer', 'give the chat to the team $(team), and tell the user in a system message'],
])

/** Why a verb cannot be used: `the agent driver has only accept, says`; for one that a shipped scenario needs, how to define it. */
export function whyVerbIsMissing(verb: string, verbs: readonly string[] | null): string {
  const task = OWN_VERBS.get(verb)
  if (verbs !== null && task !== undefined)
    return `the agent driver does not have it: add ${verb.slice('does.'.length)} below does; it has to ${task} (docs/reference/driver.md#verbs-of-your-own)`
  if (verbs === null) return 'there is no agent driver (--agent-driver FILE)'
  if (verbs.length > 0) return `the agent driver has only ${verbs.join(', ')}`
  return 'the agent driver has no verb that can be called here (a manual one needs a terminal)'
}

/** What an undecided step waits for. */
export type Awaited =
  | { readonly code: 'calls'; readonly missing: readonly Expectation[] }
  | { readonly code: 'silence'; readonly forMs: number; readonly calls: readonly CallPattern[] }
  | { readonly code: 'inbox_item'; readonly item: Notation }
  | { readonly code: 'chat_state'; readonly difference: Difference | null }

export function awaitedText(awaited: Awaited): string {
  switch (awaited.code) {
    case 'calls': {
      const [first, ...more] = awaited.missing
      if (first === undefined) return 'calls'
      return `${requirementText(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`
    }
    case 'silence':
      return `${formatDuration(awaited.forMs)} without ${awaited.calls.map(patternText).join(', ')}`
    case 'inbox_item':
      return `the agent to see ${awaited.item}`
    case 'chat_state':
      return awaited.difference === null ? 'the chat' : differenceText(awaited.difference)
  }
}
