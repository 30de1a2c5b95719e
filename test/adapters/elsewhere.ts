/** Starts a server that no simulator answers for, and counts the calls that a simulator received. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

/** Returns the origin of a server that answers with method and path. */
export async function startElsewhere(): Promise<string> {
  const server = createServer(({ method, url }, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.end(`${method} ${url}`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const callsOf = (sim: PlatformSimulator): number => sim.journal.query({ kind: 'api' }).length
