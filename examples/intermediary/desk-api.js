// @ts-check
// The desk over HTTP: what an agent's screen would call, or a test that plays the agent. It has no
// login, which is one reason why the server listens on the loopback address.

import { badInput, HttpError, methodNotAllowed, parseObject, readBody } from './http.js'
import { changePlatform, nonEmptyString } from './settings.js'

/** @typedef {import('./http.js').Answer} Answer */
/** @typedef {import('./http.js').Request} Request */
/** @typedef {import('./conversation.js').Conversation} Conversation */
/** @typedef {{ body: Record<string, any>, chat: Conversation, request: Request }} Input */
/** @typedef {Record<string, (input: Input) => Answer | void>} Route method -> handler */

/**
 * What a handler answers that returns nothing: 202, because the platform has not been called yet.
 * A slow platform must not freeze the agent's screen.
 * @type {Answer}
 */
const QUEUED = { status: 202, body: { queued: true } }

const LOOPBACK = ['127.0.0.1', '::1', '::ffff:127.0.0.1']

export class DeskApi {
  #desk
  #platform
  #routes

  /**
   * @param {import('./desk.js').Desk} desk
   * @param {import('./settings.js').PlatformSettings} platform
   */
  constructor(desk, platform) {
    this.#desk = desk
    this.#platform = platform
    this.#routes = new Map(Object.entries(this.#table()))
  }

  /**
   * @param {Request} request
   * @param {string} path
   * @returns {Promise<Answer>}
   */
  async answer(request, path) {
    const bytes = await readBody(request)
    const { route, chatId } = this.#find(path)
    const handler = route[request.method ?? '']
    if (!handler) throw methodNotAllowed(Object.keys(route))
    const chat = /** @type {Conversation} */ (chatId === null ? undefined : this.#desk.find(chatId))
    const body = bytes.length > 0 ? parseObject(bytes) : {}
    return handler({ body, chat, request }) ?? QUEUED
  }

  /**
   * A literal path first, so that `/desk/availability` is not taken for a chat.
   * @param {string} path
   * @returns {{ route: Route, chatId: string | null }}
   */
  #find(path) {
    const literal = this.#routes.get(path)
    if (literal) return { route: literal, chatId: null }
    const [, id, rest] = path.match(/^\/desk\/([^/]+)(\/.*)?$/) ?? []
    const route = id && this.#routes.get(`/desk/:chat${rest ?? ''}`)
    if (!route) throw new HttpError(404, 'not_found', `There is no "${path}".`)
    return { route, chatId: decode(id) }
  }

  /** @returns {Record<string, Route>} */
  #table() {
    const desk = this.#desk
    return {
      '/health': { GET: () => ok({ ok: true }) },
      '/desk': { GET: () => ok(desk.list().map(summaryOf)) },
      '/desk/platform': { PUT: ({ body, request }) => this.#setPlatform(body, request) },
      '/desk/availability': {
        GET: () => ok({ problems: desk.availabilityProblems() }),
        POST: ({ body }) => desk.setAvailability(boolean(body.open, 'open')),
      },
      '/desk/:chat': { GET: ({ chat }) => ok(detailsOf(chat)) },
      '/desk/:chat/inbox': { GET: ({ chat }) => ok(chat.inbox) },
      '/desk/:chat/accept': { POST: ({ chat }) => desk.accept(chat) },
      '/desk/:chat/messages': { POST: ({ chat, body }) => say(desk, chat, body) },
      '/desk/:chat/typing': { POST: ({ chat, body }) => desk.type(chat, boolean(body.on, 'on')) },
      '/desk/:chat/close': { POST: ({ chat }) => desk.close(chat) },
      '/desk/:chat/transfer': {
        POST: ({ chat, body }) => desk.transfer(chat, nonEmptyString(body.team, 'team')),
      },
      '/desk/:chat/announce': { POST: ({ chat }) => desk.announce(chat) },
    }
  }

  /**
   * For demos and tests that start this program before they know the platform's address. Only for
   * this machine: whoever sets the address receives the key with the next call.
   * @type {(body: Record<string, any>, request: Request) => Answer}
   */
  #setPlatform(body, request) {
    if (!LOOPBACK.includes(request.socket.remoteAddress ?? '')) {
      throw new HttpError(403, 'loopback_only', 'The platform can be set from this machine only.')
    }
    changePlatform(this.#platform, body)
    return ok({ url: this.#platform.url, bot_id: this.#platform.botId })
  }
}

/**
 * @param {unknown} body
 * @returns {Answer}
 */
function ok(body) {
  return { status: 200, body }
}

/** @type {(desk: import('./desk.js').Desk, chat: Conversation, body: Record<string, any>) => void} */
function say(desk, chat, { text, buttons }) {
  desk.say(chat, nonEmptyString(text, 'text'), buttons == null ? undefined : list(buttons))
}

/** @type {(value: unknown, field: string) => boolean} */
function boolean(value, field) {
  if (typeof value !== 'boolean') throw badInput(field, 'must be true or false')
  return value
}

/**
 * The fields of a button are the platform's business and passed on as they are.
 * @param {unknown} value
 */
function list(value) {
  const isObject = (/** @type {unknown} */ item) => item !== null && typeof item === 'object'
  if (Array.isArray(value) && value.every(isObject)) return value
  throw badInput('buttons', 'must be a list of objects')
}

/** @param {string} segment */
function decode(segment) {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badInput('chat', 'is not a valid part of a path')
  }
}

/** @param {Conversation} conversation */
function summaryOf({ id, status, language, source, user, botId }) {
  return { id, status, language, source, user, bot_id: botId }
}

/** @param {Conversation} conversation */
function detailsOf(conversation) {
  const { agent, problems, reads, outbox } = conversation
  const all = [...problems, ...reads.problems]
  return { ...summaryOf(conversation), agent, problems: all, waiting_calls: outbox.length }
}
