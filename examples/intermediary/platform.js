// @ts-check
// Makes one call of the platform's API, with retries.

import { setTimeout as sleep } from 'node:timers/promises'
import { log } from './log.js'

/** @typedef {keyof typeof ENDPOINTS} CallName */
/** @typedef {{ name: CallName, body: Record<string, any>, after?: string | null, before?: string }} Call */
/** @typedef {{ ok: boolean, reason: string, keyRefused: boolean, gone: boolean, answer?: any }} Outcome */
/** @typedef {{ status: number, text: string, retryAfter: string | null }} Reply */

const CALL_TIMEOUT_MS = 15_000
const MAX_TRIES = 5
const FIRST_BACKOFF_MS = 500
const LONGEST_BACKOFF_MS = 8_000
const LONGEST_RETRY_AFTER_MS = 5 * 60_000
/** Added to `Retry-After`, because two clocks may differ by some milliseconds. */
const CLOCK_MARGIN_MS = 25

/**
 * The path of each call (the slash after `message` belongs to it) and the event that confirms it.
 * Only an answer with this event confirms that the key, the ids and the fields are right.
 */
const ENDPOINTS = {
  start: { path: 'start', confirmedBy: 'TAKEOVER STARTED' },
  end: { path: 'end', confirmedBy: 'TAKEOVER ENDED' },
  message: { path: 'message/', confirmedBy: 'MESSAGE SENT TO USER' },
  typing_start: { path: 'typing_start', confirmedBy: null },
  typing_stop: { path: 'typing_stop', confirmedBy: null },
  availability: { path: 'availability', confirmedBy: 'HANDOVER AVAILABILITY UPDATED' },
  transcript: { path: 'transcript', confirmedBy: null },
}

export class Platform {
  #settings

  /** @param {import('./settings.js').PlatformSettings} settings read anew for every try */
  constructor(settings) {
    this.#settings = settings
  }

  /**
   * Never throws. A lost answer looks like a lost request, so after one the call is made again and
   * the user may read a `message` twice: the API has no idempotency key that would prevent it, and
   * a doubled sentence is better than a missing one.
   * @param {Call} call
   * @returns {Promise<Outcome>}
   */
  async send(call) {
    for (let tries = 1; ; tries++) {
      const reply = await this.#post(call)
      const outcome = outcomeOf(call, reply)
      if (outcome.ok || !isWorthRetrying(reply) || tries === MAX_TRIES) return outcome
      const wait = waitMs(reply, tries)
      if (wait > LONGEST_RETRY_AFTER_MS) return outcome
      log(`${call.name}: ${outcome.reason}, try ${tries + 1} in ${wait} ms`)
      await sleep(wait)
    }
  }

  /**
   * @param {Call} call
   * @returns {Promise<Reply>} status 0: no answer
   */
  async #post(call) {
    const { url, apiKey, botApiKey } = this.#settings
    // The handover transcript ends at the request. Only the chat transcript, for which there is a key
    // of its own, has what the user wrote while waiting.
    const isChat = call.name === 'transcript' && botApiKey !== null
    const chat = `/api/v1/chats/${encodeURIComponent(call.body.chat_id)}`
    try {
      const response = await fetch(url + (isChat ? chat : `/api/v2/handover/${ENDPOINTS[call.name].path}`), {
        method: isChat ? 'GET' : 'POST',
        headers: { Authorization: `Bearer ${isChat ? botApiKey : apiKey}`, 'Content-Type': 'application/json' },
        body: isChat ? null : JSON.stringify(call.body),
        redirect: 'manual', // never carry the key to another address
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      })
      const retryAfter = response.headers.get('retry-after')
      return { status: response.status, text: await response.text(), retryAfter }
    } catch (error) {
      return { status: 0, text: nameOf(error), retryAfter: null }
    }
  }
}

/**
 * Returns only the name: the message of a malformed header contains the header with the key.
 * @param {any} error
 */
function nameOf(error) {
  return String(error?.cause?.code ?? error?.name)
}

/** @type {(call: Call, reply: Reply) => Outcome} */
function outcomeOf({ name }, { status, text }) {
  const { confirmedBy } = ENDPOINTS[name]
  const keyRefused = status === 401
  const gone = status === 404 && confirmedBy !== null
  if (status === 0) return { ok: false, reason: `no answer (${text})`, keyRefused, gone }
  if (status < 200 || status > 299) return { ok: false, reason: `answered ${status}`, keyRefused, gone }
  const answer = parse(text)
  const isRead = name !== 'transcript' || Array.isArray(answer?.chat?.messages)
  const ok = isRead && (confirmedBy === null || answer?.event === confirmedBy)
  return { ok, reason: ok ? '' : `answered ${status} without confirming`, keyRefused, gone, answer }
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Retries when the platform is busy or broken. Any other 4xx would be the same the next time.
 * @param {Reply} reply
 */
function isWorthRetrying({ status }) {
  return status === 0 || status === 429 || status >= 500
}

/** @type {(reply: Reply, tries: number) => number} */
function waitMs({ retryAfter }, tries) {
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), LONGEST_BACKOFF_MS)
  return retryAfterMs(retryAfter) ?? backoff
}

/**
 * `Retry-After` is a number of seconds or an HTTP date.
 * @param {string | null} header
 */
function retryAfterMs(header) {
  if (!header) return null
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? null : Math.max(0, ms) + CLOCK_MARGIN_MS
}
