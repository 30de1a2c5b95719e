/** The order of start, message and end within a chat. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { callAt, perChat, type Sighting, succeeded, wasSpoilt } from './rule.ts'

/** A new request makes notices to the user legitimate again. */
export const messageAfterEnd = perChat('message-after-end', chat => {
  let endedAt: number | null = null
  const found: Sighting[] = []
  for (const entry of chat) {
    if (isRequest(entry)) endedAt = null
    if (entry.kind !== 'api' || !succeeded(entry)) continue
    if (entry.endpoint === 'end') endedAt = entry.seq
    if (entry.endpoint === 'start') endedAt = null
    if (endedAt === null || !SPEAKS.has(entry.endpoint)) continue
    found.push({ marks: [endedAt, entry.seq], message: afterEnd(callAt(entry), endedAt) })
  }
  return found
})

const SPEAKS = new Set<string | null>(['message', 'typing_start'])
const isRequest = (entry: Entry) => entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER'

const afterEnd = (call: string, endedAt: number) =>
  `${call} came after the handover was ended with #${endedAt}. The bot has the chat again, so the user hears two voices. ` +
  'Send what is still waiting before `end`, and drop what comes later or show it to the agent.'

export const startTwice = perChat('start-twice', chat => {
  let first: EntryOf<'api'> | null = null
  const found: Sighting[] = []
  for (const entry of chat) {
    if (entry.kind !== 'api' || !succeeded(entry)) continue
    if (entry.endpoint === 'end') first = null
    if (entry.endpoint !== 'start') continue
    if (first !== null && !wasSpoilt(first)) {
      found.push({ marks: [first.seq, entry.seq], message: again(callAt(entry), first.seq) })
    }
    first = entry
  }
  return found
})

const again = (call: string, startedAt: number) =>
  `${call} was made though #${startedAt} had already taken the chat over. The user reads a second time that an agent ` +
  'enters, and what else the platform does then is not stated (assumption `start.again`). Remember which chats are open, and for ' +
  'another agent send `message` with the new sender.'
