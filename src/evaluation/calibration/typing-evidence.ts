/** Reads when the typing indicator of a chat is shown and hidden, from typing calls and the events that follow. */
import type { Behaviour } from '../../platform/contract/assumptions.ts'
import { type Fit, HOLDS, JITTER_MS, OTHERWISE, type Reading } from './evidence.ts'
import { type ChatKnowledge, isQueueFree } from './knowledge.ts'
import type { KnownCall } from './known-call.ts'
import type { ObservedEvent } from './observation.ts'

/** The lists of causes that `typing.clearOn` may be. */
const CLEAR_ON = [[], ['end'], ['message'], ['end', 'message']].map(causes => (causes.length === 0 ? 'off' : causes))

/** So many later events show that the event of a typing call does not come. */
const MIN_LATER_EVENTS = 2

/** Notes what a call shows or hides; events tell later whether the platform did so. */
export function readTypingCall({ chat, endpoint, startMs, endMs, request, isAccepted, place }: KnownCall): void {
  if (chat === null || !isAccepted) return
  const { typing } = chat
  if ((endpoint === 'message' || endpoint === 'end') && typing !== null && endMs < typing.fromMs) {
    if (startMs >= typing.sinceMs) typing.causes.add(endpoint)
    // Of two calls at the same time it is unknown which the platform did first.
    else chat.typing = null
  }
  if (endpoint !== 'typing_start' && endpoint !== 'typing_stop') return
  // A recording may have the event before the call that caused it.
  const isAnnounced = chat.typingEventMs >= startMs
  // An event that was not accepted, or is not recorded, may hold up the next ones.
  if (!isAnnounced && isQueueFree(chat, startMs)) chat.awaitedTyping ??= { place, endMs, events: 0 }
  const { timeout } = request
  if (endpoint === 'typing_stop' || typeof timeout !== 'number') {
    chat.typing = null
    return
  }
  const [fromMs, untilMs] = [startMs + timeout, endMs + timeout]
  // Two ends shortly after each other do not show which of the two holds.
  const isEarlier = typing !== null && typing.untilMs > endMs && typing.untilMs < fromMs - 2 * JITTER_MS
  const earlier = isEarlier ? { fromMs: typing.fromMs, untilMs: typing.untilMs } : null
  chat.typing = { sinceMs: endMs, fromMs, untilMs, earlier, causes: new Set(), isAnnounced }
}

export function readTypingEvent(
  { payload, place, startMs }: ObservedEvent,
  chat: ChatKnowledge,
  { addEvidence }: Reading,
): void {
  const { typing, awaitedTyping } = chat
  const isStart = payload.event === 'AGENT TYPING START'
  const isStop = payload.event === 'AGENT TYPING STOP'
  if (isStart || isStop) {
    addEvidence('typing.webhook', ['echo'], place)
    chat.typingEventMs = startMs
    chat.awaitedTyping = null
  } else if (awaitedTyping !== null && startMs >= awaitedTyping.endMs && ++awaitedTyping.events === MIN_LATER_EVENTS) {
    addEvidence('typing.webhook', ['off'], awaitedTyping.place)
    chat.awaitedTyping = null
  }

  if (typing === null) return
  // A typing_stop may have caused the event, whose call the recording has later.
  const addLater = (name: Behaviour, fit: Fit) =>
    chat.deferred.push({ endMs: startMs, add: () => addEvidence(name, fit, place) })
  const { earlier, fromMs, untilMs, causes, isAnnounced } = typing
  if (isStart) typing.isAnnounced = true
  else if (isStop) {
    chat.typing = null
    if (startMs >= fromMs - JITTER_MS) {
      // The indicator was hidden by its end, so that no call before it has hidden it.
      for (const cause of causes)
        addLater(
          'typing.clearOn',
          CLEAR_ON.filter(list => !list.includes(cause)),
        )
      if (earlier !== null) addLater('typing.again', [HOLDS])
    } else if (earlier !== null && startMs >= earlier.fromMs - JITTER_MS && startMs <= earlier.untilMs + JITTER_MS)
      addLater('typing.again', [OTHERWISE])
  } else if (startMs > untilMs + 2 * JITTER_MS) {
    chat.typing = null
    const [cause, anotherCause] = causes
    if (isAnnounced && cause !== undefined && anotherCause === undefined)
      addEvidence(
        'typing.clearOn',
        CLEAR_ON.filter(list => list.includes(cause)),
        place,
      )
  }
}
