/**
 * Runs the yardstick of scenarios: a bare server in another process, and as many requests of bare undici as the first
 * argument says, 50 at once. A request has the size of a webhook.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'

const IN_FLIGHT = 50
const BODY = JSON.stringify({ chat_id: '74337c4d-ea28-4873-829b-2dd7b9f3dd11', text: 'a'.repeat(400) })

const server = spawn(process.execPath, [fileURLToPath(new URL('bare-server.cjs', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(server.stdout, 'data')
const url = `http://127.0.0.1:${JSON.parse(line).port}/`
const dispatcher = new Agent({ connections: IN_FLIGHT, pipelining: 1 })
let left = Number(process.argv[2])

async function sendUntilDone() {
  while (left-- > 0) {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await request(url, { method: 'POST', headers, body: BODY, dispatcher })
    if (statusCode !== 200) throw new Error(`The server answered ${statusCode}`)
    await body.dump()
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, sendUntilDone))
await dispatcher.close()
server.kill('SIGKILL')
