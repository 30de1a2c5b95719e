import { createSimulator } from '../src/simulator.ts'
const sim = createSimulator({ clock: 'real' })
const ada = await sim.chat()
const enc = new TextEncoder()
const headers = { authorization: 'Bearer ' + sim.apiKey, 'content-type': 'application/json', host: 'x', connection: 'keep-alive' }
const body = enc.encode(JSON.stringify({ bot_id: 1042, chat_id: ada.id, message: 'Hello, this is Anna. How can I help you today?', sender: { name: 'Anna', avatar: 'https://x.test/a.png' } }))
for (let round = 0; round < 6; round++) {
  const n = 100000; const t = performance.now()
  for (let i = 0; i < n; i++) sim.handle({ method: 'POST', target: '/api/v2/handover/message/', headers, body })
  const ms = performance.now() - t
  console.log((ms / n * 1000).toFixed(2), 'us/handle', (process.memoryUsage().rss / 1e6).toFixed(0), 'MB')
}
const t = performance.now(); const n = 20000
for (let i = 0; i < n; i++) await (await sim.fetch(new Request(sim.baseUrl + '/api/v2/handover/message/', { method: 'POST', headers, body }))).text()
console.log(((performance.now() - t) / n * 1000).toFixed(2), 'us/fetch')
