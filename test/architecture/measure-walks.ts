/**
 * Measures which files of src execute code for one call and one delivery, by V8's coverage of real runs from the sources:
 * `node test/architecture/measure-walks.ts message` (or `delivery`) prints them as JSON.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import { Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

const SRC = new URL('../../src/', import.meta.url).href
const session = new Session()
session.connect()
const post = <Result>(method: string, params = {}): Result => {
  let result: unknown
  session.post(method, params, (error, value) => {
    if (error) throw error
    result = value
  })
  return result as Result
}
post('Profiler.enable')
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

interface Coverage {
  readonly result: {
    readonly url: string
    readonly functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[]
  }[]
}

/** Lists the files of src in which a function ran since the last call. Loading a module does not count. */
function executedFiles(): string[] {
  const { result } = post<Coverage>('Profiler.takePreciseCoverage')
  return result
    .filter(({ url, functions }) => {
      const isExecuted = functions.some(({ functionName, ranges: [range] }) => {
        const isModule = functionName === '' && range!.startOffset === 0
        return range!.count > 0 && !isModule
      })
      return url.startsWith(SRC) && isExecuted
    })
    .map(({ url }) => url.slice(SRC.length))
    .sort()
}

/** Sends a request as a client in another process would: without code of src. */
async function send(url: string, path: string, key: string, body: object): Promise<void> {
  const sent = request(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`Failed to measure: ${path} answered ${response.statusCode}.`)
}

/** Starts a simulator that has a chat with an agent, and plays the same once, so that the second time is a usual one. */
async function startTakenOver() {
  const { startSimulator } = await import('../../src/index.ts')
  const { createServer } = await import('node:http')
  const receiver = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as { port: number }
  const sim = await startSimulator({ port: 0, webhook: { url: `http://127.0.0.1:${port}/webhook` } })
  const chat = await sim.chat()
  const ids = { bot_id: sim.botId, chat_id: chat.id }
  const { url, apiKey } = sim
  const call = (name: string, body: object = {}) => send(url, `/api/v2/handover/${name}`, apiKey, { ...ids, ...body })
  await call('start', { supports_attachment: false })
  const close = async () => {
    await sim.close()
    receiver.close()
  }
  return { sim, chat, call, close }
}

const sender = { name: 'Ann', avatar: 'https://desk.example/ann.png' }

async function measureMessage(): Promise<string[]> {
  const { call, close } = await startTakenOver()
  for (let i = 0; i < 3; i++) await call('message/', { message: 'Hello', sender })
  await new Promise(resolve => setImmediate(resolve))
  executedFiles()
  await call('message/', { message: 'Hello', sender })
  const files = executedFiles()
  await close()
  return files
}

async function measureDelivery(): Promise<string[]> {
  const { sim, chat, close } = await startTakenOver()
  for (let i = 0; i < 3; i++) await chat.says('Hello')
  await sim.settled()
  executedFiles()
  await chat.says('Where is my parcel?')
  const files = executedFiles()
  await close()
  return files
}

const WALKS = { message: measureMessage, delivery: measureDelivery }
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await WALKS[process.argv[2] as keyof typeof WALKS]()
  console.log(`\n${JSON.stringify(files)}`)
  process.exit(0)
}
