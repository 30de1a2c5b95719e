// Imports the contract of the installed package, starts the package with a given Node, creates a chat, calls the API, and
// stops it. Plain JavaScript, so that it also runs on Node 20.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [node, folder] = process.argv.slice(2)
const bin = join(folder, 'node_modules/handover-sim/bin/handover-sim.js')
const child = spawn(node, [bin, 'start', '--port', '0', '--json'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const guard = setTimeout(() => child.kill('SIGKILL'), 120_000)

try {
  const contract = createRequire(join(folder, 'user.js')).resolve('handover-sim/contract')
  const { MessageRequest } = await import(pathToFileURL(contract))
  MessageRequest.parse({ bot_id: 1, chat_id: 'c1', message: 'Hello' })
  const ready = await firstLine()
  const chat = await post(`${ready.url}/_sim/chats`, {}, {})
  const auth = { authorization: `Bearer ${ready.apiKey}` }
  const started = await post(`${ready.url}/api/v2/handover/start`, { bot_id: ready.botId, chat_id: chat.chat_id }, auth)
  if (started.event !== 'TAKEOVER STARTED')
    throw new Error(`expected TAKEOVER STARTED, received ${JSON.stringify(started)}`)
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  if (code !== 143) throw new Error(`expected exit code 143, received ${code}`)
  console.log(`started, answered and stopped at ${ready.url}`)
} catch (error) {
  console.error(error)
  process.exitCode = 1
  child.kill('SIGKILL')
} finally {
  clearTimeout(guard)
}

async function firstLine() {
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('\n')) return JSON.parse(text.split('\n')[0])
  }
  throw new Error('the process ended without a ready line')
}

async function post(url, body, headers) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}
