// @ts-check
// Shows the agent what was written while no agent was in the chat: the platform sends no event for it.

import { text } from './conversation.js'

/** @typedef {import('./conversation.js').Conversation} Conversation */
/** @typedef {import('./conversation.js').InboxItem} InboxItem */

/**
 * Adds the messages of a transcript between two notices: what the platform wrote at the last `end`,
 * and what it wrote at this `start`, whose id is in the answer. What is behind the second comes by
 * webhook, and may be in the transcript too, because the user goes on writing while it is read. Texts
 * could not tell the two apart: events have no id, and a user may write "ok" twice. When a notice is
 * not found, nothing is left out: a doubled sentence is better than a missing one.
 * @param {Conversation} conversation
 * @param {Record<string, any>[]} messages of the whole chat, oldest first
 * @param {{ after?: string | null, before?: string }} notices ids
 */
export function showHistory({ inbox, accepted }, messages, { after, before }) {
  const first = messages.findIndex(({ id }) => id === after) + 1
  const end = messages.findIndex(({ id }) => id === before)
  const lines = messages
    .slice(first, end === -1 ? messages.length : end)
    .map(({ message, name }) => ({ text: text(message), from: text(name), attachments: [] }))
  // Behind the request, and so before the messages that came by webhook meanwhile.
  const place = inbox.findLastIndex(item => 'request' in item) + 1
  // Some may have come before the agent accepted, as after a restart: those are in the transcript too.
  for (const item of inbox.slice(place, accepted)) {
    const copy = lines.findLastIndex(line => 'text' in item && line.text === item.text)
    if (copy !== -1) lines.splice(copy, 1)
  }
  inbox.splice(place, 0, ...lines)
}
