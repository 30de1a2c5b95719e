import { createServer } from 'node:http'
import { createNodeDoor } from '../src/doors/node-http.ts'
import { createSimulator } from '../src/simulator.ts'
const mode = process.argv[2]
const sim = createSimulator({ clock: 'real' })
const ada = await sim.chat()
const headers = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json', host: 'x', connection: 'keep-alive' }
const body = new TextEncoder().encode(JSON.stringify({ bot_id: 1042, chat_id: ada.id, message: 'Hello, this is Anna. How can I help you today?', sender: { name: 'Anna', avatar: 'https://x.test/a.png' } }))
const api = (e: any) => mode === 'headers' ? sim.handle({ ...e, headers }) : mode === 'body' ? sim.handle({ ...e, body }) : mode === 'both' ? sim.handle({ method: 'POST', target: e.target, headers, body }) : mode === 'nofetch' ? { status: 200, headers: { a: 'b' }, body: '{}' } : sim.handle(e)
const s = createServer(createNodeDoor(api as any, () => 1e6)).listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (s.address() as any).port, chat: ada.id })))
