/** Expectations of one chat, or of the bot: each is a step of a play, judged as a step of a scenario is. */
import type { CallBodies, CallId, CallResponses } from '../contract/wire.ts'
import type { Call } from '../evaluator/call.ts'
import { failureOfStep } from '../evaluator/compute-verdict.ts'
import type { Failure } from '../evaluator/verdict.ts'
import { patternText } from '../evaluator/wording.ts'
import type { EntryOf } from '../journal/entry.ts'
import * as checks from '../runner/check-steps.ts'
import type { StepContext } from '../runner/step-context.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { Action } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { type ActionResult, GONE } from '../simulator/chat-handle.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { anything, shown, validateOptions } from '../simulator/validate-options.ts'
import { type BodyMatcher, bodyPattern } from './body-matcher.ts'
import { expectationError } from './expectation-error.ts'
import { checkCall, durationMs, type HowOften, invalid, timesOf } from './options.ts'
import { shownMs, WAIT_MS } from './plan-builder.ts'
import { type Session, sessionOf } from './test-run.ts'
import { stepIdOf } from './user-steps.ts'

export interface ExpectCallOptions {
  /** How long to wait, on the wall. Default 2s, or `expectTimeout` of the simulator. */
  readonly within?: string
  /** Default exactly once; what is more than that is found by `assertClean`. */
  readonly times?: HowOften
  /**
   * Where to look from, in place of the user's first action since the last expectation of this chat: what an action
   * resolved with, or the beginning. The call may then be earlier than those claimed before.
   */
  readonly since?: Pick<ActionResult, 'seq'> | 'beginning'
}

/** Of a chat when `chatId` is given, else of the bot. */
export interface Subject {
  readonly sim: PlatformSimulator
  readonly chatId: string | null
  /** The frames of the stack from where the test asked. */
  readonly asked: string
  /** Default of `within`. */
  readonly waitMs: number | undefined
}

type Body<Id extends CallId> = BodyMatcher<CallBodies[Id]>

/** All calls that were claimed; one unless `times` says otherwise. */
export async function expectCalls<Id extends CallId>(
  subject: Subject,
  call: Id,
  body: Body<Id> | undefined,
  options: ExpectCallOptions,
): Promise<ReceivedCall<Id>[]> {
  validateOptions('expectCall', options, CALL_OPTIONS)
  const { since, within } = options
  checkSubject(subject, call)
  const action: Action = {
    verb: 'expect',
    withinMs: null,
    waitMs: durationMs('within', within) ?? subject.waitMs ?? WAIT_MS,
    tree: {
      op: 'call',
      call,
      body: bodyPattern(body),
      times: timesOf(options.times),
      apartMs: null,
      since: since === undefined ? null : sinceOf(subject, since),
      alias: null,
      auth: 'valid',
      capture: {},
    },
  }
  const label = `expect ${patternText({ call, body: body ?? null })}`
  const { session, step } = await played(subject, action, label, checks.expect)
  return session.evaluation.claims.claimedBy(step.number).map(receivedCall<Id>)
}

export async function expectNone<Id extends CallId>(
  subject: Subject,
  call: Id,
  body: Body<Id> | undefined,
  options: { readonly for: string },
): Promise<void> {
  checkSubject(subject, call)
  if (options === undefined) throw invalid('for', NO_FOR)
  validateOptions('expectNone', options, NONE_OPTIONS)
  const pattern = { call, body: bodyPattern(body) }
  const forMs = durationMs('for', options.for)
  const label = `none ${patternText({ call, body: body ?? null })} for ${shownMs(forMs)}`
  await played(subject, { verb: 'none', calls: [pattern], forMs }, label, checks.none)
}

/** What an expectation may say; each value is read where it is used. */
const CALL_OPTIONS = { within: anything, times: anything, since: anything }
const NONE_OPTIONS = { for: anything }
const NO_FOR =
  "expectNone has to know for how long: { for: '500ms' } watches, { for: '0s' } looks only at what has come."

function sinceOf({ sim }: Subject, since: NonNullable<ExpectCallOptions['since']>): string {
  if (since === 'beginning') return since
  const id = stepIdOf(since.seq)
  if (sessionOf(sim).incremental.hasStep(id)) return id
  const message = `since must be what an action of this chat resolved with since the last reset or restore, or 'beginning', got ${shown(since)}.`
  throw invalid('since', message)
}

/** Plays a step of ours, and throws what the judge has to say against it. */
export async function played<A extends Action>(
  subject: Subject,
  action: A,
  label: string,
  play: (turn: StepContext & { readonly action: A }) => Promise<unknown> | unknown,
  runContextOf = (session: Session) => session.context,
): Promise<{ readonly session: Session; readonly step: PlannedStep }> {
  const session = sessionOf(subject.sim)
  const { step, startSeq } = session.begin(session.conversationOf(subject.chatId), action, label)
  const context = runContextOf(session)
  session.waiting.set(step.number, label)
  const playing = whether(play({ context, step, action, startSeq, signal: session.over, waiting: () => {} }))
  const cut = await playing.finally(() => session.waiting.delete(step.number))
  if (cut) throw overtaken(label, subject.asked)
  session.end(step)
  const failure = failureOfStep(session.evaluation, step)
  if (failure === null) return { session, step }
  session.told.add(step.number)
  throw failed(session, failure, subject)
}

/** Whether a reset, a restore or the end cut it off. */
export async function whether(playing: unknown): Promise<boolean> {
  try {
    await playing
    return false
  } catch (error) {
    if (error instanceof InterruptedError) return true
    throw error
  }
}

export const failed = (session: Session, failure: Failure, { asked }: Subject) =>
  expectationError(session, [failure], asked)

export function overtaken(label: string, asked: string): Error {
  const error = new Error(`The simulator was reset, restored or closed while the test waited: ${label}.`)
  error.stack = `${error.name}: ${error.message}\n${asked}`
  return error
}

/** Only availability is about the bot as a whole; everything else is about a chat. */
function checkSubject({ chatId, sim }: Subject, call: CallId): void {
  checkCall(call)
  if (chatId !== null && call === 'availability')
    throw invalid('call', "availability belongs to the bot, not to a chat: sim.expectCall('availability').")
  if (chatId === null && call !== 'availability') {
    const message = `sim expects only availability, which belongs to the bot. ${call} is about a chat: (await sim.chat()).expectCall(${JSON.stringify(call)}).`
    throw invalid('call', message)
  }
  checkThere({ chatId, sim })
}

/** Of a chat that is gone nothing can come, and what must not come never does. */
export function checkThere({ chatId, sim }: Pick<Subject, 'chatId' | 'sim'>): void {
  if (chatId !== null && sim.findChat(chatId) === undefined) throw invalid('chat', GONE)
}

export interface ReceivedCall<Id extends CallId = CallId> {
  readonly call: Id
  /** As it was sent. It is typed as the platform wants it; a call that was refused may hold anything. */
  readonly body: CallBodies[Id]
  /** As it was answered. */
  readonly response: CallResponses[Id]
  readonly status: number
  readonly method: string
  readonly path: string
  /** Which spelling of the path was used; null for `chat`. */
  readonly alias: 'handover' | 'takeover' | null
  readonly headers: Readonly<Record<string, string>>
  readonly chatId: string | null
  /** Its place in `sim.journal`. */
  readonly seq: number
  /** ISO 8601 on the simulator's clock. */
  readonly time: string
  /** The whole entry. */
  readonly entry: EntryOf<'api'>
}

export function receivedCall<Id extends CallId>({ body, chatId, entry, seq }: Call): ReceivedCall<Id> {
  const { endpoint, response, status, method, path, alias, request, time } = entry
  return {
    call: endpoint as Id,
    body: body as CallBodies[Id],
    response: response as CallResponses[Id],
    status,
    method,
    path,
    alias,
    headers: request.headers,
    chatId,
    seq,
    time,
    entry,
  }
}
