/** After the end: calls nobody claimed, calls that were one too many, and calls that came when all was over. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Evaluation } from './evaluation.ts'
import { closeOf } from './expect.ts'
import { tooClose } from './expect-failure.ts'
import { AVAILABILITY, type ConversationKey } from './journal-index.ts'
import { flow } from './matching/value-text.ts'
import type { AttributedFailure } from './step-evaluator.ts'
import { allotted, type Taken } from './surplus-calls.ts'
import { howOften, inConversation, listed, offset, requirementText, seconds } from './wording.ts'

/** `told`: calls that another failure has told already. */
export function unexpectedCalls(evaluation: Evaluation, told: ReadonlySet<number>): AttributedFailure[] {
  const { index } = evaluation
  const conversations: ConversationKey[] = [...index.plan.conversations.map(({ name }) => name), AVAILABILITY]
  return conversations.flatMap(conversation => ofConversation(evaluation, conversation, told))
}

function ofConversation(
  evaluation: Evaluation,
  conversation: ConversationKey,
  told: ReadonlySet<number>,
): AttributedFailure[] {
  const { index, claims } = evaluation
  const taken = allotted(evaluation, [conversation])
  const counted = new Set(taken.flatMap(({ surplus, excess }) => [...surplus, ...excess]))
  const cut = cutOff(evaluation, conversation)
  const free = index.callsOf(conversation).filter(call => {
    const mine = claims.ownerOf(call) !== null || counted.has(call) || told.has(call.seq)
    return !mine && call.readAt < cut && matters(evaluation, call)
  })
  const ended = index.ended?.at_ms ?? Number.POSITIVE_INFINITY
  return [
    ...taken.filter(one => one.excess.length > 0).flatMap(one => tooMany(evaluation, one, conversation, cut)),
    ...taken.filter(one => one.surplus.length > 0).flatMap(one => tooCloseLater(one, conversation)),
    ...grouped(free.filter(call => call.readAt <= ended)).map(calls => unexpected(evaluation, calls, conversation)),
    ...lateCalls(
      evaluation,
      free.filter(call => call.readAt > ended),
      conversation,
    ),
  ]
}

const matters = ({ index: { plan } }: Evaluation, { endpoint }: Call): boolean =>
  endpoint !== null &&
  !plan.strict.allow.includes(endpoint) &&
  (endpoint !== 'availability' || plan.mentionsAvailability)

/** From the turn of the first failure on a lane was not played to its end: what comes then explains itself. */
function cutOff(evaluation: Evaluation, conversation: ConversationKey): number {
  const { index, windows } = evaluation
  const own = [...index.steps.values()].filter(
    step => conversation === AVAILABILITY || step.conversation === conversation,
  )
  const failed = own.filter(step => stopsConversation(evaluation, step)).map(step => windows.turnStart(step).atMs)
  return Math.min(Number.POSITIVE_INFINITY, ...failed)
}

const stopsConversation = (evaluation: Evaluation, step: PlannedStep): boolean =>
  !step.soft && evaluation.index.begun(step.number) !== null && evaluation.resultOf(step, true).outcome !== 'pass'

function tooMany(
  evaluation: Evaluation,
  { watch, leaf, claimed, surplus, excess }: Taken,
  conversation: ConversationKey,
  cut: number,
): AttributedFailure[] {
  const { strict, conversations } = evaluation.index.plan
  const once = leaf.times.min === 1 && leaf.times.max === 1
  const within = excess.filter(call => call.readAt < cut)
  if (within.length === 0 || (once && !within.every(call => matters(evaluation, call)))) return []
  const all = [...claimed, ...surplus, ...within].map(({ seq }) => seq).sort((a, b) => a - b)
  const often = once ? ` ${howOften(leaf.times)}` : ''
  return [
    {
      at: within[0]!.seq,
      step: watch.step,
      conversation: nameOfConversation(conversation),
      severity: once ? strict.unexpected : 'fail',
      rule: 'too-many-calls',
      told: {
        kind: 'times',
        wanted: `${requirementText(leaf)}${often}${inConversation(nameOfConversation(conversation), conversations.length > 1)}`,
        happened: cameText(all, [...claimed, ...surplus].at(-1), within[0]!),
        rules: leaf.call === 'any' ? [] : [ruleOf(leaf.call)],
        nearest: [],
        marks: within.map(({ seq }) => seq),
        ...repeatedHint(evaluation, claimed.at(-1), within[0]!),
      },
    },
  ]
}

/** Between those the step waited for, the step itself has judged it. */
function tooCloseLater({ watch, leaf, claimed, surplus }: Taken, conversation: ConversationKey): AttributedFailure[] {
  const close = closeOf(leaf, [...claimed.slice(-1), ...surplus])
  if (close === null) return []
  const about = {
    step: watch.step,
    conversation: nameOfConversation(conversation),
    severity: 'fail',
    rule: 'too-close',
  } as const
  return [{ ...about, at: close.second.seq, told: tooClose(close) }]
}

/** `it came 2 times: #9 and, 3.0 s later, #11` */
function cameText(all: readonly number[], first: Call | undefined, second: Call): string {
  const gap = first === undefined ? '' : `${seconds(Math.abs(second.readAt - first.readAt))} after #${first.seq}`
  if (all.length === 2 && first !== undefined) {
    return `it came 2 times: #${first.seq} and, ${gap.replace(/ after .*/, ' later')}, #${second.seq}`
  }
  return `it came ${all.length} times: ${listed(all)}; one too many is #${second.seq}${gap === '' ? '' : `, ${gap}`}`
}

/** An answer that was lost is tried again, and the platform cannot tell. */
function repeatedHint(evaluation: Evaluation, first: Call | undefined, second: Call): { hint?: string } {
  const lost = first !== undefined && 'answer_lost' in first.entry
  if (lost)
    return { hint: 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.' }
  const again = evaluation.index.entries.some(
    entry =>
      entry.kind === 'delivery' &&
      entry.attempt > 1 &&
      entry.seq < second.seq &&
      entry.chat_id === second.entry.chat_id,
  )
  return again ? { hint: 'An event was delivered more than once before: is the repetition taken for a new one?' } : {}
}

/** By endpoint: a line for each of fifty typing_start would hide the rest. */
function grouped(calls: readonly Call[]): Call[][] {
  const groups = new Map<EndpointId | null, Call[]>()
  for (const call of calls) groups.set(call.endpoint, [...(groups.get(call.endpoint) ?? []), call])
  return [...groups.values()]
}

function unexpected(evaluation: Evaluation, calls: readonly Call[], conversation: ConversationKey): AttributedFailure {
  const { strict, conversations } = evaluation.index.plan
  const first = calls[0]!
  const more =
    calls.length === 1 ? '' : `, and ${calls.length - 1} more of it (${listed(calls.slice(1).map(({ seq }) => seq))})`
  return {
    at: first.seq,
    step: null,
    conversation: nameOfConversation(conversation),
    severity: strict.unexpected,
    rule: 'unexpected-call',
    told: {
      kind: 'unexpected',
      wanted: `a step for every call${inConversation(nameOfConversation(conversation), conversations.length > 1)}`,
      happened: `${said(first)} at ${offset(sincePlay(evaluation, first))}: no step expects it${more}`,
      rules: [ruleOf(first.endpoint)],
      nearest: [],
      marks: calls.map(({ seq }) => seq),
      hint: `If it is right, expect it, or allow it with strict: { allow: [${first.endpoint}] }.`,
    },
  }
}

function lateCalls(evaluation: Evaluation, calls: readonly Call[], conversation: ConversationKey): AttributedFailure[] {
  const [first, ...more] = calls
  if (first === undefined) return []
  const { plan, ended } = evaluation.index
  const others = more.length === 0 ? '' : `, and ${more.length} more (${listed(more.map(({ seq }) => seq))})`
  return [
    {
      at: first.seq,
      step: null,
      conversation: nameOfConversation(conversation),
      severity: plan.strict.unexpected,
      rule: 'late-call',
      told: {
        kind: 'late',
        wanted: `no call after the end of the scenario${inConversation(nameOfConversation(conversation), plan.conversations.length > 1)}`,
        happened: `${said(first)} came ${seconds(first.readAt - ended!.at_ms)} after it had ended${others}`,
        rules: [ruleOf(first.endpoint)],
        nearest: [],
        marks: calls.map(({ seq }) => seq),
        hint: 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.',
      },
    },
  ]
}

const nameOfConversation = (conversation: ConversationKey): string | null =>
  conversation === AVAILABILITY ? null : conversation
const sincePlay = ({ index }: Evaluation, call: Call) => call.readAt - (index.started?.at_ms ?? 0)

/** `#11 message { message: "Hi" }`: without the ids, which say nothing to a reader. */
function said(call: Call): string {
  if (typeof call.body !== 'object' || call.body === null) return `${shortName(call)} ${flow(call.body, 60)}`
  const { bot_id: _, chat_id: __, ...rest } = call.body as Record<string, unknown>
  return Object.keys(rest).length === 0 ? shortName(call) : `${shortName(call)} ${flow(rest, 60)}`
}
