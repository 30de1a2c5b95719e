import { callText, type LinterRule, succeeded } from './rule.ts'

/** A new handover request allows messages again, such as a notice that all agents are busy. */
export const messageAfterEnd: LinterRule = {
  id: 'message-after-end',
  *findInChat(chat) {
    let endSeq: number | null = null
    for (const entry of chat) {
      if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') endSeq = null
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') endSeq = entry.seq
      if (entry.endpoint === 'start') endSeq = null
      if (endSeq === null || (entry.endpoint !== 'message' && entry.endpoint !== 'typing_start')) continue
      const happened = `${callText(entry)} came after the handover was ended with #${endSeq}. The bot answers the chat again, so the user gets answers from both. Send what is waiting before \`end\`, and drop later messages or show them to the agent.`
      yield { happened, entrySeqs: [endSeq, entry.seq] }
    }
  },
}
