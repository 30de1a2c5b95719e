// @ts-check
// Defines the data of one chat. The state file stores it as it is.

/** @typedef {import('./platform.js').Call} Call */

/** @typedef {{ at: string, call: string, reason: string, text?: string }} Problem */
/** @typedef {{ name: string, url: string, type: string }} Attachment */
/** @typedef {{ text: string, attachments: Attachment[], note?: true, from?: string }} TextItem */
/** @typedef {{ request: true } | TextItem} InboxItem */

/**
 * A queue of platform calls, made one after the other.
 * @typedef {object} CallQueue
 * @property {string} id
 * @property {Call[]} outbox                   not made yet, oldest first
 * @property {Problem[]} problems              calls that were given up
 * @property {'start' | 'end' | null} failed   the step an agent may have to repeat
 */

/**
 * pending: the user asked for an agent. open: an agent accepted. closed: the agent left.
 * held: the user writes, and no request is known.
 * @typedef {object} Details
 * @property {'pending' | 'open' | 'closed' | 'held'} status
 * @property {number | null} botId
 * @property {string} language
 * @property {string} source
 * @property {string} user
 * @property {string} agent      the name the user sees
 * @property {boolean} typing    the user may be looking at a typing indicator
 * @property {InboxItem[]} inbox everything the user sent, over all conversations of the chat
 * @property {number} accepted   the length of the inbox when the agent accepted
 * @property {string | null} notice  the id of what the platform wrote at the last start or end
 * @property {CallQueue} reads   calls that read: beside the others, so that no message waits for them
 */

/** @typedef {CallQueue & Details} Conversation */

/**
 * @param {string} id
 * @returns {CallQueue}
 */
export function newQueue(id) {
  return { id, outbox: [], problems: [], failed: null }
}

/**
 * Without the details of its event.
 * @param {string} id
 */
export function newConversation(id) {
  return { ...newQueue(id), inbox: [], accepted: 0, notice: null, reads: newQueue(id) }
}

/**
 * Reads the details of a chat from an event. The bot comes from the event, because one intermediary
 * may serve several bots; the setting is for events without a bot.
 * @param {Record<string, any>} event
 * @param {import('./settings.js').Settings} settings
 */
export function detailsFrom(event, settings) {
  return {
    botId: Number.isInteger(event.bot?.id) ? event.bot.id : settings.platform.botId,
    language: text(event.chat.language),
    source: text(event.chat.source),
    user: text(event.user?.id),
    agent: settings.agent.name,
    typing: false,
  }
}

/**
 * Keeps the text unchanged: no trim, no escaping, no normalising.
 * @param {Record<string, any>} event
 */
export function messageFrom(event) {
  const attachments = Array.isArray(event.attachments) ? event.attachments : []
  return {
    text: text(event.message),
    attachments: attachments.map(file => ({
      name: text(file?.name),
      url: text(file?.url),
      type: text(file?.type),
    })),
  }
}

/**
 * A signature proves who sent a field, not what type it has.
 * @param {unknown} value
 */
export function text(value) {
  return typeof value === 'string' ? value : ''
}
