/** `handover-sim/msw`: request handlers for the user's own msw, version 2 or 3, in Node and in a browser. */
import type { HttpHandler } from 'msw'
import * as msw from 'msw'
import { type Answering, checkInstalledMsw, createHandlers, requireHttp } from './msw-handlers.ts'

export type { Answering }

/** A named import of it would fail with an error of the module system in a version without it. */
const http = requireHttp(msw)

/**
 * Returns handlers for `setupServer` and `setupWorker` of msw. They answer every request under the base URL of the
 * simulator, also for unknown paths. Other requests stay unhandled.
 *
 * @throws TypeError for a value that is not a simulator; Error if Node is too old for the installed msw.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { handlers } from 'handover-sim/msw'
 * import { setupServer } from 'msw/node'
 *
 * const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
 * const server = setupServer(...handlers(sim))
 * server.listen()
 */
export function handlers(simulator: Answering): HttpHandler[] {
  checkInstalledMsw()
  if (typeof simulator?.baseUrl !== 'string' || typeof simulator.fetch !== 'function')
    throw new TypeError('handlers takes a simulator: handlers(createSimulator()).')
  return createHandlers<HttpHandler>(http, simulator)
}
