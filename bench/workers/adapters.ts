/** Measures microseconds per POST message through msw, a bare msw handler and the interceptors; and of creation and reset. */
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'

const { createSimulator } = (await import('../../dist/index.js' as string)) as typeof import('../../src/index.ts')
const { handlers } = (await import('../../dist/msw.js' as string)) as typeof import('../../src/adapters/msw.ts')
const { intercept } = (await import(
  '../../dist/interceptors.js' as string
)) as typeof import('../../src/adapters/interceptors.ts')

const sim = createSimulator({ clock: 'real' })
const chat = await sim.chat()
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const body = JSON.stringify({
  bot_id: sim.botId,
  chat_id: chat.id,
  message: 'Hello, this is Anna. How can I help you today?',
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
})
const PATH = '/api/v2/handover/message/'
const BARE = 'https://bare.example.test'
const send = async (base: string) => (await fetch(base + PATH, { method: 'POST', headers, body })).text()

const bareHandler = http.post(BARE + PATH, async ({ request }) => {
  const { chat_id } = (await request.json()) as { chat_id: string }
  return HttpResponse.json({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })
})

async function microseconds(count: number, one: () => unknown): Promise<number> {
  const from = performance.now()
  for (let i = 0; i < count; i++) await one()
  return ((performance.now() - from) / count) * 1000
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** Runs the functions alternately, so that other load affects all of them, and skips the first round, which warms up. */
async function alternately(rounds: number, count: number, ones: readonly (() => unknown)[]): Promise<number[]> {
  const found = ones.map((): number[] => [])
  for (let round = 0; round <= rounds; round++)
    for (const [index, one] of ones.entries()) {
      const value = await microseconds(count, one)
      if (round > 0) found[index]!.push(value)
    }
  return found.map(median)
}

const server = setupServer(bareHandler, ...handlers(sim))
server.listen({ onUnhandledRequest: 'error' })
const [msw, bare] = await alternately(9, 300, [() => send(sim.baseUrl), () => send(BARE)])
server.close()

const interception = intercept(sim)
const [intercepted] = await alternately(5, 300, [() => send(sim.baseUrl)])
interception.stop()

const [create] = await alternately(5, 400, [() => createSimulator().reset()])
const used = createSimulator({ clock: 'real' })
const [reset] = await alternately(5, 400, [
  async () => {
    await used.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] })
    used.reset()
  },
])
process.stdout.write(`${JSON.stringify({ msw, bare, intercepted, create, reset })}\n`)
