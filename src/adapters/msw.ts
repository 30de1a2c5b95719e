/** `handover-sim/msw`: request handlers for the user's own msw, version 2 or 3, in Node and in a browser. */
import { type HttpHandler, http } from 'msw'
import { type Answering, createHandlers } from './msw-handlers.ts'
import { checkInstalledMsw } from './msw-version.ts'

export type { Answering }

/**
 * For `setupServer(...handlers(sim))` and `setupWorker(...handlers(sim))`: whatever is asked for under the simulator's
 * base URL is answered by it, unknown paths included. Requests elsewhere stay unhandled.
 */
export function handlers(simulator: Answering): HttpHandler[] {
  checkInstalledMsw()
  if (typeof simulator?.baseUrl !== 'string')
    throw new TypeError('handlers takes a simulator: handlers(createSimulator()).')
  return createHandlers<HttpHandler>(http, simulator)
}
