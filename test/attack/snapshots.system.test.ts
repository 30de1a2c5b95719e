/** Attacks the restore with mutated snapshots, and uses the server after every one that it accepts. */
import { expect, test } from 'vitest'
import { bugIn, type ControlledServer, playHandover, sendRaw, startControlledServer } from './attacked-server.ts'
import { createDraw, type Draw } from './mutations.ts'
import { rounds, seed } from './rounds.ts'

type Snapshot = Record<string, unknown>

/** Snapshots between two checks that the server works. */
const BATCH = 50

const ROUNDS = rounds(80)
const LIMIT_MS = 120_000 + ROUNDS * 1000
const HANG_UP_MS = 1_000

test('a mutated snapshot is refused with its field, or restores to a server that works', {
  timeout: LIMIT_MS,
}, async () => {
  const found: string[] = []
  const server = await startControlledServer()
  const plain = await server.control('GET', '/snapshot?keys=true')
  const full = await fullSnapshot(server)
  await server.control('PUT', '/snapshot', full)
  for (let round = 0; round < ROUNDS && found.length < 10; round++) {
    const draw = createDraw(seed(), `snapshot ${round}`)
    const bugs = await attack(server, draw, full)
    found.push(...bugs.map(bug => `round ${round}: ${bug}`))
    if (round % BATCH !== BATCH - 1 && round !== ROUNDS - 1 && bugs.length === 0) continue
    await server.control('PUT', '/snapshot', plain)
    await playHandover(server)
  }
  expect(found).toEqual([])
})

/** Sends a request to the control API, or to an endpoint of the platform. */
function send(server: ControlledServer, method: string, path: string, body?: object) {
  const isPlatform = path.startsWith('/api/')
  const key = path.startsWith('/api/v1/') ? server.botApiKey : server.apiKey
  const authorization = isPlatform ? `Bearer ${key}` : ''
  const headers = { 'content-type': 'application/json', 'set-cookie': 'a=b', authorization }
  const request = { method, path, headers, body: JSON.stringify(body) ?? '' }
  // A mutated fault may delay an answer of the platform for hours.
  return sendRaw(server.port, request, isPlatform ? HANG_UP_MS : undefined)
}

/** A snapshot with a row of every kind: chats, files, deadlines, faults, deliveries, journal, replaced keys. */
async function fullSnapshot(server: ControlledServer): Promise<Snapshot> {
  const { control } = server
  await control('PATCH', '/config', { 'webhook.retry': ['10m', '1h'], 'keys.graceful': '1h', 'bot.delay': '1h' })
  const said = [{ user: 'Where is my parcel, please?' }, { bot: 'Here', buttons: [{ label: 'x' }] }]
  const history = [...said, { agent: 'Kari', text: 'Hi' }]
  const chat = await server.chat({ id: 'c1', history, labels: ['a'], context: { deep: [{ er: 1 }] } })
  const ids = { bot_id: server.botId, chat_id: chat.id }
  await chat.press('handover')
  const sender = { name: 'Kari', language_codes: ['de'] }
  await send(server, 'POST', '/api/v2/handover/start', { ...ids, sender, supports_attachment: true })
  const faults = [
    { on: 'webhook', delay: '1h', times: 1, duplicate: 2, gap: '1m', name: 'late' },
    { on: 'webhook', hold: 3, sign: 'tampered', truncate: true, times: 1 },
    { on: { api: 'any' }, slow_body: '2ms' },
  ]
  for (const fault of faults) await control('POST', '/faults', fault)
  const attach = [
    { name: 'a.png', type: 'image/png', size_kb: 1 },
    { name: 'b.txt', type: 'text/plain', bytes: new Uint8Array([104, 105]) },
  ]
  await chat.says('Late', { async: true, attach })
  await chat.says('Held', { async: true })
  await send(server, 'POST', '/api/v2/handover/typing_start', { ...ids, timeout: 60_000 })
  await (await server.chat({ id: 'c2' })).says('For the bot', { async: true })
  await control('PATCH', '/config', { 'keys.handover': 'replaced-key-1' })
  return (await control('GET', '/snapshot?keys=true&journal=true')) as Snapshot
}

/** The bugs that one mutated snapshot shows. */
async function attack(server: ControlledServer, draw: Draw, full: Snapshot): Promise<string[]> {
  let snapshot: unknown = full
  for (let count = draw.below(3); count >= 0; count--) snapshot = draw.mutated(withoutSome(draw, snapshot))
  const answer = await send(server, 'PUT', '/_sim/snapshot', snapshot as object)
  const bug = bugIn({ method: 'PUT', path: '/_sim/snapshot' }, answer)
  if (bug !== null) return [bug]
  if (answer.status === 422) return JSON.parse(answer.body).error.issues?.length > 0 ? [] : [`no field: ${answer.body}`]
  return answer.status === 200 ? bugsInUse(server) : []
}

/** The journal is most of a snapshot: without it, mutations hit other rows more often. */
function withoutSome(draw: Draw, snapshot: unknown): unknown {
  if (draw.chance(3) || typeof snapshot !== 'object' || snapshot === null) return snapshot
  const { journal, ...rest } = snapshot as { journal?: { entries?: unknown } }
  const { entries: _, ...counters } = journal ?? {}
  return { ...rest, journal: counters }
}

/** Reads everything, acts in every chat, lets time pass, and restores what the server says is its state. */
async function bugsInUse(server: ControlledServer): Promise<string[]> {
  const bugs: string[] = []
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await send(server, method, path, body).catch(error => {
      if (!path.startsWith('/api/')) bugs.push(`${method} ${path}: ${error}`)
      return null
    })
    const bug = answer === null ? null : bugIn({ method, path }, answer)
    if (bug !== null) bugs.push(bug)
    return answer
  }
  for (const path of ['state', 'config', 'assumptions', 'chats', 'journal', 'deliveries', 'faults'])
    await ask('GET', `/_sim/${path}`)
  const fields = { bot_id: server.botId, message: 'Hi', sender: { name: 'Kari', avatar: 'https://a.example/a.png' } }
  for (const { chatId } of server.chats().slice(0, 3)) {
    const id = encodeURIComponent(chatId)
    await ask('GET', `/_sim/chats/${id}`)
    await ask('POST', `/_sim/chats/${id}/messages`, { text: 'Hello' })
    await ask('GET', `/api/v1/chats/${id}`)
    for (const name of ['transcript', 'summarize', 'typing_stop', 'start', 'message/', 'end'])
      await ask('POST', `/api/v2/handover/${name}`, { ...fields, chat_id: chatId })
  }
  await ask('POST', '/api/v2/handover/availability', { availability: 'OPEN' })
  for (const { delivery_id } of server.deliveries.slice(0, 2))
    await ask('POST', `/_sim/deliveries/${encodeURIComponent(delivery_id)}/resend?resign=true`, {})
  await ask('POST', '/_sim/trigger', { event: 'MESSAGE FROM USER', sign: 'tampered', truncate: true })
  await ask('POST', '/_sim/clock/advance', { by: '3h' })
  const again = await ask('GET', '/_sim/snapshot?keys=true&journal=true')
  const restored = await ask('PUT', '/_sim/snapshot', JSON.parse(again?.body || '{}'))
  if (restored?.status !== 200) bugs.push(`its own snapshot is refused: ${restored?.body.slice(0, 400)}`)
  await ask('DELETE', '/_sim/faults')
  const notes = server.journal.query({ kind: 'note' }).filter(({ note }) => note === 'internal_error')
  return [...bugs, ...notes.map(note => JSON.stringify(note))]
}
