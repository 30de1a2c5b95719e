/** Finds a desk that goes on after a call was refused because the user has left: no event says so, so it can only learn it there. */
import { formatDuration } from '../../base/text/quantities.ts'
import { type CallEntry, type ChatHistory, isDeparture } from '../history.ts'
import { callText, isFaulty, type Rule, right } from './rule.ts'

/** What a user in the chat would see. An `end`, a typing_stop and reads are right: they close the conversation at the desk. */
const FOR_THE_USER: readonly (string | null)[] = ['start', 'message', 'typing_start']
const REPEATABLE: readonly (string | null)[] = ['start', 'message', 'end']
/** A call that was sent before the answer to another one arrived cannot know it. */
const MARGIN_MS = 50

export const callAfterUserLeft: Rule = {
  id: 'call-after-user-left',
  // The description does not say what such a call gets (`chat.closed`, `chat.deleted`).
  level: 'SHOULD',
  *judgeChat(chat) {
    /** The call by which the intermediary learned that the user has left; null while it cannot know. */
    let refused: CallEntry | null = null
    for (const entry of chat.entries) {
      if (entry.kind === 'note' && (entry.note === 'chat_reopened' || isDeparture(entry))) refused = null
      if (entry.kind !== 'api' || isFaulty(entry)) continue
      if (refused === null) {
        if (isRefusedForLeaving(entry)) refused = entry
        continue
      }
      if (entry.at_ms - entry.duration_ms < refused.at_ms + MARGIN_MS) continue
      const isRepeated = REPEATABLE.includes(entry.endpoint) && isSame(entry, refused)
      const isTold = isAgentTold(chat, refused, entry)
      if (entry.endpoint === 'end' && !isRepeated) yield right(entry)
      if (!isRepeated && (isTold || !FOR_THE_USER.includes(entry.endpoint))) continue
      const after = formatDuration(Math.round(entry.at_ms - refused.at_ms))
      yield {
        happened: isRepeated
          ? `${callText(entry)} repeats #${refused.seq}, ${after} after the platform had refused it because the user has left the chat. It is refused each time.`
          : `${callText(entry)} came ${after} after the platform had refused #${refused.seq} because the user has left the chat. The conversation is still open at the desk, and the agent goes on without knowing that nobody reads it.`,
        hint: 'Treat a 404 for a chat that worked before as the end of its conversation: discard what waits for the chat, close it at the desk, and show the agent why.',
        details: { endpoint: entry.endpoint, repeated: isRepeated },
        entries: [refused, entry],
      }
    }
    if (refused !== null && isAgentTold(chat, refused, null)) yield right(refused)
  },
}

/** Whether the platform refused the call because the user has closed or deleted the chat. */
const isRefusedForLeaving = ({ status, unspecified }: CallEntry): boolean =>
  status >= 400 && ('chat.closed' in unspecified || 'chat.deleted' in unspecified)

const isSame = (call: CallEntry, other: CallEntry): boolean =>
  call.endpoint === other.endpoint && JSON.stringify(call.request.body) === JSON.stringify(other.request.body)

/** Whether the desk has refused an act of the agent, or shown something new, between the refusal and the call. */
function isAgentTold({ agentActs, reads }: ChatHistory, refused: CallEntry, call: CallEntry | null): boolean {
  const isBetween = ({ seq }: { readonly seq: number }) => seq > refused.seq && seq < (call?.seq ?? Infinity)
  if (agentActs.some(act => isBetween(act) && act.verb !== 'inbox' && act.outcome !== 'ok')) return true
  const before = reads.findLast(({ seq }) => seq < refused.seq)?.items.length ?? 0
  return reads.some(read => isBetween(read) && read.items.length > before)
}
