import { createSimulator } from '../src/simulator.ts'
import { Session } from 'node:inspector/promises'
const sim = createSimulator({ clock: 'real' })
const ada = await sim.chat()
const headers = { authorization: 'Bearer ' + sim.apiKey, 'content-type': 'application/json', host: 'x', connection: 'keep-alive' }
const body = new TextEncoder().encode(JSON.stringify({ bot_id: 1042, chat_id: ada.id, message: 'Hello, this is Anna. How can I help you today?', sender: { name: 'Anna', avatar: 'https://x.test/a.png' } }))
const go = (n: number) => { for (let i = 0; i < n; i++) sim.handle({ method: 'POST', target: '/api/v2/handover/message/', headers, body }) }
go(50000)
const s = new Session(); s.connect()
await s.post('HeapProfiler.startSampling', { samplingInterval: 4096, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true } as any)
go(50000)
const { profile } = await s.post('HeapProfiler.stopSampling') as any
const by: Record<string, number> = {}
const walk = (n: any) => { const k = n.callFrame.functionName + ' ' + n.callFrame.url.split('/').slice(-2).join('/') + ':' + n.callFrame.lineNumber; by[k] = (by[k] ?? 0) + n.selfSize; n.children.forEach(walk) }
walk(profile.head)
let tot = 0; for (const v of Object.values(by)) tot += v
console.log('total per req', (tot / 50000).toFixed(0))
Object.entries(by).sort((a, b) => b[1] - a[1]).slice(0, 18).forEach(([k, v]) => console.log((v / 50000).toFixed(0), k))
