// @ts-check
// Wires the parts together and opens the port.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Desk } from './desk.js'
import { DeskApi } from './desk-api.js'
import { HttpError, send } from './http.js'
import { log } from './log.js'
import { Outbox } from './outbox.js'
import { Platform } from './platform.js'
import { Store } from './store.js'
import { Webhook } from './webhook.js'

/** Longer than one call may take, and shorter than the usual time before a SIGKILL. */
const LONGEST_FAREWELL_MS = 20_000
const LONGEST_REQUEST_MS = 30_000

/** @param {import('./settings.js').Settings} settings */
export async function startIntermediary(settings) {
  const store = new Store(settings.stateFile)
  const outbox = new Outbox(new Platform(settings.platform), store)
  const desk = new Desk(settings, store, outbox)
  const webhook = new Webhook(settings.platform, desk)
  const server = serve(webhook, new DeskApi(desk, settings.platform))
  const url = await listen(server, settings)
  outbox.resume()
  return { url, close: () => close(server, outbox) }
}

/** @type {(webhook: Webhook, deskApi: DeskApi) => import('node:http').Server} */
function serve(webhook, deskApi) {
  return createServer({ requestTimeout: LONGEST_REQUEST_MS }, async (request, response) => {
    try {
      const path = (request.url ?? '').replace(/\?.*$/, '')
      const isWebhook = path === '/webhook'
      send(response, await (isWebhook ? webhook.answer(request) : deskApi.answer(request, path)))
    } catch (error) {
      if (request.errored) return log('a request was aborted')
      send(response, toHttpError(error).toAnswer())
    }
  })
}

/**
 * Logs an internal error with its place, and answers 500 without details.
 * @param {unknown} error
 */
function toHttpError(error) {
  if (error instanceof HttpError) return error
  log(`unexpected: ${error instanceof Error ? error.stack : error}`)
  return new HttpError(500, 'internal', 'Something went wrong here.')
}

/** @type {(server: import('node:http').Server, settings: import('./settings.js').Settings) => Promise<string>} */
async function listen(server, { port, host }) {
  server.listen(port, host)
  await once(server, 'listening') // throws when the port is taken
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

/**
 * No new requests, then the calls that are queued. A platform that is down must not keep us alive:
 * what is left after the farewell is in the state file and goes out after the next start.
 * @type {(server: import('node:http').Server, outbox: Outbox) => Promise<void>}
 */
async function close(server, outbox) {
  const closed = once(server, 'close')
  server.close()
  await Promise.race([Promise.all([closed, outbox.idle()]), sleep(LONGEST_FAREWELL_MS)])
}
