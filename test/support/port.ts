/**
 * Ports that nothing else is given. Those a system hands out by itself (port 0, and the near end of every connection) lie
 * higher; a test that lets one of them go and counts on it may find that another test has it.
 */
import { createServer } from 'node:net'

const LOWEST = 10_240
const HIGHEST = 32_000

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** A port nobody listens on, and nobody will by chance. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await listens(port)) return port
  }
  throw new Error('There is no free port')
}
