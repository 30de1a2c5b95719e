/**
 * Finds free ports below the range that the system assigns for port 0 and outgoing connections, so that no other test
 * gets the same port between the check and its use.
 */
import { createServer } from 'node:net'

const LOWEST = 10_240
const HIGHEST = 32_000
const WORKERS = 16
const PORTS = Math.floor((HIGHEST - LOWEST) / WORKERS)

/** Each worker of vitest has ports of its own, because two of them may choose at the same time. */
const FIRST = LOWEST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns a port that is free now and that the system does not assign by itself. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = FIRST + Math.floor(Math.random() * PORTS)
    if (await listens(port)) return port
  }
  throw new Error('Failed to find a free port in 100 attempts')
}
