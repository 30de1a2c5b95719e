/** Sets random webhook faults: after they are cleared and time has passed, every event has arrived. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Duration } from '../../src/base/text/quantities.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { takenOver, world } from '../support/test-simulator.ts'
import { writes } from './support.ts'

const duration = fc.constantFrom('1ms', '50ms', '2s', '10s')
const count = fc.integer({ min: 1, max: 4 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const order: fc.Arbitrary<Partial<FaultSpec>> = fc.oneof(
  fc.record({ delay: duration }),
  fc.record({ slow: duration }),
  fc.record({ hold: count }),
  fc.constant({ swap: true as const }),
)
const copies: fc.Arbitrary<Partial<FaultSpec>> = fc.record({ duplicate: fc.constantFrom(2, 3), gap: maybe(duration) })
const form: fc.Arbitrary<Partial<FaultSpec>> = fc.constantFrom({ sign: 'none' }, { sign: 'hex' })

const whom = fc.record({ skip: maybe(fc.nat({ max: 3 })), every: maybe(count), times: maybe(count) })
const fault = (effects: fc.Arbitrary<Partial<FaultSpec>>) =>
  fc.tuple(effects, whom).map(([effect, counts]) => ({ on: 'webhook', ...effect, ...counts }) as FaultSpec)

const CHATS = 2
type Command =
  | { readonly do: 'say'; readonly chat: number }
  | { readonly do: 'set'; readonly spec: FaultSpec; readonly chat: number | undefined }
  | { readonly do: 'clear'; readonly which: number | undefined }
  | { readonly do: 'advance'; readonly by: Duration }

const chat = fc.nat({ max: CHATS - 1 })
const commands = (effects: fc.Arbitrary<Partial<FaultSpec>>) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), chat }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('set' as const), spec: fault(effects), chat: maybe(chat) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), which: maybe(fc.nat()) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), by: duration }) },
    ),
    { maxLength: 40 },
  )

interface Setting {
  readonly order: 'chat' | 'none' | 'shuffle'
  readonly failing: boolean
}
const settings: fc.Arbitrary<Setting> = fc.record({
  order: fc.constantFrom('chat', 'none', 'shuffle'),
  failing: fc.boolean(),
})

/** The user's messages of each chat, and those that the webhook acknowledged, both in order. */
async function play(script: readonly Command[], setting: Setting) {
  const knobs = { 'webhook.order': setting.order, 'webhook.retry': ['1s'] } as const
  const seen = new Set<string>()
  const taken: string[] = []
  const { sim } = world({ knobs }, ({ json }) => {
    const fails = setting.failing && !seen.has(json.message)
    seen.add(json.message)
    if (!fails) taken.push(json.message)
    return new Response(null, { status: fails ? 500 : 200 })
  })
  const chats = await Promise.all(Array.from({ length: CHATS }, () => takenOver(sim)))
  const said: string[] = []
  const perform = async (command: Command) => {
    if (command.do === 'say') {
      said.push(`${command.chat}:${said.length}`)
      writes(chats[command.chat]!, said.at(-1)!)
    } else if (command.do === 'set') {
      sim.faults.add({ ...command.spec, ...(command.chat === undefined ? {} : { chat_id: chats[command.chat]!.id }) })
    } else if (command.do === 'advance') await sim.clock.advance(command.by)
    else {
      const names = sim.faults.list().map(({ name }) => name)
      if (command.which === undefined) sim.faults.clear()
      else if (names.length > 0) sim.faults.clear(names[command.which % names.length]!)
    }
  }
  for (const command of script) await perform(command)
  sim.faults.clear()
  await sim.clock.advance('1h')
  return { said, taken, sim }
}

const inChat = (texts: readonly string[], which: number) => texts.filter(text => text.startsWith(`${which}:`))

test('every event arrives exactly once without duplicate', async () => {
  await fc.assert(
    fc.asyncProperty(commands(fc.oneof(order, form)), settings, async (script, setting) => {
      const { said, taken, sim } = await play(script, setting)
      expect([...taken].sort()).toEqual([...said].sort())
      expect(sim.faults.list()).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('every event arrives at least once with duplicate', async () => {
  await fc.assert(
    fc.asyncProperty(commands(fc.oneof(order, copies)), settings, async (script, setting) => {
      const { said, taken } = await play(script, setting)
      expect([...new Set(taken)].sort()).toEqual([...said].sort())
    }),
    { numRuns: 40 },
  )
})

test('only delay, swap and hold change the order of a chat', async () => {
  const inPlace = fc.oneof(fc.record({ slow: duration }), copies, form)
  await fc.assert(
    fc.asyncProperty(commands(inPlace), fc.boolean(), async (script, failing) => {
      const { said, taken } = await play(script, { order: 'chat', failing })
      for (let which = 0; which < CHATS; which++) {
        const first = [...new Set(inChat(taken, which))]
        expect(first).toEqual(inChat(said, which))
      }
    }),
    { numRuns: 40 },
  )
})
