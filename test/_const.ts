import { createServer } from 'node:http'
import { createNodeDoor } from '../src/doors/node-http.ts'
const s = createServer(createNodeDoor(() => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': '*' }, body: '{"event":"MESSAGE SENT TO USER","chat_id":"c394b674-c865-4926-9541-db8f3c7cb8b6","chatmessage_id":"76a5725c85ec97249e11de8e"}' }), () => 1e6)).listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (s.address() as any).port, chat: 'x' })))
process.on('SIGINT',()=>process.exit(0))
