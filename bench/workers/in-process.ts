/** Measures microseconds per POST message: as plain data, through `fetch`, and through a bare fetch handler. */
const { createSimulator } = (await import('../../dist/index.js' as string)) as typeof import('../../src/index.ts')

const sim = createSimulator({ clock: 'real' })
const chat = await sim.chat()
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const text = JSON.stringify({
  bot_id: sim.botId,
  chat_id: chat.id,
  message: 'Hello, this is Anna. How can I help you today?',
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
})
const bytes = Buffer.from(text)
const target = '/api/v2/handover/message/'
const request = () => new Request(`${sim.baseUrl}${target}`, { method: 'POST', headers, body: text })

async function bareHandler(incoming: Request): Promise<Response> {
  const { chat_id } = (await incoming.json()) as { chat_id: string }
  const body = JSON.stringify({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

async function microseconds(count: number, one: () => unknown): Promise<number> {
  for (let i = 0; i < count / 2; i++) await one()
  const from = performance.now()
  for (let i = 0; i < count; i++) await one()
  return ((performance.now() - from) / count) * 1000
}

const bare = await microseconds(20_000, async () => (await bareHandler(request())).text())
const fetched = await microseconds(20_000, async () => (await sim.fetch(request())).text())
const handle = await microseconds(60_000, () => sim.handle({ method: 'POST', target, headers, body: bytes }))
process.stdout.write(`${JSON.stringify({ handle, fetch: fetched, bare })}\n`)
