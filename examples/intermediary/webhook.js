// @ts-check
// Serves the webhook: verifies an event, stores it, acknowledges it.

import { badInput, HttpError, methodNotAllowed, parseObject, readBody } from './http.js'
import { log } from './log.js'
import { nonEmptyString, webhookSecretOf } from './settings.js'
import { ALGORITHM, ALGORITHM_HEADER, isSigned, SIGNATURE_HEADER } from './signature.js'

/** @typedef {import('./http.js').Answer} Answer */
/** @typedef {import('./http.js').Request} Request */

export class Webhook {
  #platform
  #desk

  /**
   * @param {import('./settings.js').PlatformSettings} platform
   * @param {import('./desk.js').Desk} desk
   */
  constructor(platform, desk) {
    this.#platform = platform
    this.#desk = desk
  }

  /**
   * Nothing here waits for the platform's API: an answer that did would deadlock with a platform
   * that waits for its webhook, and would time out whenever the API is slow.
   * @param {Request} request
   * @returns {Promise<Answer>}
   */
  async answer(request) {
    if (request.method !== 'POST') throw methodNotAllowed(['POST'])
    const body = await readBody(request)
    this.#checkSignature(request, body)
    checkContentType(request)
    const event = parseObject(body)
    if (typeof event.event !== 'string') throw badInput('event', 'must be a string')
    this.#dispatch(event)
    return { status: 200, body: { ok: true } }
  }

  /**
   * First of all checks, so that a stranger learns nothing about the others. The header that names
   * the algorithm chooses none, because a stranger would choose a weak one: another value is refused.
   * @param {Request} request
   * @param {Buffer} body
   */
  #checkSignature(request, body) {
    const signature = request.headers[SIGNATURE_HEADER]
    const algorithm = request.headers[ALGORITHM_HEADER] ?? ALGORITHM
    if (algorithm !== ALGORITHM) {
      log(`webhook refused: the signature is made with ${algorithm}`)
      throw new HttpError(401, 'unknown_algorithm', 'The algorithm of the signature is not known here.')
    }
    if (isSigned(body, webhookSecretOf(this.#platform), signature)) return
    log(`webhook refused: signature ${signature === undefined ? 'missing' : 'wrong'}`)
    throw new HttpError(401, 'bad_signature', 'The signature is missing or wrong.')
  }

  /**
   * Reads only the fields it needs and lets unknown events pass: the platform may add both.
   * @param {Record<string, any>} event
   */
  #dispatch(event) {
    switch (event.event) {
      case 'REQUESTING TAKEOVER':
        return this.#desk.requested(nonEmptyString(event.chat?.id, 'chat.id'), event)
      case 'MESSAGE FROM USER':
        return this.#desk.received(nonEmptyString(event.chat?.id, 'chat.id'), event)
      case 'AGENT TYPING START':
      case 'AGENT TYPING STOP':
        // The platform reports our own typing calls. Another typing call here would never end.
        return
      default:
        log(`event ignored: ${JSON.stringify(event.event)} is not known here`)
    }
  }
}

/** @param {Request} request */
function checkContentType(request) {
  const type = request.headers['content-type'] ?? ''
  if (/^application\/json *(;|$)/i.test(type)) return
  throw new HttpError(415, 'unsupported_media_type', 'Content-Type must be application/json.')
}
