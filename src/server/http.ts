/** A `node:http` server with bounds on what a client may take its time for, and a way to stop. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { wallTimer } from '../runtime/clock.ts'

/** Taken, not imported: importing node:http as a module also loads Node's own fetch, a third of the time to start. */
const { createServer } = process.getBuiltinModule('node:http')

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpBounds {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
}

const BOUNDS: HttpBounds = { headersMs: 15_000, requestMs: 120_000, checkEveryMs: 5_000 }

/** How long an idle connection is kept: longer than usual clients do, so that they are the ones who close. */
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 1_000

export interface HttpServer {
  readonly server: Server
  /** Lets answers under way finish, within a second, and frees the port. */
  stop(): Promise<void>
}

/** `mayContinue` decides about `Expect: 100-continue`: without it the client gets its refusal before it sends. */
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
  /** Resolves when nothing is being answered, or when the time is up. */
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
