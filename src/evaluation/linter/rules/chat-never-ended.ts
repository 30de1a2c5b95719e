import { type Call, type LinterRule, succeeded } from './rule.ts'

/** Only after the agent left, because a scenario may stop in the middle of a conversation. */
export const chatNeverEnded: LinterRule = {
  id: 'chat-never-ended',
  *findInChat(chat) {
    let start: Call | null = null
    let leaveSeq: number | null = null
    let refusedSeqs: number[] = []
    for (const entry of chat) {
      if (entry.kind === 'driver' && entry.verb === 'leave' && entry.outcome === 'ok') {
        leaveSeq = entry.seq
        refusedSeqs = []
      }
      if (entry.kind !== 'api') continue
      if (entry.endpoint === 'end' && succeeded(entry)) start = null
      if (entry.endpoint === 'end' && !succeeded(entry)) refusedSeqs.push(entry.seq)
      if (entry.endpoint === 'start' && succeeded(entry)) {
        start = entry
        leaveSeq = null
      }
    }
    if (start === null || leaveSeq === null) return
    const ends =
      refusedSeqs.length === 0 ? '`end` was never called' : `no call of \`end\` succeeded (${refusedSeqs.length} tried)`
    const happened = `The agent left (#${leaveSeq}) and ${ends}. The chat stays taken over, so the bot does not answer and the user waits for an agent who left. Call \`end\` when the conversation is closed, and repeat it until it succeeds.`
    yield { happened, entrySeqs: [start.seq, leaveSeq, ...refusedSeqs] }
  },
}
