import { type Call, callText, isFaulty, type LinterRule, succeeded } from './rule.ts'

export const startTwice: LinterRule = {
  id: 'start-twice',
  *findInChat(chat) {
    let first: Call | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') first = null
      if (entry.endpoint !== 'start') continue
      if (first !== null && !isFaulty(first)) {
        const happened = `${callText(entry)} was made although #${first.seq} had taken the chat over. The user reads the entering text twice, and what else the platform does is not stated (assumption \`start.again\`). Remember which chats are taken over, and for another agent send \`message\` with the new sender.`
        yield { happened, entrySeqs: [first.seq, entry.seq] }
      }
      first = entry
    }
  },
}
