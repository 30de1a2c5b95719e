import { createServer } from 'node:http'
import { createNodeDoor } from '../src/doors/node-http.ts'
import { createSimulator } from '../src/simulator.ts'

const sim = createSimulator({ clock: 'real' })
const ada = await sim.chat()
const s = createServer(createNodeDoor(sim.handle, () => 1e6)).listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ port: (s.address() as any).port, chat: ada.id })),
)
process.on('SIGINT', () => process.exit(0))
