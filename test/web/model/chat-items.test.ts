import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { chatOfEntries, chatStateOf, missingMessages } from '../../../src/pages/web/model/chat-items.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { ChatHandle } from '../../../src/platform/simulator/chat-handle.ts'
import type { ChatViewResponse } from '../../../src/server/control/routes/chats.ts'
import { AGENT } from '../../support/chats.ts'
import type { Adapter } from '../../support/msw-adapter.ts'
import '../../support/property-seed.ts'
import { perform, randomCommand, randomConditions } from '../../support/random-commands.ts'
import { optionsFor } from '../../support/random-history.ts'
import { type SimulatorSetup, setUp } from '../../support/test-simulator.ts'

const overHttp: Adapter = {
  name: 'over HTTP',
  create: options => startSimulator({ clock: 'virtual', ...options, port: 0 }),
  send: (sim, path, init) => fetch(sim.baseUrl + path, init),
}

const control = async <Answer>({ sim }: SimulatorSetup, path: string, body?: unknown): Promise<Answer> => {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  return (await fetch(`${sim.baseUrl}/_sim${path}`, init)).json()
}

const journalOf = async (setup: SimulatorSetup, chatId: string) =>
  (await control<{ entries: Entry[] }>(setup, `/journal?chat_id=${chatId}&limit=10000`)).entries

/** What both sides must agree on. */
const comparable = ({ typing, messages }: { readonly typing: boolean; readonly messages: readonly Row[] }) => ({
  typing,
  messages: messages.map(({ id, from, name, text, original, buttons, attachments }) => ({
    ...{ id, from, name, text, original, buttons, attachments },
  })),
})
type Row = Omit<ChatViewResponse['messages'][number], 'created'>

const messagesIn = (items: ReturnType<typeof chatOfEntries>['items']) => items.filter(item => item.kind === 'message')

type Body = Readonly<Record<string, unknown>>
const more = fc.constantFrom<[path: string, body: Body]>(
  ['messages', { text: 'A file', attachments: [{ name: 'å b.png', type: 'image/png', size_kb: 1 }] }],
  ['press', { button: 'Talk to a person' }],
  ['press', { button: 'Read more' }],
  ['press', { button: 'Yes' }],
  ['close', {}],
  ['delete', {}],
)
const buttons = [{ label: 'Yes' }, { label: 'Read more', url: 'https://shop.example.test' }]
const calls = fc.constantFrom<['message' | 'start' | 'end', Body]>(
  ['message', { message: 'Choose', sender: AGENT, buttons }],
  ['message', { message: 'No sender' }],
  ['start', {}],
  ['end', {}],
)
const fault = fc.constantFrom(
  { respond: { status: 200, body: {} } },
  { respond: { status: 503 } },
  { drop: 'before' },
  { drop: 'after' },
  { malformed: true },
)
const chat = fc.nat({ max: 2 })
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ command: randomCommand }) },
  { weight: 2, arbitrary: fc.record({ user: more, chat }) },
  { weight: 2, arbitrary: fc.record({ call: calls, chat }) },
  { weight: 1, arbitrary: fc.record({ fault }) },
)

type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never

async function play(setup: SimulatorSetup, chats: readonly ChatHandle[], one: Act): Promise<unknown> {
  // With a fault, the answer is not what the test client expects.
  if ('command' in one) return (await perform(setup, chats, one.command).catch(() => null))?.later
  if ('fault' in one) return control(setup, '/faults', { on: { api: 'any' }, times: 1, ...one.fault })
  const { id } = chats[one.chat]!
  if ('user' in one) return control(setup, `/chats/${id}/${one.user[0]}`, one.user[1])
  return setup.api.call(one.call[0], { chat_id: id, ...one.call[1] }).catch(() => null)
}

interface Moment {
  readonly seq: number
  readonly answers: readonly ChatViewResponse[]
}

async function momentOf(setup: SimulatorSetup, chats: readonly ChatHandle[]): Promise<Moment> {
  const answers = await Promise.all(chats.map(({ id }) => control<ChatViewResponse>(setup, `/chats/${id}`)))
  return { seq: setup.sim.journal.nextSeq - 1, answers }
}

test('the entries of a chat show the messages that the control API has, at every moment, each with its entry', async () => {
  await fc.assert(
    fc.asyncProperty(randomConditions, fc.array(act, { minLength: 5, maxLength: 30 }), async (conditions, acts) => {
      const setup = await setUp(overHttp, optionsFor({ ...conditions, slowTranslation: false }))
      const chats = [
        await setup.sim.chat({ language: 'en' }),
        await setup.sim.chat({ language: 'nb', history: [{ user: 'Hei' }, { bot: 'Hei!' }] }),
        await setup.sim.chat({ transcript: 'de-shop' }),
      ]
      const moments = [await momentOf(setup, chats)]
      for (const one of acts) {
        await play(setup, chats, one)
        moments.push(await momentOf(setup, chats))
      }
      for (const [index, { id }] of chats.entries()) {
        const entries = await journalOf(setup, id)
        const before = missingMessages(entries)!
        for (const { seq, answers } of moments) {
          const answer = answers[index]!
          const { typing, items } = chatOfEntries(entries, seq)
          const messages = answer.messages.slice(before)
          expect(comparable({ typing, messages: messagesIn(items) })).toEqual(comparable({ ...answer, messages }))
          const drawn = messagesIn(chatStateOf(answer, entries, seq).items)
          expect(drawn.map(message => message.id)).toEqual(answer.messages.map(message => message.id))
          expect(drawn.map(message => message.seq === null)).toEqual(drawn.map((_, place) => place < before))
        }
      }
      await setup.sim.close()
    }),
    { numRuns: 10 },
  )
})
