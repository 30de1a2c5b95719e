/** Runs a simulator behind msw's service worker in a page; msw.test.ts bundles this file. */
import { HttpResponse, http } from 'msw'
import { setupWorker } from 'msw/browser'
import { createSimulator, startSimulator } from '../../src/index.ts'
import { handlers } from '../../src/testing/msw.ts'

interface TranscriptAnswer {
  readonly status: number
  readonly body: { readonly chat?: { readonly messages: readonly { readonly message: string }[] } }
}

/** Plays a conversation and returns the answers as plain data for the test. */
async function conversation() {
  const signatures: (string | null)[] = []
  const webhook = async (request: Request) => {
    signatures.push(request.headers.get('kindly-hmac'))
    return new Response()
  }
  const sim = createSimulator({ webhook: { fetch: webhook } })
  const worker = setupWorker(...handlers(sim))
  await worker.start({ quiet: true })
  const ada = await sim.chat({ language: 'nb', history: [{ user: 'Hvor er pakken min?' }, { bot: 'Et øyeblikk 📦' }] })
  await ada.press('handover')
  const url = `${sim.baseUrl}/api/v1/chats/${ada.id}`
  const read = async (): Promise<TranscriptAnswer> => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${sim.botApiKey}` } })
    return { status: response.status, body: await response.json() }
  }
  const transcript = await read()
  const unknown = (await fetch(`${sim.baseUrl}/nowhere`, { method: 'DELETE' })).status
  sim.faults.add({ on: { api: 'any' }, reset: true, times: 1 })
  const lost = await read().catch((error: Error) => error.name)
  worker.use(http.get(url, () => HttpResponse.json({}, { status: 418 })))
  const overridden = (await read()).status
  worker.stop()
  const server = await startSimulator().catch((error: Error) => error.message)
  return {
    chat: ada.id,
    transcript,
    unknown,
    lost,
    overridden,
    signatures,
    server,
    calls: sim.journal.query({ kind: 'api' }).length,
  }
}

Object.assign(globalThis, { conversation })
