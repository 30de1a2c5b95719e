// @ts-check
// What is known about one chat. Plain data, written to the state file as it is.

/** @typedef {import('./platform.js').Call} Call */

/** @typedef {{ at: string, call: string, reason: string, text?: string }} Problem */
/** @typedef {{ name: string, url: string, type: string }} Attachment */
/** @typedef {{ request: true } | { text: string, attachments: Attachment[], note?: true }} InboxItem */

/**
 * A row of platform calls, made one after the other.
 * @typedef {object} Lane
 * @property {string} id
 * @property {Call[]} outbox                   not made yet, the oldest first
 * @property {Problem[]} problems              calls that were given up
 * @property {'start' | 'end' | null} failed   the step an agent may have to repeat
 */

/**
 * pending: the user asked for an agent. open: an agent accepted. closed: the agent left.
 * held: the user writes, but nobody here remembers a request.
 * @typedef {object} Details
 * @property {'pending' | 'open' | 'closed' | 'held'} status
 * @property {number | null} botId
 * @property {string} language
 * @property {string} source
 * @property {string} user
 * @property {string} agent      the name the user sees
 * @property {boolean} typing    the user may be looking at a typing indicator
 * @property {InboxItem[]} inbox everything the user sent, over all conversations of the chat
 */

/** @typedef {Lane & Details} Conversation */

/**
 * @param {string} id
 * @returns {Lane}
 */
export function newLane(id) {
  return { id, outbox: [], problems: [], failed: null }
}

/**
 * What an event says about its chat. The bot comes from the event, because one intermediary may
 * serve several bots; the setting only fills a gap.
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
 * The text is kept to the last code point: no trim, no escaping, no normalising.
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
function text(value) {
  return typeof value === 'string' ? value : ''
}
