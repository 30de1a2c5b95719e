/** RST: the intermediary is restarted in the middle of conversations. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { driverFailureText, stepFailureText } from '../../../platform/wording/failures.ts'
import { TargetStartError } from '../../agent-driver/target.ts'
import { rejectOnAbort } from '../../runner/waiting.ts'
import { type CheckChat, expectAcknowledged, openChat, openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { messageIn } from '../exchange.ts'
import { readInboxUntil, timesSeen } from '../observe.ts'

export const RESTART_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'RST-01',
    level: 'SHOULD',
    profile: 'resilience',
    rules: ['W2', 'GP'],
    needs: ['accept', 'says', 'leave'],
    restarts: true,
    exclusive: true,
    title: 'Conversations continue after a restart',
    sends:
      'A restart with kill -9, and one with SIGTERM, each right after a request was acknowledged, while one chat waits for an agent, one is taken over, and one is about to end.',
    observes: 'What the agent can still do, and the calls that follow.',
    passes: 'start, message and end still come, and the agent sees what the user wrote before the restart.',
    async run(check) {
      // What is lost by kill -9 has the same cause when SIGTERM loses it as well.
      if (await restartInTheMiddle(check, 'kill')) await restartInTheMiddle(check, 'stop')
    },
  },
]

const QUESTION = 'Are you there?'
const ANSWER = 'Yes, I am still here.'

/** kill: SIGKILL. stop: SIGTERM. */
type Restart = 'kill' | 'stop'
const SIGNALS: Readonly<Record<Restart, string>> = { kill: 'kill -9', stop: 'SIGTERM' }

const STORE = 'Store requests and open conversations on disk or in a database before the webhook answers 200'
const HINTS: Readonly<Record<Restart, string>> = {
  kill: `${STORE}, and read them when the program starts. Nothing runs after kill -9, so a handler of signals is not enough.`,
  stop: `${STORE}, and read them when the program starts. At SIGTERM, finish the requests that have begun.`,
}

async function restartInTheMiddle(check: CheckContext, how: Restart): Promise<boolean> {
  const pending = await openChat(check, `request, ${how}`)
  const [open, closing] = await Promise.all([
    openTakenOver(check, `conversation, ${how}`),
    openTakenOver(check, `end, ${how}`),
  ])
  expectAcknowledged(check, await open.says(QUESTION))
  // Last, so that the restart comes right after this acknowledgement, and a while after all others.
  await check.pace(null)
  expectAcknowledged(check, await pending.press())
  const afterSeq = check.core.journal.nextSeq - 1
  const target = check.driver?.target
  if (target == null) throw new CheckEndedError('no target')
  // Continues also when the check has ended meanwhile, so that later checks find the target running.
  const restarted = (how === 'kill' ? target.kill() : target.stop()).then(() => target.start())
  try {
    await rejectOnAbort(restarted, check.signal)
  } catch (error) {
    if (!(error instanceof TargetStartError)) throw error
    check.report('SHOULD', 'not-restarted', {
      happened: `The intermediary did not start again after ${SIGNALS[how]}: ${stepFailureText(error.failure)}`,
      hint: 'Look for a lock, a port or a half-written file that the ended process left behind, and for a time limit of the driver that is too short.',
      details: { how, failure: error.failure },
    })
    throw new CheckEndedError(how)
  }

  const continued = await Promise.all([
    continues(check, pending, { how, afterSeq, verb: 'accept', endpoint: 'start' }),
    conversationContinues(check, open, how, afterSeq),
    continues(check, closing, { how, afterSeq, verb: 'leave', endpoint: 'end' }),
  ])
  return !continued.includes(false)
}

async function conversationContinues(
  check: CheckContext,
  chat: CheckChat,
  how: Restart,
  afterSeq: number,
): Promise<boolean> {
  if (!(await continues(check, chat, { how, afterSeq, verb: 'says', endpoint: 'message', text: ANSWER }))) return false
  if (!check.canDo('inbox')) return true
  const withinMs = check.limits.effectMs
  const items = await readInboxUntil(check, chat, withinMs, seen => timesSeen(seen, QUESTION) > 0)
  if (timesSeen(items, QUESTION) > 0) return true
  check.report('SHOULD', 'message-lost-by-restart', {
    happened: `The user wrote ${JSON.stringify(QUESTION)}, the event was answered with 200, and the intermediary was restarted with ${SIGNALS[how]}. The agent did not see the text within ${formatDuration(withinMs)} after that.`,
    hint: `${STORE}: the platform does not send an event again that was answered with 200.`,
    details: { how, text: QUESTION, withinMs },
  })
  return false
}

/** What the agent does after a restart. */
interface Continuation {
  readonly how: Restart
  /** The last entry before it: what was called earlier does not show that the intermediary continues. */
  readonly afterSeq: number
  readonly verb: 'accept' | 'says' | 'leave'
  readonly endpoint: 'start' | 'message' | 'end'
  readonly text?: string
}

const SITUATIONS: Readonly<Record<Continuation['endpoint'], string>> = {
  start: 'The user had asked for an agent before the restart, and the event was answered with 200.',
  message: 'The chat was taken over before the restart.',
  end: 'The chat was taken over before the restart, and the agent wanted to leave after it: until end comes, the user has neither an agent nor a bot.',
}

/** The agent acts, and the call must follow, with the text of the agent. Reports when it does not. */
async function continues(check: CheckContext, chat: CheckChat, continuation: Continuation): Promise<boolean> {
  const { how, afterSeq, verb, endpoint, text = '' } = continuation
  const { journal } = check.core
  const withinMs = check.limits.effectMs
  const { outcome, failure = null } = await chat.tryAgent(verb, text === '' ? {} : { text })
  if (outcome === 'ok') {
    const untilMs = journal.atMs + withinMs
    let call = await chat.nextCall(endpoint, withinMs)
    while (call !== null && (call.seq <= afterSeq || !messageIn(call).includes(text)))
      call = await chat.nextCall(endpoint, Math.max(0, untilMs - journal.atMs))
    if (call !== null) return true
  }
  const cause =
    failure === null
      ? `the agent driver performed ${verb}, and no call followed within ${formatDuration(withinMs)}`
      : `the agent driver failed at ${verb}, ${driverFailureText(failure)}`
  check.report('SHOULD', 'lost-by-restart', {
    happened: `After a restart with ${SIGNALS[how]}, ${endpoint} did not come: ${cause}. ${SITUATIONS[endpoint]}`,
    hint: HINTS[how],
    details: { how, verb, endpoint, withinMs, failure },
    entries: journal.query({ kind: 'driver', chatId: chat.id }).slice(-1),
  })
  return false
}
