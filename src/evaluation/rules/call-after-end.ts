/** Finds what comes after the end of a handover, when the bot answers again (W2). A new request begins a new handover. */
import { formatDuration } from '../../base/text/quantities.ts'
import { type CallEntry, type ChatHistory, isAccepted } from '../history.ts'
import { callText, type Mistake, type Rule, right } from './rule.ts'

/** A new start also begins a handover: an agent may begin one without a request. */
export const callAfterEnd: Rule = {
  id: 'call-after-end',
  // The platform does not forbid it (`message.requiresTakeover`, `typing.idle`).
  level: 'SHOULD',
  *judgeChat(chat) {
    // What the user could see. Reads of the transcript are right after the end, for an archive.
    for (const [call, end] of callsAfterEnd(chat))
      if (call.endpoint === 'message' || call.endpoint === 'typing_start') yield lateCall(call, end)
  },
}

/** For an agent who has left and accepted nothing since: a start keeps the bot away. */
export const startAfterEnd: Rule = {
  id: 'start-after-end',
  level: 'MUST',
  *judgeChat(chat) {
    for (const [call, end] of callsAfterEnd(chat)) if (call.endpoint === 'start') yield lateCall(call, end)
  },
}

/** The end was right when nothing came after it. */
export const endRepeated: Rule = {
  id: 'end-repeated',
  level: 'SHOULD',
  *judgeChat(chat) {
    const late = [...callsAfterEnd(chat)]
    for (const [call, end] of late) {
      if (call.endpoint !== 'end' || !isAccepted(call)) continue
      yield {
        happened: `${callText(call)} came ${formatDuration(call.at_ms - end.at_ms)} after the handover was ended with #${end.seq}. A second end could end a new handover of the same chat.`,
        hint: 'Call `end` only when it ends a handover that is open, and repeat it only when it was not answered with 2xx.',
        details: { endpoint: 'end' },
        entries: [end, call],
      }
    }
    for (const { call, before } of chat.calls)
      if (call.endpoint === 'end' && isAccepted(call) && before === 'agent') yield right(call)
  },
}

/** Calls of a chat whose handover a call has ended, each with that call. */
function* callsAfterEnd({ calls }: ChatHistory): Generator<readonly [CallEntry, CallEntry]> {
  for (const { call, before, since } of calls) if (before === 'ended' && since?.kind === 'api') yield [call, since]
}

const lateCall = (call: CallEntry, end: CallEntry): Mistake => ({
  happened: `${callText(call)} came ${formatDuration(call.at_ms - end.at_ms)} after the handover was ended with #${end.seq}, when the bot answers again.`,
  hint: 'Send a farewell before `end`. When a handover ends, discard what waits in a queue for its chat, or show it to the agent (W2).',
  details: { endpoint: call.endpoint },
  entries: [end, call],
})
