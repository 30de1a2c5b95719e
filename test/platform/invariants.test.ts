import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { type Command, type RandomConditions, randomCommand, randomConditions } from '../support/random-commands.ts'
import { type History, optionsFor, playCommands, type Step, withoutWallTimes } from '../support/random-history.ts'
import { type SimulatorSetup, setUpChat, setUpOpen } from '../support/test-simulator.ts'

const conversation = fc.array(randomCommand, { minLength: 1, maxLength: 40 })

async function play(world: RandomConditions, commands: readonly Command[]) {
  const harness = await setUpOpen(undefined, optionsFor(world))
  const history = await playCommands(harness, world, commands)
  expect(harness.hook.problems).toEqual([])
  return { harness, history }
}

/** The seed is fixed, so all properties draw the same conversations: each is played once and checked by every property. */
const plays = new Map<string, ReturnType<typeof play>>()

function playOnce(world: RandomConditions, commands: readonly Command[]) {
  const key = JSON.stringify([world, commands])
  return plays.get(key) ?? plays.set(key, play(world, commands)).get(key)!
}

afterAll(async () => {
  for (const played of await Promise.allSettled(plays.values())) {
    if (played.status === 'fulfilled') await played.value.harness.sim.close()
  }
  plays.clear()
})

const forAll = (check: (harness: SimulatorSetup, history: History, world: RandomConditions) => void) =>
  fc.assert(
    fc.asyncProperty(randomConditions, conversation, async (world, commands) => {
      const { harness, history } = await playOnce(world, commands)
      check(harness, history, world)
    }),
    { numRuns: 60 },
  )

const fresh = ({ before, after }: Step, chat: number) => after[chat]!.messages.slice(before[chat]!.messages.length)

/** Starts and ends announce themselves; nothing else of the bot may stand in a chat an agent is in. */
function botKeptSilent(step: Step): void {
  step.before.forEach((chat, index) => {
    if (chat.status !== 'agent') return
    const { command } = step
    const announces = command.kind === 'call' && ['start', 'end'].includes(command.endpoint) && command.chat === index
    const bot = fresh(step, index).filter(message => message.from === 'bot')
    expect(bot).toHaveLength(announces && step.status === 200 ? 1 : 0)
  })
}

it('W2 ST3 ST12 the bot never adds a message while an agent is in the chat', async () => {
  await forAll((_, { steps }) => {
    for (const step of steps) botKeptSilent(step)
  })
})

it('A5 ER1 a refused call changes nothing: no chat, no event, no note', async () => {
  await forAll((_, { steps }, { slowTranslation }) => {
    if (slowTranslation) return
    for (const { status, before, after, effects } of steps) {
      if (status === null || status === 200) continue
      expect(after).toEqual(before)
      expect(effects).toEqual([])
    }
  })
})

type Statuses = ('bot' | 'pending' | 'agent')[]

/** The status table of the platform, without any of its code. */
function nextStatus(status: Statuses[number], { command, status: answer }: Step, open: boolean): Statuses[number] {
  if (command.kind === 'press') return open && status === 'bot' ? 'pending' : status
  if (command.kind !== 'call' || answer !== 200) return status
  if (command.endpoint === 'start') return 'agent'
  return command.endpoint === 'end' && status === 'agent' ? 'bot' : status
}

it('ST1 ST5 ST6 ST13 ST18 ST21 status and events follow the table of states, step by step', async () => {
  await forAll((_, { steps }, { slowTranslation }) => {
    if (slowTranslation) return
    let open = true
    for (const step of steps) {
      const { command, before, after, effects } = step
      const expected = before.map((chat, index) =>
        'chat' in command && command.chat === index ? nextStatus(chat.status, step, open) : chat.status,
      )
      expect(after.map(chat => chat.status)).toEqual(expected)
      const events = effects.filter(entry => entry.kind === 'event').map(entry => entry.event)
      if (command.kind === 'says') {
        expect(events).toEqual(before[command.chat]!.status === 'agent' ? ['MESSAGE FROM USER'] : [])
      }
      if (command.kind === 'press') expect(events).toEqual(open ? ['REQUESTING TAKEOVER'] : [])
      if (command.kind === 'availability' && step.status === 200) open = command.value === 'OPEN'
    }
  })
})

it('E0.2 ER1 every request gets exactly one answer and one entry', async () => {
  await forAll(({ sim }, { calls, steps }) => {
    expect(sim.journal.query({ kind: 'api' })).toHaveLength(calls)
    for (const { command, status } of steps) {
      expect(status === null).toBe(command.kind !== 'call' && command.kind !== 'availability')
      if (status !== null) expect([200, 400, 401, 404]).toContain(status)
    }
  })
})

it('EV1 WH1 deliveries of a chat come in the order of its events, each event until 200 or the last try', async () => {
  await forAll(({ sim, hook }, { chats }, { retry }) => {
    for (const { id } of chats) {
      const events = sim.journal.query({ kind: 'event', chatId: id })
      const tries = sim.journal.query({ kind: 'delivery', chatId: id })
      expect([...new Set(tries.map(one => one.delivery_id))]).toEqual(events.map(one => one.delivery_id))
      for (const { delivery_id, seq, payload } of events) {
        const mine = tries.filter(one => one.delivery_id === delivery_id)
        expect(mine.map(one => one.attempt)).toEqual(mine.map((_, index) => index + 1))
        expect(mine.every(one => one.cause === seq && one.request.body === JSON.stringify(payload))).toBe(true)
        const settledAt = mine.findIndex(one => one.outcome === 'delivered')
        expect(settledAt === -1 ? mine.length : settledAt + 1).toBe(settledAt === -1 ? retry.length + 1 : mine.length)
      }
    }
    expect(hook.received).toHaveLength(sim.deliveries.length)
  })
})

it('EV1 the journal has no gaps, and causes come before their effects', async () => {
  await forAll(({ sim }) => {
    const entries = sim.journal.query()
    expect(entries.map(entry => entry.seq)).toEqual(entries.map((_, index) => index + 1))
    for (const { seq, cause, kind } of entries) {
      if (cause !== null) expect(cause).toBeLessThan(seq)
      if (kind === 'delivery') expect(sim.journal.find(cause!)?.kind).toBe('event')
      if (kind === 'api' || kind === 'user') expect(cause).toBeNull()
    }
    const times = entries.map(entry => entry.time)
    expect(times).toEqual([...new Set(times)].sort())
  })
})

it('R-MSG.1 R-MSG.2 R-REC.6 messages have their own ids and strictly increasing times', async () => {
  await forAll((_, { chats }) => {
    const all = chats.flatMap(chat => chat.transcript)
    expect(new Set(all.map(message => message.id)).size).toBe(all.length)
    for (const { transcript } of chats) {
      const times = transcript.map(message => message.created)
      expect(times).toEqual([...new Set(times)].sort())
    }
  })
})

it('R-USER R-ATT the same seed and steps give the same payload bytes, ids, transcripts and journal', async () => {
  await fc.assert(
    fc.asyncProperty(randomConditions, conversation, async (world, commands) => {
      const [first, second] = [await playOnce(world, commands), await play(world, commands)]
      const bytes = ({ harness, history }: typeof first) =>
        history.chats.map(({ id }) => harness.hook.received.map(({ text }) => text).filter(text => text.includes(id)))
      expect(bytes(second)).toEqual(bytes(first))
      expect(second.history.chats.map(chat => chat.view())).toEqual(first.history.chats.map(chat => chat.view()))
      if (!world.slowTranslation) expect(withoutWallTimes(second.harness)).toEqual(withoutWallTimes(first.harness))
      await second.harness.sim.close()
    }),
    { numRuns: 25 },
  )
})

it('R-USER another seed gives other ids', async () => {
  const chats = await Promise.all([1, 2].map(async seed => (await setUpChat({ seed })).chat))
  expect(new Set(chats.flatMap(chat => [chat.id, chat.userId])).size).toBe(4)
})
