/** Sets random webhook faults: after they are cleared and time has passed, every event has arrived. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Duration } from '../../src/base/text/quantities.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { takenOver, world } from '../support/test-simulator.ts'
import { writes } from './support.ts'

type Effects = fc.Arbitrary<Partial<FaultSpec>>
const duration = fc.constantFrom('1ms', '50ms', '2s', '10s')
const count = fc.integer({ min: 1, max: 4 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const slow: Effects = fc.record({ slow: duration })
const order: Effects = fc.oneof(
  fc.record({ delay: duration }),
  slow,
  fc.record({ hold: count }),
  fc.constant({ swap: true as const }),
)
const copies: Effects = fc.record({ duplicate: fc.constantFrom(2, 3), gap: maybe(duration) })
const form: Effects = fc.constantFrom({ sign: 'none' }, { sign: 'hex' })

const CHATS = 2
const chat = fc.nat({ max: CHATS - 1 })
const counts = fc.record({ skip: maybe(fc.nat({ max: 3 })), every: maybe(count), times: maybe(count) })
type Command =
  | { readonly say: number }
  | { readonly fault: Partial<FaultSpec>; readonly chat: number | undefined }
  | { readonly clear: number }
  | { readonly advance: Duration }

const script = (effects: Effects): fc.Arbitrary<Command[]> => {
  const fault = fc.tuple(effects, counts).map(([effect, how]) => ({ ...effect, ...how }))
  const commands = fc.oneof(
    { weight: 6, arbitrary: fc.record({ say: chat }) },
    { weight: 3, arbitrary: fc.record({ fault, chat: maybe(chat) }) },
    { weight: 1, arbitrary: fc.record({ clear: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ advance: duration }) },
  )
  return fc.array(commands, { maxLength: 40 })
}

/** Returns the user's messages, and those that the webhook acknowledged, in order. */
async function play(commands: readonly Command[], order: 'chat' | 'none' | 'shuffle', isFailing: boolean) {
  const knobs = { 'webhook.order': order, 'webhook.retry': ['1s'] } as const
  const received = new Set<string>()
  const taken: string[] = []
  const { sim } = world({ knobs }, ({ json }) => {
    const fails = isFailing && !received.has(json.message)
    received.add(json.message)
    if (!fails) taken.push(json.message)
    return fails ? 500 : 200
  })
  const chats = await Promise.all(Array.from({ length: CHATS }, () => takenOver(sim)))
  const said: string[] = []
  for (const command of commands) {
    if ('say' in command) {
      said.push(`${command.say}:${said.length}`)
      writes(chats[command.say]!, said.at(-1)!)
    } else if ('fault' in command) {
      const whose = command.chat === undefined ? {} : { chat_id: chats[command.chat]!.id }
      sim.faults.add({ on: 'webhook', ...command.fault, ...whose } as FaultSpec)
    } else if ('advance' in command) await sim.clock.advance(command.advance)
    else {
      const names = sim.faults.list().map(({ name }) => name)
      sim.faults.clear(names[command.clear % (names.length + 1)])
    }
  }
  sim.faults.clear()
  await sim.clock.advance('1h')
  expect(sim.faults.list()).toEqual([])
  return { said, taken }
}

const inChat = (texts: readonly string[], which: number) => texts.filter(text => text.startsWith(`${which}:`))

test.each<[string, Effects, changesOrder: boolean, copied: boolean]>([
  ['exactly once without duplicate', fc.oneof(order, form), true, false],
  ['at least once with duplicate', fc.oneof(order, copies), true, true],
  ['in the order of its chat without delay, swap and hold', fc.oneof(slow, copies, form), false, true],
])('every event arrives %s', async (_, effects, changesOrder, copied) => {
  const orders = fc.constantFrom('chat' as const, ...(changesOrder ? (['none', 'shuffle'] as const) : []))
  await fc.assert(
    fc.asyncProperty(script(effects), orders, fc.boolean(), async (commands, order, isFailing) => {
      const { said, taken } = await play(commands, order, isFailing)
      const arrived = copied ? [...new Set(taken)] : taken
      expect([...arrived].sort()).toEqual([...said].sort())
      if (!changesOrder) for (const which of [0, 1]) expect(inChat(arrived, which)).toEqual(inChat(said, which))
    }),
    { numRuns: 40 },
  )
})
