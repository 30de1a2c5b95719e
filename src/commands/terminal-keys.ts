/** Keys that play the end user and the agent in the terminal of `handover-sim start`. They use the control API. */
import * as z from 'zod/mini'
import { createSequence } from '../base/runtime/sequence.ts'
import { messageOf } from '../base/text/error-text.ts'
import { visible } from '../base/text/terminal-text.ts'
import type { PlatformServer } from '../server/start.ts'
import { type Context, type Shutdown, UsageError } from './io.ts'
import { openPage } from './open-page.ts'
import { callControl, refusalMessage } from './running-simulator.ts'

/** What a key works with. */
interface Session {
  readonly server: PlatformServer
  readonly context: Context
  readonly shutdown: Shutdown
  /** Calls the control API. Rejects with its message when it refuses. */
  post(path: string, body: object): Promise<unknown>
  /** Asks for a line; resolves with an empty one when it is not answered. */
  ask(question: string): Promise<string>
}

interface Key {
  /** What it does, as a command. */
  readonly text: string
  /** Returns what to show, if anything. */
  run(session: Session): unknown
}

/** Every key, in the order in which `h` lists them. A test compares docs/reference/cli.md with it. */
export const KEYS: Readonly<Record<string, Key>> = {
  c: { text: 'begin a new chat', run: async ({ post }) => void (await post('/chats', {})) },
  p: {
    text: 'ask for a person, as the user',
    run: async session =>
      void (await session.post(`/chats/${await newestChat(session)}/press`, { button: 'handover' })),
  },
  u: {
    text: 'write as the user',
    async run(session) {
      const path = `/chats/${await newestChat(session)}/messages`
      const text = await session.ask('The user writes: ')
      if (text !== '') await session.post(path, { text })
    },
  },
  a: { text: 'accept the chat, as the agent', run: session => act(session, 'accept') },
  m: { text: 'write as the agent', run: session => act(session, 'says') },
  l: { text: 'leave the chat, as the agent', run: session => act(session, 'leave') },
  o: {
    text: 'open the handover, as the workspace',
    run: ({ server }) => server.setAvailability({ availability: 'OPEN' }),
  },
  x: {
    text: 'close the handover, as the workspace',
    run: ({ server }) => server.setAvailability({ availability: 'CLOSED' }),
  },
  r: {
    text: 'send the latest event again',
    async run({ server, post }) {
      const latest = server.deliveries.at(-1)
      if (latest === undefined) return 'No event was sent so far.'
      await post(`/deliveries/${latest.delivery_id}/resend`, {})
    },
  },
  w: {
    text: 'open the page in the browser',
    run: ({ server: { inspectorUrl }, context, shutdown }) =>
      inspectorUrl === null ? 'There is no page with --no-inspector.' : openPage(inspectorUrl, context, shutdown),
  },
  y: {
    text: 'copy the address of the simulator',
    run({ server: { url }, context }) {
      // Terminals copy what follows this sequence (OSC 52), also over ssh.
      context.io.stderr.write(`\x1b]52;c;${Buffer.from(url).toString('base64')}\x07`)
      return `Copied, where the terminal allows it: ${url}`
    },
  },
  k: { text: 'clear the screen', run: ({ context }) => context.io.stderr.write('\x1b[2J\x1b[3J\x1b[H') },
  h: { text: 'list the keys', run: () => Object.entries(KEYS).map(([key, { text }]) => `${key}  ${text}`) },
  q: { text: 'stop the simulator', run: ({ shutdown }) => shutdown.request() },
}

const Created = z.looseObject({ chat_id: z.string() })

/** The id of the newest chat; of a new one when there is none. */
async function newestChat({ server, post }: Session): Promise<string> {
  return server.chats().at(-1)?.chatId ?? Created.parse(await post('/chats', {})).chat_id
}

const Act = z.looseObject({ outcome: z.string(), error: z.nullish(z.string()) })

/** Acts as the agent in the newest chat. Resolves with why the help desk did not act; undefined when it did. */
async function act({ server, post, ask }: Session, verb: 'accept' | 'says' | 'leave'): Promise<string | undefined> {
  const chatId = server.chats().at(-1)?.chatId
  if (chatId === undefined) return 'There is no chat yet: c begins one, and p asks for a person.'
  const text = verb === 'says' ? await ask('The agent writes: ') : undefined
  if (text === '') return undefined
  const { outcome, error } = Act.parse(await post('/agent', { verb, chat_id: chatId, text }))
  return outcome === 'ok' ? undefined : `The help desk did not do it: ${error ?? outcome}`
}

/** Runs keys until the shutdown. Does nothing where no person is at a terminal. */
export function watchKeys(server: PlatformServer, context: Context, shutdown: Shutdown): void {
  const { io } = context
  const simulator = { url: server.url, token: server.controlToken }
  const ended = new AbortController()
  const post = async (path: string, body: object) => {
    const response = await callControl(simulator, 'POST', path, body, ended.signal)
    if ('code' in response) throw new UsageError('The simulator is closing.')
    if (response.status >= 300) throw new UsageError(refusalMessage(simulator, response))
    return response.body
  }
  let isAsking = false
  const ask = async (question: string) => {
    isAsking = true
    // Ctrl-C ends the question.
    const line = await io.ask(question, ended.signal).catch(() => '')
    isAsking = false
    return line.trim()
  }
  const runKey = async (key: string) => {
    const run = KEYS[key]?.run ?? (() => `There is no key ${JSON.stringify(key)}. h lists the keys.`)
    try {
      const shown = await run({ server, context, shutdown, post, ask })
      for (const line of Array.isArray(shown) ? shown : [shown])
        if (typeof line === 'string') io.stderr.write(`  ${visible(line)}\n`)
    } catch (error) {
      if (!ended.signal.aborted) io.stderr.write(`  ${visible(messageOf(error))}\n`)
    }
  }
  const inSequence = createSequence()
  // While a question is asked, keys are letters of the answer.
  const stopReading = io.onKey?.(key => isAsking || void inSequence(() => runKey(key)))
  if (stopReading === undefined) return
  const stop = () => {
    ended.abort()
    stopReading()
  }
  shutdown.defer(stop, stop)
  io.stderr.write('Press h for the keys.\n')
}
