/** Generates random commands for property tests, and performs them. */
import fc from 'fast-check'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { AGENT } from './chats.ts'
import type { SimulatorSetup } from './test-simulator.ts'
import { unicodeText } from './unicode-text.ts'

const LANGUAGES = ['en', 'nb', 'de']
const ENDPOINTS = [
  'start',
  'start',
  'end',
  'message',
  'typing_start',
  'typing_stop',
  'transcript',
  'summarize',
] as const

const chat = fc.nat({ max: LANGUAGES.length - 1 })
const text = fc.oneof(
  fc.constantFrom('hello', 'parcel', 'where is it?'),
  unicodeText().filter(text => text !== ''),
)

const says = fc.record({ kind: fc.constant('says' as const), chat, text })
const press = fc.record({ kind: fc.constant('press' as const), chat })
const call = fc.record({
  kind: fc.constant('call' as const),
  chat,
  endpoint: fc.constantFrom(...ENDPOINTS),
  fault: fc.constantFrom('none', 'none', 'none', 'key', 'bot', 'chat', 'body'),
  timeout: fc.constantFrom(0, 1, 500, 3000),
})
const availability = fc.record({
  kind: fc.constant('availability' as const),
  value: fc.constantFrom('OPEN', 'CLOSED'),
  fault: fc.constantFrom('none', 'key', 'body'),
})
const advance = fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(0, 1, 999, 2000, 10_000) })

export const randomCommand = fc.oneof(
  { weight: 4, arbitrary: says },
  { weight: 2, arbitrary: press },
  { weight: 6, arbitrary: call },
  { weight: 1, arbitrary: availability },
  { weight: 2, arbitrary: advance },
)
type Generated<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never
export type Command = Generated<typeof randomCommand>

/** Deliveries fail whose body length is divisible by `failing`; 0: none fails. A slow translation is asynchronous. */
export const randomConditions = fc.record({
  delay: fc.constantFrom('0s', '2s'),
  retry: fc.constantFrom<readonly ('1s' | '5s')[]>([], ['1s', '5s']),
  failing: fc.constantFrom(0, 2, 3),
  slowTranslation: fc.boolean(),
})
export type RandomConditions = Generated<typeof randomConditions>

/** Opens one chat per language, so that some chats are translated and others are not. */
export async function openChats({ sim }: SimulatorSetup): Promise<ChatHandle[]> {
  const chats = []
  for (const language of LANGUAGES) chats.push(await sim.chat({ language }))
  return chats
}

/** Resolves with the status of a call, and with a promise of what the command started. */
export async function perform(setup: SimulatorSetup, chats: readonly ChatHandle[], command: Command) {
  const { api, sim } = setup
  const done = (status: number | null, later: Promise<unknown> = Promise.resolve()) => ({ status, later })
  if (command.kind === 'says') return done(null, chats[command.chat]!.says(command.text))
  if (command.kind === 'press') return done(null, chats[command.chat]!.press('handover'))
  if (command.kind === 'advance') {
    await sim.clock.advance(`${command.ms}ms`)
    return done(null)
  }
  const { fault } = command
  const options = fault === 'key' ? { key: 'wrong' } : {}
  if (command.kind === 'availability') {
    const { status } = await api.availability({ availability: fault === 'body' ? 'AJAR' : command.value }, options)
    return done(status)
  }
  const { endpoint, timeout } = command
  const { id } = chats[command.chat]!
  const ids = {
    bot_id: fault === 'bot' ? sim.botId + 1 : sim.botId,
    chat_id: fault === 'chat' ? `${id}x` : fault === 'body' ? 7 : id,
  }
  const extras: Readonly<Record<string, object>> = {
    start: { sender: { ...AGENT, language_codes: ['en'] }, supports_attachment: timeout > 0 },
    message: { message: `answer ${timeout}`, sender: AGENT },
    typing_start: timeout > 0 ? { timeout } : {},
  }
  const { status } = await api.call(endpoint, { ...ids, ...extras[endpoint] }, options)
  return done(status)
}
