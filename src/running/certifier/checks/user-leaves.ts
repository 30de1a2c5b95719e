/** FLW-09: the user leaves while an agent has the chat, and the intermediary learns it from a refused call. */
import { callAfterUserLeft } from '../../../evaluation/rules/call-after-user-left.ts'
import { openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { UNTRANSLATED } from '../exchange.ts'

export const USER_LEAVES_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'FLW-09',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['ER4', 'ST15', 'GP'],
    needs: ['accept', 'says'],
    knobs: { ...UNTRANSLATED, 'chat.closed': '404', 'chat.deleted': '404', 'start.unrequested': 'accept' },
    title: 'A conversation ends when its user has left',
    sends:
      'The user closes one chat that is taken over, and deletes another; no event says so. The agent writes, the platform answers 404, and the agent writes again.',
    observes: 'The calls about the chat, the answers of the agent driver, and what the agent sees.',
    passes:
      'The refused call is not repeated, and what the agent writes afterwards is not sent: the conversation is closed, or the agent is told.',
    run: userLeaves,
  },
]

async function userLeaves(check: CheckContext): Promise<void> {
  const { user } = check.core
  for (const [name, leave] of [
    ['closed', user.closes],
    ['deleted', user.deletes],
  ] as const) {
    const chat = await openTakenOver(check, name)
    await chat.inbox()
    await check.pace(chat.id)
    await leave(chat.id)
    const { outcome } = await chat.tryAgent('says', { text: 'Are you still there?' })
    if ((await chat.nextCall('message')) === null) {
      const text = `The agent wrote to a user who had left, and no call of message followed (the agent driver: ${outcome}), so nothing was refused.`
      check.inconclusive({ code: 'calls_missing', text })
      throw new CheckEndedError('message')
    }
    // Long enough for a repetition.
    await check.pause(check.limits.effectMs)
    await chat.inbox()
    await chat.tryAgent('says', { text: 'Then I close this conversation.' })
    await check.pause(check.limits.quietMs)
    check.judge([callAfterUserLeft], chat.entries())
  }
}
