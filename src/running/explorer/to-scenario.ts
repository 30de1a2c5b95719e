/** Compiles a conversation to a scenario: its acts, and the checks of what has to hold whatever the conversation is. */

import { type Duration, formatDuration } from '../../base/text/quantities.ts'
import { agent, check, expectCall, fault, press, target, user, wait } from '../../evaluation/scenario/build/steps.ts'
import { escapePlaceholders, TEXT_NAMES } from '../../evaluation/scenario/compile/step-compiler.ts'
import { ALLOWED_CALLS, type ScenarioFile } from '../../evaluation/scenario/format/scenario.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import {
  type Act,
  type ActInState,
  type ActSequence,
  type ChatState,
  inModel,
  isRequest,
  ruleOf,
  startState,
} from './model.ts'

/** What the help desk shows the agent, and what the intermediary does beside what is asked of it. */
export interface Abilities {
  /** The inbox can be read, and shows texts. */
  readonly inbox: boolean
  readonly requests: boolean
  /** It shows that of a second handover beside that of the first one. An inbox may begin anew with each. */
  readonly laterRequests: boolean
  /** The intermediary tells users more than its agents do, such as their place in the queue. */
  readonly notices: boolean
}

export interface ScenarioSettings extends Abilities {
  readonly name: string
  readonly description?: string
  /** How long an effect may take. */
  readonly withinMs: number
  /** Runs in the process of the intermediary, where the pauses of people take no time; null: usual times. */
  readonly inProcess: { readonly settleMs: number } | null
  /** Reports unexpected calls as warnings, to find out about notices. */
  readonly isTrial?: boolean
}

/** Between what a person sees and the next act. */
const HUMAN: Duration = '150ms'
/** Before an act with the pace `slow`, and after a call that was lost: what a timer of the intermediary does has happened. */
const PAUSE: Duration = '3s'
/** Before a restart, because a call whose answer it cuts off may be made again; in a trial, to see repeated notices. */
const REST: Duration = '1s'
/** How long the answer to a call takes that an act with the pace `during` falls into. */
const SLOW_ANSWER: Duration = '400ms'
/** Where an effect has less than a second, or no call takes its way through a network. */
const SHORT_SLOW_ANSWER: Duration = '40ms'
const STANDARD_WITHIN_MS = 5_000

const STATUS: Readonly<Record<ChatState, 'bot' | 'pending' | 'agent'>> = {
  bot: 'bot',
  asked: 'pending',
  agent: 'agent',
  ended: 'bot',
}

const CALLS = { accept: 'start', says: 'message', leave: 'end' } as const

export interface CompiledSequence {
  readonly scenario: ScenarioFile
  /** For each step, the index of the act that it is about; null for steps at the end. */
  readonly actOfStep: readonly (number | null)[]
}

export const chatName = (chat: number): string => `chat_${chat + 1}`

export function toScenario(sequence: ActSequence, settings: ScenarioSettings): CompiledSequence {
  const { name, description, withinMs, inProcess, notices, isTrial } = settings
  const slowAnswer = inProcess === null && withinMs >= 1_000 ? SLOW_ANSWER : SHORT_SLOW_ANSWER
  const acts = inModel(sequence)
  const last = acts.at(-1)?.after
  const count = last?.chats.length ?? 1
  const isSeveral = count > 1
  const steps: Step[] = []
  const actOfStep: (number | null)[] = []
  /** The checks of quick acts, which follow the last one of them: a check between two acts would take its time. */
  let pending: { readonly step: Step; readonly act: number }[] = []
  const add = (step: Step, act: number | null) => {
    steps.push(step)
    actOfStep.push(act)
  }
  const flush = () => {
    for (const { step, act } of pending) add(step, act)
    pending = []
  }

  for (const [index, inState] of acts.entries()) {
    const { act } = inState
    const chat = isSeveral && !ruleOf(act.kind).isOfDesk ? { chat: chatName(act.chat) } : {}
    if (act.pace === 'human' || act.pace === 'slow') {
      flush()
      const isLong = act.kind === 'restart' || (settings.isTrial && act.kind === 'accept')
      // Until a lost call is repeated, a help desk need not let the agent go on.
      const isAfterLoss = acts[index - 1]?.act.fault?.endsWith('-lost') === true
      if (index > 0) add(wait(act.pace === 'slow' || isAfterLoss ? PAUSE : isLong ? REST : HUMAN), index)
    }
    // An earlier state of the chat is not checked once an act has changed it.
    if (ruleOf(act.kind).to !== undefined || ['type', 'stop', 'says'].includes(act.kind))
      pending = pending.filter(({ step }) => step.check === undefined || step.chat !== chat.chat)
    const next = acts[index + 1]?.act
    const isSlow = next?.pace === 'during'
    for (const injected of createFaults(act, isSlow ? slowAnswer : null)) add({ ...injected, ...chat }, index)
    const stimulus = { ...createStimulus(act, next?.pace === 'quick'), ...chat }
    // The next act needs the state of this one, and comes before the answer to its call.
    const id = isSlow && act.kind === 'accept' ? `accept_${index + 1}` : null
    add(id === null ? stimulus : { id, ...stimulus }, index)
    const isBoundLost = acts.some(other => other.act.chat === act.chat && losesBound(other.act))
    for (const step of createChecks(inState, settings, id, isBoundLost))
      pending.push({ step: { ...step, ...chat }, act: index })
    if (id !== null) add({ ...check({ status: 'agent' }), ...chat }, index)
  }
  flush()
  // A help desk may show that its agent types as soon as it has the chat.
  for (const [chat, { status }] of (last?.chats ?? startState(1).chats).entries())
    add(
      check(
        { status: STATUS[status], ...(status === 'agent' ? {} : { typing: false }) },
        isSeveral ? { chat: chatName(chat) } : {},
      ),
      null,
    )

  const timeouts = {
    ...(withinMs !== STANDARD_WITHIN_MS && { expect: formatDuration(withinMs) }),
    ...(inProcess !== null && { settle: formatDuration(inProcess.settleMs) }),
  }
  const allow = [...ALLOWED_CALLS, 'typing_start', 'typing_stop', ...(notices ? ['message' as const] : [])] as const
  const scenario: ScenarioFile = {
    version: 1,
    name,
    ...(description !== undefined && { description }),
    clock: 'real',
    ...(Object.keys(timeouts).length > 0 && { timeouts }),
    strict: { ...(isTrial && { unexpected: 'warn' as const }), allow: [...allow] },
    ...(Object.keys(sequence.knobs).length > 0 && { config: sequence.knobs }),
    ...(isSeveral && { chats: Object.fromEntries(Array.from({ length: count }, (_, chat) => [chatName(chat), {}])) }),
    steps,
    ...(last?.isAway && {
      finally: [agent('back'), expectCall('availability', { availability: 'OPEN' })],
    }),
  }
  return { scenario, actOfStep }
}

/** The text as a scenario has it. */
const written = (text: Act['text']): string => {
  if (text === undefined) return ''
  return TEXT_NAMES.includes(text.kind) ? `$(texts.${text.kind})` : escapePlaceholders(text.value)
}

function createStimulus(act: Act, isAsync: boolean): Step {
  const { kind, text, files } = act
  switch (kind) {
    case 'user':
      return user(written(text), { ...(files && { attach: [...files] }), ...(isAsync && { async: true }) })
    case 'press':
      return press('handover')
    case 'close':
      return user.closes()
    case 'delete':
      return user.deletes()
    case 'says':
      return agent.says(written(text))
    case 'restart':
      return target('restart')
    default:
      return agent(kind)
  }
}

/** The fault of an act, which comes before it. */
function createFaults({ kind, fault: name }: Act, slowAnswer: Duration | null): Step[] {
  const call = kind === 'accept' || kind === 'says' || kind === 'leave' ? CALLS[kind] : null
  if (slowAnswer !== null && call !== null) return [fault({ on: { api: call }, slow_body: slowAnswer, times: 1 })]
  const event = kind === 'press' ? 'REQUESTING TAKEOVER' : 'MESSAGE FROM USER'
  if (name === 'event-twice') return [fault({ on: { webhook: event }, duplicate: 2, gap: '20ms', times: 1 })]
  if (name === 'event-late') return [fault({ on: { webhook: event }, slow: '500ms', times: 1 })]
  if (name === undefined || call === null) return []
  if (name === 'refused')
    return [fault({ on: { api: call }, respond: { status: 429, headers: { 'Retry-After': '1' } }, times: 1 })]
  return [fault({ on: { api: call }, drop: name === 'request-lost' ? 'before' : 'after', times: 1 })]
}

/**
 * Whether the intermediary does not learn which message of the transcript begins or ends the handover: the answer to a
 * repeated call has another id, or one that is in no transcript.
 */
const losesBound = ({ kind, fault: name }: Act): boolean =>
  name === 'answer-lost' && (kind === 'accept' || kind === 'leave')

/**
 * What has to hold because of one act. `id`: the step that its calls count from. `isBoundLost`: the conversation before the
 * handover, which the help desk shows too, may have texts that came by webhook.
 */
function createChecks(
  { act, before, after }: ActInState,
  settings: ScenarioSettings,
  id: string | null,
  isBoundLost: boolean,
): Step[] {
  const { kind, text, files, fault: name } = act
  const since = id === null ? {} : { since: id }
  // A call that was refused is made twice; one whose answer was lost may be made again.
  let times: { readonly times?: number | { readonly min: number; readonly max: number } } =
    settings.notices || settings.isTrial ? { times: 1 } : {}
  if (name === 'refused') times = { times: 2 }
  else if (name !== undefined) times = { times: { min: 1, max: 2 } }
  const isAgain = name === 'event-twice' || isBoundLost ? { times: { min: 1, max: 2 } } : {}
  switch (kind) {
    case 'user': {
      if (before.chats[act.chat]?.status !== 'agent' || !settings.inbox) return []
      const attachments = files?.map(({ name, type }) => ({ name, type }))
      const item = attachments === undefined ? written(text) : { ...(text && { text: written(text) }), attachments }
      return [agent.sees(item, isAgain)]
    }
    case 'press':
      if (!settings.requests || !isRequest(before, act)) return []
      if (before.chats[act.chat]?.status === 'ended' && !settings.laterRequests) return []
      return [agent.sees({ request: true }, isAgain)]
    case 'accept':
      return [expectCall('start', undefined, { ...since, ...times }), check({ status: 'agent' })]
    case 'says':
      return [expectCall('message', { message: written(text) }, times)]
    case 'leave':
      return [expectCall('end', undefined, times), check({ status: 'bot' })]
    case 'stop':
      return [check({ typing: false })]
    case 'away':
    case 'back':
      return [expectCall('availability', { availability: after.isAway ? 'CLOSED' : 'OPEN' })]
    default:
      return []
  }
}
