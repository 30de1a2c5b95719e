import { isAccepted } from '../history.ts'
import { callText, isFaulty, type Rule } from './rule.ts'

export const startTwice: Rule = {
  id: 'start-twice',
  level: 'SHOULD',
  *judgeChat({ calls }) {
    for (const { call, before, since } of calls) {
      if (call.endpoint !== 'start' || !isAccepted(call) || before !== 'agent') continue
      if (since?.kind !== 'api' || isFaulty(since)) continue
      yield {
        happened: `${callText(call)} was made although #${since.seq} had taken the chat over. The user reads the entering text twice, and what else the platform does is not stated (assumption \`start.again\`).`,
        hint: 'Remember which chats are taken over, and for another agent send `message` with the new sender.',
        entries: [since, call],
      }
    }
  },
}
