/** Generates random commands for property tests, and performs them. */
import fc from 'fast-check'
import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { AGENT } from './chats.ts'
import type { SimulatorSetup } from './test-simulator.ts'

type Fault = 'none' | 'key' | 'bot' | 'chat' | 'body'
type ChatEndpoint = Exclude<EndpointId, 'availability' | 'chat'>

export type Command =
  | { readonly kind: 'says'; readonly chat: number; readonly text: string }
  | { readonly kind: 'press'; readonly chat: number }
  | {
      readonly kind: 'call'
      readonly chat: number
      readonly endpoint: ChatEndpoint
      readonly fault: Fault
      readonly timeout: number
    }
  | { readonly kind: 'availability'; readonly value: 'OPEN' | 'CLOSED'; readonly fault: 'none' | 'key' | 'body' }
  | { readonly kind: 'advance'; readonly ms: number }

export interface RandomConditions {
  readonly delay: '0s' | '2s'
  readonly retry: readonly ('1s' | '5s')[]
  /** Deliveries fail whose body length is divisible by this; 0: none fails. */
  readonly failing: number
  /** Translations are asynchronous. */
  readonly slowTranslation: boolean
}

const CHATS = 3
const chat = fc.nat({ max: CHATS - 1 })
const faults = fc.constantFrom<Fault>('none', 'none', 'none', 'key', 'bot', 'chat', 'body')
const endpoints = fc.constantFrom<ChatEndpoint>(
  ...(['start', 'start', 'end', 'message', 'typing_start', 'typing_stop', 'transcript', 'summarize'] as const),
)
const text = fc.oneof(fc.constantFrom('hello', 'parcel', 'where is it?'), fc.string({ minLength: 1, unit: 'binary' }))

export const randomCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('says'), chat, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('press'), chat }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call'),
      chat,
      endpoint: endpoints,
      fault: faults,
      timeout: fc.constantFrom(0, 1, 500, 3000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('availability'),
      value: fc.constantFrom('OPEN', 'CLOSED'),
      fault: fc.constantFrom('none', 'key', 'body'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.constantFrom(0, 1, 999, 2000, 10_000) }) },
) as fc.Arbitrary<Command>

export const randomConditions: fc.Arbitrary<RandomConditions> = fc.record({
  delay: fc.constantFrom('0s', '2s'),
  retry: fc.constantFrom<RandomConditions['retry']>([], ['1s', '5s']),
  failing: fc.constantFrom(0, 2, 3),
  slowTranslation: fc.boolean(),
})

/** Opens one chat per language, so that some chats are translated and others are not. */
export async function openChats({ sim }: SimulatorSetup): Promise<ChatHandle[]> {
  const chats = []
  for (const language of ['en', 'nb', 'de'].slice(0, CHATS)) chats.push(await sim.chat({ language }))
  return chats
}

/** The status of a call, and a promise of what the command started. */
export interface CommandResult {
  readonly status: number | null
  readonly later: Promise<unknown>
}

const NOTHING = Promise.resolve()

export async function perform(
  harness: SimulatorSetup,
  chats: readonly ChatHandle[],
  command: Command,
): Promise<CommandResult> {
  if (command.kind === 'says') return { status: null, later: chats[command.chat]!.says(command.text) }
  if (command.kind === 'press') return { status: null, later: chats[command.chat]!.press('handover') }
  if (command.kind === 'advance') {
    await harness.sim.clock.advance(`${command.ms}ms`)
    return { status: null, later: NOTHING }
  }
  const { status } = await (command.kind === 'call' ? call(harness, chats, command) : availability(harness, command))
  return { status, later: NOTHING }
}

function availability({ api }: SimulatorSetup, { value, fault }: Extract<Command, { kind: 'availability' }>) {
  const body = { availability: fault === 'body' ? 'AJAR' : value }
  return api.availability(body, fault === 'key' ? { key: 'wrong' } : {})
}

function call({ api, sim }: SimulatorSetup, chats: readonly ChatHandle[], command: Extract<Command, { kind: 'call' }>) {
  const { endpoint, fault, timeout } = command
  const id = chats[command.chat]!.id
  const body = {
    bot_id: fault === 'bot' ? sim.botId + 1 : sim.botId,
    chat_id: fault === 'chat' ? `${id}x` : fault === 'body' ? 7 : id,
    ...extras(endpoint, timeout),
  }
  return api.call(endpoint, body, fault === 'key' ? { key: 'wrong' } : {})
}

function extras(endpoint: ChatEndpoint, timeout: number): Record<string, unknown> {
  if (endpoint === 'start') return { sender: { ...AGENT, language_codes: ['en'] }, supports_attachment: timeout > 0 }
  if (endpoint === 'message') return { message: `answer ${timeout}`, sender: AGENT }
  return endpoint === 'typing_start' && timeout > 0 ? { timeout } : {}
}
