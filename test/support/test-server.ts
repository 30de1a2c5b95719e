/** Starts simulators on free loopback ports, with clients of their APIs, and closes them when the test ends. */
import { onTestFinished } from 'vitest'
import { type ServerOptions, type SimulatorServer, startSimulator } from '../../src/index.ts'
import { type ControlClient, createControlClient } from './control-client.ts'

export interface TestServer {
  readonly server: SimulatorServer
  readonly control: ControlClient
  /** Calls a handover endpoint with the right key; adds the simulator's `bot_id` to the body. */
  call(endpoint: string, body?: object, headers?: Record<string, string>): Promise<Response>
}

export async function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startSimulator({ port: 0, ...options })
  onTestFinished(() => server.close())
  const call = (endpoint: string, body: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/v2/handover/${endpoint}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ bot_id: server.botId, ...body }),
    })
  return { server, control: createControlClient(server), call }
}
