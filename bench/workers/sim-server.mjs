/** Starts the built package as a server with `chats` chats and prints its port, key and ids as one JSON line. Plain JavaScript, so that no compiler adds memory. */
import { startSimulator } from '../../dist/index.js'

const options = JSON.parse(process.argv[2] ?? '{}')
const server = await startSimulator({
  port: 0,
  knobs: options.knobs ?? {},
  ...(options.webhookUrl ? { webhook: { url: options.webhookUrl } } : {}),
})
const ids = []
for (let i = 0; i < (options.chats ?? 1); i++) ids.push((await server.chat()).id)
const { port, apiKey, botId } = server
// Starts the handover in the chats that get messages.
for (const chat_id of new Set([ids[0], ids.at(-1)])) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: botId, chat_id, sender: { name: 'Anna' } })
  await server.fetch(new Request(`${server.url}/api/v2/handover/start`, { method: 'POST', headers, body }))
}
process.stdout.write(`${JSON.stringify({ port, apiKey, botId, chat: ids[0], last: ids.at(-1) })}\n`)
process.on('message', message => {
  if (message !== 'memory') return
  globalThis.gc?.()
  process.send?.(process.memoryUsage())
})
