import { isAccepted } from '../history.ts'
import type { Rule } from './rule.ts'

/** Only after the agent left, because a scenario may stop in the middle of a conversation. */
export const chatNeverEnded: Rule = {
  id: 'chat-never-ended',
  level: 'SHOULD',
  *judgeChat({ agentActs, calls, status, since: start }) {
    if (status !== 'agent' || start?.kind !== 'api') return
    const leave = agentActs.findLast(({ verb, outcome }) => verb === 'leave' && outcome === 'ok')
    if (leave === undefined || leave.seq < start.seq) return
    const refused = []
    for (const { call } of calls)
      if (call.endpoint === 'end' && call.seq > leave.seq && !isAccepted(call)) refused.push(call)
    const ends =
      refused.length === 0 ? '`end` was never called' : `no call of \`end\` succeeded (${refused.length} tried)`
    yield {
      happened: `The agent left (#${leave.seq}) and ${ends}. The chat stays taken over, so the bot does not answer and the user waits for an agent who left.`,
      hint: 'Call `end` when the conversation is closed, and repeat it until it succeeds.',
      entries: [start, leave, ...refused],
    }
  },
}
