// @ts-check
// Runs a small help desk, which you replace by your own: conversations with an inbox, and an agent
// who accepts, writes, transfers and leaves.

import { detailsFrom, messageFrom, newConversation } from './conversation.js'
import { HttpError } from './http.js'
import { log } from './log.js'

/** @typedef {import('./conversation.js').Conversation} Conversation */
/** @typedef {import('./platform.js').CallName} CallName */
/** @typedef {{ name: string, avatar: string }} Sender */

/** The maximum time of the typing indicator, for an agent who begins a text and never sends it. */
const TYPING_TIMEOUT_MS = 10_000

/** The sender of system messages, so that the user sees that no agent wrote them. @type {Sender} */
const SYSTEM_SENDER = { name: 'Support desk', avatar: 'https://desk.example.test/desk.png' }

export class Desk {
  #settings
  #store
  #outbox

  /**
   * @param {import('./settings.js').Settings} settings
   * @param {import('./store.js').Store} store
   * @param {import('./outbox.js').Outbox} outbox
   */
  constructor(settings, store, outbox) {
    this.#settings = settings
    this.#store = store
    this.#outbox = outbox
  }

  // Events of the platform. Both methods store the event before they return, and the webhook
  // acknowledges it after that: the platform never repeats an acknowledged event, so a crash in
  // between would lose it. The write is local and short; calls to the API are not.

  /**
   * The event has no id, so a second delivery looks like a second request. While the first is
   * pending or open it can only mean the same thing; after the end it is a new conversation.
   * @param {string} id
   * @param {Record<string, any>} event
   */
  requested(id, event) {
    const known = this.#store.chats.get(id)
    if (known?.status === 'pending' || known?.status === 'open') {
      return log(`request again, conversation is already ${known.status}: chat ${id}`)
    }
    const conversation = this.#conversation(id, event, 'pending')
    conversation.inbox.push({ request: true })
    conversation.failed = null
    this.#store.save()
    log(`request, new conversation: chat ${id}`)
  }

  /**
   * Keeps every message. Without an id or a time, a redelivery looks like a user who writes "ok"
   * twice, and losing a message is the worse mistake.
   * @param {string} id
   * @param {Record<string, any>} event
   */
  received(id, event) {
    const known = this.#store.chats.get(id)
    const conversation = known ?? this.#conversation(id, event, 'held')
    const late = conversation.status === 'closed'
    conversation.inbox.push({ ...messageFrom(event), ...(late && { note: true }) })
    this.#store.save()
    log(`message, conversation is ${conversation.status}: chat ${id}`)
  }

  /**
   * Moves the chat to the end: the order of the map is the order of the queue.
   * @param {string} id
   * @param {Record<string, any>} event
   * @param {'pending' | 'held'} status
   * @returns {Conversation}
   */
  #conversation(id, event, status) {
    const known = this.#store.chats.get(id) ?? newConversation(id)
    const conversation = Object.assign(known, detailsFrom(event, this.#settings), { status })
    this.#store.chats.delete(id)
    this.#store.chats.set(id, conversation)
    return conversation
  }

  // Actions of the agent. Each method queues platform calls and returns at once.

  list() {
    return [...this.#store.chats.values()]
  }

  /** @param {string} id */
  find(id) {
    const conversation = this.#store.chats.get(id)
    if (!conversation) throw new HttpError(404, 'not_found', `There is no chat "${id}".`)
    return conversation
  }

  /** @param {Conversation} conversation */
  accept(conversation) {
    const again = conversation.failed === 'start'
    if (!again) requireStatus(conversation, 'pending', 'held')
    Object.assign(conversation, { status: 'open', failed: null })
    conversation.accepted = conversation.inbox.length
    const { languages } = this.#settings.agent
    // The languages switch live translation on, so leave the field out when there is none.
    const spoken = languages.length > 0 ? { language_codes: languages } : {}
    this.#call(conversation, 'start', {
      sender: { ...this.#agent(conversation), ...spoken },
      supports_attachment: true,
    })
  }

  /** @type {(conversation: Conversation, text: string, buttons?: object[]) => void} */
  say(conversation, text, buttons) {
    requireStatus(conversation, 'open')
    this.#message(conversation, text, this.#agent(conversation), buttons)
  }

  /** @type {(conversation: Conversation, on: boolean) => void} */
  type(conversation, on) {
    requireStatus(conversation, 'open')
    conversation.typing = on
    if (on) this.#call(conversation, 'typing_start', { timeout: TYPING_TIMEOUT_MS })
    else this.#call(conversation, 'typing_stop')
  }

  /** @param {Conversation} conversation */
  close(conversation) {
    const again = conversation.failed === 'end'
    if (!again) requireStatus(conversation, 'open', 'held')
    Object.assign(conversation, { status: 'closed', failed: null, typing: false })
    this.#call(conversation, 'end', { sender: this.#agent(conversation) })
  }

  /** @type {(conversation: Conversation, team: string) => void} */
  transfer(conversation, team) {
    requireStatus(conversation, 'open')
    this.#message(conversation, `You are being transferred to ${team}.`, SYSTEM_SENDER)
    conversation.agent = `${team} agent`
    this.#store.save()
  }

  /**
   * The platform accepts messages before a handover starts, and does not take the chat over.
   * @param {Conversation} conversation
   */
  announce(conversation) {
    requireStatus(conversation, 'pending')
    const queue = this.list().filter(({ status }) => status === 'pending')
    const position = queue.indexOf(conversation) + 1
    this.#message(conversation, `You are number ${position} in the queue.`, SYSTEM_SENDER)
  }

  /**
   * A closed desk stays closed until it is opened here: the platform never reopens it by itself.
   * @param {boolean} open
   */
  setAvailability(open) {
    const availability = open ? 'OPEN' : 'CLOSED'
    const body = { availability, queue: 'DEFAULT', reason: 'AGENT_AVAILABILITY' }
    this.#outbox.add(this.#store.availability, { name: 'availability', body })
  }

  availabilityProblems() {
    return this.#store.availability.problems
  }

  /** @type {(conversation: Conversation, text: string, sender: Sender, buttons?: object[]) => void} */
  #message(conversation, text, sender, buttons) {
    // The platform does not hide the indicator by itself when a message arrives.
    if (conversation.typing) this.type(conversation, false)
    this.#call(conversation, 'message', { message: text, sender, buttons })
  }

  /** @type {(conversation: Conversation, name: CallName, fields?: object) => void} */
  #call(conversation, name, fields) {
    const body = { bot_id: conversation.botId, chat_id: conversation.id, ...fields }
    this.#outbox.add(conversation, { name, body })
  }

  /**
   * @param {Conversation} conversation
   * @returns {Sender}
   */
  #agent(conversation) {
    return { name: conversation.agent, avatar: this.#settings.agent.avatar }
  }
}

/** @type {(conversation: Conversation, ...allowed: string[]) => void} */
function requireStatus({ id, status }, ...allowed) {
  if (allowed.includes(status)) return
  const needed = allowed.join(' or ')
  throw new HttpError(409, 'wrong_state', `Chat "${id}" is ${status}, this needs ${needed}.`)
}
