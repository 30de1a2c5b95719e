/** Attacks the restore with mutated snapshots, and uses the server after every one that it accepts. */
import { expect, test } from 'vitest'
import {
  bugIn,
  type ControlledServer,
  playHandover,
  type RawRequest,
  sendRaw,
  startControlledServer,
} from './attacked-server.ts'
import { createDraw, type Draw } from './mutations.ts'
import { rounds, seed } from './rounds.ts'

type Snapshot = Record<string, unknown>

/** Snapshots between two checks that the server works. */
const BATCH = 50

const ROUNDS = rounds(80)
const HANG_UP_MS = 1_000

test(
  'a mutated snapshot is refused with the field, or restores to a server that works',
  async () => {
    const found: string[] = []
    const server = await startControlledServer()
    const plain = (await server.control('GET', '/snapshot?keys=true')) as Snapshot
    const full = await fullSnapshot(server)
    await server.control('PUT', '/snapshot', full)
    for (let round = 0; round < ROUNDS && found.length < 10; round++) {
      const draw = createDraw(seed(), `snapshot ${round}`)
      const bugs = await attack(server, draw, full)
      found.push(...bugs)
      if (round % BATCH !== BATCH - 1 && round !== ROUNDS - 1 && bugs.length === 0) continue
      await server.control('PUT', '/snapshot', plain)
      await playHandover(server)
    }
    expect(found).toEqual([])
  },
  120_000 + ROUNDS * 1000,
)

/** A snapshot with a row of every kind: chats, files, deadlines, faults, deliveries, journal, replaced keys. */
async function fullSnapshot(server: ControlledServer): Promise<Snapshot> {
  const { control } = server
  await control('PATCH', '/config', { 'webhook.retry': ['10m', '1h'], 'keys.graceful': '1h', 'bot.delay': '1h' })
  const history = [
    { user: 'Where is my parcel, please?' },
    { bot: 'Here', buttons: [{ label: 'x' }] },
    { agent: 'Kari', text: 'Hi' },
  ]
  const chat = await server.chat({ id: 'c1', history, labels: ['a'], context: { deep: [{ er: 1 }] } })
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json', 'set-cookie': 'a=b' }
  const ids = { bot_id: server.botId, chat_id: chat.id }
  await chat.press('handover')
  const body = JSON.stringify({ ...ids, sender: { name: 'Kari', language_codes: ['de'] }, supports_attachment: true })
  await sendRaw(server.port, { method: 'POST', path: '/api/v2/handover/start', headers, body })
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
  await sendRaw(server.port, {
    method: 'POST',
    path: '/api/v2/handover/typing_start',
    headers,
    body: JSON.stringify({ ...ids, timeout: 60_000 }),
  })
  await (await server.chat({ id: 'c2' })).says('For the bot', { async: true })
  await control('PATCH', '/config', { 'keys.handover': 'replaced-key-1' })
  return (await control('GET', '/snapshot?keys=true&journal=true')) as Snapshot
}

/** The bugs that one mutated snapshot shows. */
async function attack(server: ControlledServer, draw: Draw, full: Snapshot): Promise<string[]> {
  let snapshot: unknown = full
  for (let count = draw.below(3); count >= 0; count--) snapshot = draw.mutated(withoutSome(draw, snapshot))
  const headers = { 'content-type': 'application/json' }
  const put = { method: 'PUT', path: '/_sim/snapshot', headers, body: JSON.stringify(snapshot) ?? '' }
  const answer = await sendRaw(server.port, put)
  const bug = bugIn(put, answer)
  if (bug !== null) return [`${bug}\n${difference(full, snapshot)}`]
  if (answer.status === 422) return JSON.parse(answer.body).error.issues?.length > 0 ? [] : [`no field: ${answer.body}`]
  if (answer.status !== 200) return []
  const bugs = await bugsInUse(server)
  return bugs.map(one => `${one}\n${difference(full, snapshot)}`)
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
  const ask = async (method: string, path: string, body?: unknown, key?: string) => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) }
    const call: RawRequest = { method, path, headers, body: JSON.stringify(body) ?? '' }
    // A mutated fault may delay an answer of the platform for hours.
    const answer = await sendRaw(server.port, call, path.startsWith('/api/') ? HANG_UP_MS : undefined).catch(error => {
      if (!path.startsWith('/api/')) bugs.push(`${method} ${path}: ${error}`)
      return null
    })
    const bug = answer === null ? null : bugIn(call, answer)
    if (bug !== null) bugs.push(bug)
    return answer
  }
  for (const path of ['state', 'config', 'assumptions', 'chats', 'journal', 'deliveries', 'faults'])
    await ask('GET', `/_sim/${path}`)
  const state = server.chats()
  for (const { chatId: id } of state.slice(0, 3)) {
    const at = `/_sim/chats/${encodeURIComponent(id)}`
    await ask('GET', at)
    await ask('POST', `${at}/messages`, { text: 'Hello' })
    await ask('GET', `/api/v1/chats/${encodeURIComponent(id)}`, undefined, server.botApiKey)
    for (const name of ['transcript', 'summarize', 'typing_stop', 'start', 'message/', 'end']) {
      const sender = { name: 'Kari', avatar: 'https://a.example/a.png' }
      await ask(
        'POST',
        `/api/v2/handover/${name}`,
        { bot_id: server.botId, chat_id: id, message: 'Hi', sender },
        server.apiKey,
      )
    }
  }
  await ask('POST', '/api/v2/handover/availability', { availability: 'OPEN' }, server.apiKey)
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

/** The first few places where two values differ. */
function difference(a: unknown, b: unknown, at = ''): string {
  if (Object.is(a, b)) return ''
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return `${at}: ${String(JSON.stringify(a)).slice(0, 60)} -> ${String(JSON.stringify(b)).slice(0, 100)}; `
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys]
    .map(key => difference(Reflect.get(a, key), Reflect.get(b, key), `${at}.${key}`))
    .join('')
    .slice(0, 600)
}
