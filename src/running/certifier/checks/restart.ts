/** RST: the intermediary is restarted in the middle of conversations. */

import type { TargetControl } from '../../agent-driver/driver.ts'
import { TargetStartError } from '../../agent-driver/target.ts'
import { rejectOnAbort } from '../../runner/waiting.ts'
import { type ChatCall, type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { awaitInbox } from '../effects.ts'
import { messageIn } from '../exchange.ts'
import type { Restart } from '../findings/restart.ts'

export const RESTART_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'RST-01',
    level: 'SHOULD',
    profile: 'resilience',
    rules: ['W2', 'GP'],
    needs: ['accept', 'says', 'leave'],
    restarts: true,
    exclusive: true,
    texts: {
      title: 'Conversations continue after a restart',
      sends:
        'A restart with kill -9, and one with SIGTERM, each while one chat waits for an agent, one is taken over, and one is about to end.',
      observes: 'What the agent can still do, and the calls that follow.',
      passes: 'start, message and end still come, and the agent sees what the user wrote before the restart.',
    },
    async run(check) {
      // What is lost by kill -9 has the same cause when SIGTERM loses it as well.
      if (await restartInTheMiddle(check, 'kill')) await restartInTheMiddle(check, 'stop')
    },
  },
]

const QUESTION = 'Are you there?'
const ANSWER = 'Yes, I am still here.'

async function restartInTheMiddle(check: CheckContext, how: Restart): Promise<boolean> {
  const [pending, open, closing] = await Promise.all([
    check.chat(`request, ${how}`),
    check.chat(`conversation, ${how}`),
    check.chat(`end, ${how}`),
  ])
  await Promise.all([open.takeOver(), closing.takeOver()])
  expectAcknowledged(check, await open.says(QUESTION))
  // Last, so that the restart comes right after the acknowledgement.
  expectAcknowledged(check, await pending.press())
  const afterSeq = await restart(check, how)
  const continued = await Promise.all([
    requireCall(check, pending, { how, afterSeq, verb: 'accept', endpoint: 'start' }),
    expectConversation(check, open, { how, afterSeq }),
    requireCall(check, closing, { how, afterSeq, verb: 'leave', endpoint: 'end' }),
  ])
  return continued.every(Boolean)
}

async function expectConversation(check: CheckContext, chat: CheckChat, restarted: Restarted): Promise<boolean> {
  const { how } = restarted
  if (!(await requireCall(check, chat, { ...restarted, verb: 'says', endpoint: 'message', text: ANSWER }))) return false
  if (!check.driver?.verbs.includes('inbox')) return true
  const { effectMs } = check.limits
  const isSeen = await awaitInbox(check, chat, effectMs, items => items.some(({ text }) => text?.includes(QUESTION)))
  if (!isSeen) check.report('SHOULD', 'message-lost-by-restart', { how, text: QUESTION, withinMs: effectMs }, [])
  return isSeen
}

interface Restarted {
  readonly how: Restart
  /** The last entry before it: what was called earlier does not show that the intermediary continues. */
  readonly afterSeq: number
}

interface Continuation extends Restarted {
  readonly verb: 'accept' | 'says' | 'leave'
  readonly endpoint: 'start' | 'message' | 'end'
  readonly text?: string
}

/** The agent acts, and the call must follow. Reports when it does not. */
async function requireCall(check: CheckContext, chat: CheckChat, continuation: Continuation): Promise<boolean> {
  const { how, verb, endpoint, text } = continuation
  const acted = await chat.tryAgent(verb, text === undefined ? {} : { text })
  const call = acted.outcome === 'ok' ? await nextCallAfter(check, chat, continuation) : null
  if (call !== null) return true
  const withinMs = check.limits.effectMs
  const entries = check.core.journal.query({ kind: 'driver', chatId: chat.id }).slice(-1)
  check.report('SHOULD', 'lost-by-restart', { how, verb, endpoint, withinMs, failure: acted.failure ?? null }, entries)
  return false
}

/** A call with the text of the agent, when there is one. */
async function nextCallAfter(
  check: CheckContext,
  chat: CheckChat,
  { endpoint, afterSeq, text = '' }: Continuation,
): Promise<ChatCall | null> {
  const { journal } = check.core
  const untilMs = journal.atMs + check.limits.effectMs
  for (;;) {
    const call = await chat.nextCall(endpoint, Math.max(0, untilMs - journal.atMs))
    if (call === null || (call.seq > afterSeq && messageIn(call.request.body).includes(text))) return call
  }
}

/** Resolves with the last entry before the restart. */
async function restart(check: CheckContext, how: Restart): Promise<number> {
  const target = check.driver?.target
  if (target == null) throw new CheckEndedError('no target')
  const lastSeq = check.core.journal.nextSeq - 1
  try {
    await rejectOnAbort(restarted(target, how), check.signal)
  } catch (error) {
    if (!(error instanceof TargetStartError)) throw error
    check.report('SHOULD', 'not-restarted', { how, failure: error.failure }, [])
    throw new CheckEndedError(how)
  }
  return lastSeq
}

/** Continues also when the check has ended meanwhile, so that later checks find the target running. */
async function restarted(target: TargetControl, how: Restart): Promise<void> {
  await (how === 'kill' ? target.kill() : target.stop())
  await target.start()
}
