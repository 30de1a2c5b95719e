/** Creates a `node:http` server that limits slow clients and stops gracefully. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { wallTimer } from '../runtime/clock.ts'

/** Not imported as a module: that would also load Node's fetch, which takes a third of the time to start. */
const { createServer } = process.getBuiltinModule('node:http')

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpBounds {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
}

const BOUNDS: HttpBounds = { headersMs: 15_000, requestMs: 120_000, checkEveryMs: 5_000 }

/** How long an idle connection stays open: longer than usual clients keep it, so that the client closes it. */
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 1_000

export interface HttpServer {
  readonly server: Server
  /** Waits up to a second for responses in progress, then closes all connections and frees the port. */
  stop(): Promise<void>
}

/** `mayContinue` decides about `Expect: 100-continue`: when false, the client is refused before it sends the body. */
export function createHttpServer(
  listener: Listener,
  mayContinue: (request: IncomingMessage) => boolean,
  bounds = BOUNDS,
): HttpServer {
  const active = createActive()
  const onRequest: Listener = (request, response) => {
    active.enter(response)
    listener(request, response)
  }
  const options = {
    headersTimeout: bounds.headersMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkEveryMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server = createServer(options, onRequest)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (mayContinue(request)) response.writeContinue()
    else response.setHeader('connection', 'close')
    onRequest(request, response)
  })
  return { server, stop: () => stop(server, active) }
}

async function stop(server: Server, active: Active): Promise<void> {
  const freed = new Promise<void>(resolve => server.close(() => resolve()))
  await active.none(DRAIN_MS)
  server.closeAllConnections()
  await freed
}

interface Active {
  enter(response: ServerResponse): void
  /** Resolves when no response is in progress, or after `withinMs`. */
  none(withinMs: number): Promise<void>
}

function createActive(): Active {
  let count = 0
  let whenNone: (() => void) | null = null
  const leave = () => {
    count--
    if (count === 0) whenNone?.()
  }
  return {
    enter(response) {
      count++
      response.on('close', leave)
    },
    async none(withinMs) {
      if (count === 0) return
      await new Promise<void>(resolve => {
        const timer = wallTimer(withinMs, resolve)
        whenNone = () => {
          timer.cancel()
          resolve()
        }
      })
    },
  }
}
