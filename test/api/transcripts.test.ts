/** Checks that a transcript, whose messages are written once, shows the chat by the knobs of the time when it is read. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { call, post, type Reply, transcript, world } from '../support/test-simulator.ts'
import { unicodeText } from '../support/unicode-text.ts'

const text = fc.oneof(
  unicodeText().filter(text => text !== ''),
  fc.constantFrom('"quoted" \\', '\u2028\u2029', '\ud800', '[]}}', '"messages":[]', '\0\u007f\n', 'æ👩‍👩‍👧'),
)

const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('user', 'agent'), text }),
  fc.record({ kind: fc.constantFrom('handover', 'end', 'snapshot', 'restore'), text: fc.constant('') }),
  fc.record({ kind: fc.constant('transcript.agentFromBot'), text: fc.constantFrom('on', 'off') }),
  fc.record({ kind: fc.constant('transcript.text'), text: fc.constantFrom('seen', 'both') }),
  fc.record({ kind: fc.constant('transcript.takenOver'), text: fc.constantFrom('time', 'null', 'true') }),
  fc.record({ kind: fc.constant('transcript.handover'), text: fc.constantFrom('record', 'minimal') }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

const SENDER = { name: 'Kim', language_codes: ['nb'] }

/** Returns the snapshot that a later step restores. */
async function take(
  sim: PlatformSimulator,
  chat: ChatHandle,
  { kind, text }: Step,
  saved: ReturnType<typeof sim.snapshot>,
) {
  if (kind === 'user') await chat.says(text)
  else if (kind === 'agent') {
    await post(sim, 'start', chat, { sender: SENDER })
    await post(sim, 'message/', chat, { message: text, sender: SENDER, buttons: [{ label: text }] })
  } else if (kind === 'handover') await chat.press('handover')
  else if (kind === 'end') await post(sim, 'end', chat)
  else if (kind === 'snapshot') return sim.snapshot()
  else if (kind === 'restore') await sim.restore(saved)
  else await sim.configure({ [kind]: text })
  return saved
}

const readers = [
  (sim: PlatformSimulator, chat: ChatHandle) => post(sim, 'transcript', chat),
  (sim: PlatformSimulator, chat: ChatHandle) => call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey }),
]

const UNSPECIFIED = 'x-handover-sim-unspecified'

/** Reads it in a new simulator with the same state, which has written no message yet. */
async function readAnew(sim: PlatformSimulator, read: (other: PlatformSimulator) => Promise<Reply>) {
  await using other = createPlatformSimulator()
  await other.restore(sim.snapshot())
  const { text, headers } = await read(other)
  return { text, assumed: headers.get(UNSPECIFIED) }
}

/** Reads each endpoint twice, the last one first in the next step, and returns the texts by the numbers of the calls in the journal. */
async function readAll(sim: PlatformSimulator, chat: ChatHandle): Promise<[number, string][]> {
  const texts: [number, string][] = []
  for (const read of [...readers, ...readers.toReversed()]) {
    const { text, headers } = await read(sim, chat)
    texts.push([sim.journal.nextSeq - 1, text])
    expect(await readAnew(sim, other => read(other, chat))).toEqual({ text, assumed: headers.get(UNSPECIFIED) })
  }
  return texts
}

function responses(sim: PlatformSimulator, after: number) {
  const calls = sim.journal.query({ kind: 'api', after })
  return new Map(calls.map(({ seq, response }) => [seq, JSON.stringify(response)]))
}

it.each([{}, { memoryLimit: 6000 }])('E1 E9 R-MSG the text is the JSON of the value: %j', async options => {
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.array(step, { minLength: 1, maxLength: 12 }), async (history, steps) => {
      await using sim = createPlatformSimulator({ ...options, webhook: { fetch: () => new Response() } })
      const [buttons, context] = [[{ label: 'Yes', more: history }], { order: history.join(), '[]}}': history }]
      const rows = history.map((one, at) => (at % 2 === 0 ? { user: one } : { bot: one, buttons }))
      const chat = await sim.chat({ history: rows, context, labels: history })
      let saved = sim.snapshot()
      let since = 0
      let texts: [number, string][] = []
      for (const one of steps) {
        saved = await take(sim, chat, one, saved)
        if (one.kind === 'restore') [texts, since] = [[], sim.journal.nextSeq - 1]
        texts.push(...(await readAll(sim, chat)))
      }
      const first = sim.journal.firstSeq
      const kept = texts.filter(([seq]) => seq >= first)
      const found = responses(sim, since)
      expect(kept.map(([seq]) => [seq, found.get(seq)])).toEqual(kept)
    }),
    { numRuns: 12 },
  )
})

it('E9 a value of the journal that is changed changes no other entry and no answer', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ bot: 'Hello', buttons: [{ label: 'Yes' }] }] })
  const before = await transcript(sim, chat)
  await transcript(sim, chat)
  const [one, other] = sim.journal.query({ kind: 'api' }).map(({ response }) => response as { chat: typeof before })
  expect(() => {
    one!.chat.messages[0].message = 'changed'
  }).toThrow('read only')
  expect(() => one!.chat.messages[0].buttons.pop()).toThrow(TypeError)
  one!.chat.messages.pop()
  expect(other!.chat).toEqual(before)
  expect(await transcript(sim, chat)).toEqual(before)
})

it('E9 shows the context that the chat was created with, also after the caller changed its own', async () => {
  const { sim } = world()
  const context = { order: { total: 10 }, at: new Date(0) }
  const chat = await sim.chat({ context })
  context.order.total = 20
  const before = await transcript(sim, chat)
  context.order.total = 30
  await chat.says('Hello')
  const after = await transcript(sim, chat)
  const expected = { order: { total: 10 }, at: '1970-01-01T00:00:00.000Z' }
  expect([before.context, after.context]).toEqual([expected, expected])
})

/** Expects that a transcript has the messages that the user sees. */
async function expectComplete(sim: PlatformSimulator, chat: ChatHandle) {
  const { messages } = await transcript(sim, chat)
  expect(messages.map(({ message }: { message: string }) => message)).toEqual(chat.transcript.map(({ text }) => text))
}

it('E9 is complete after a restore, and after older messages were evicted', async () => {
  const { sim } = world({ memoryLimit: 100_000 })
  const chat = await sim.chat({ history: [] })
  const saved = sim.snapshot()
  for (const text of ['One', 'Two']) {
    await sim.restore(saved)
    await chat.says(text)
    await expectComplete(sim, chat)
  }
  await sim.chat({ history: Array.from({ length: 100 }, () => ({ user: 'x'.repeat(1000) })) })
  await chat.says('Three')
  expect(chat.transcript.map(({ text }) => text)).not.toContain('Two')
  await expectComplete(sim, chat)
})

it.each(['\u00e6', '\u4e2d', '\ud83d\udc69'])(
  'E9 transcripts of more chats than are kept are complete: %s',
  async other => {
    const { sim } = world({ memoryLimit: 200_000 })
    const histories = Array.from({ length: 30 }, (_, at) => [{ user: `${at} `.repeat(800) }])
    const chats = await Promise.all(histories.map(history => sim.chat({ history, labels: [other] })))
    for (const chat of chats) await expectComplete(sim, chat)
    for (const chat of chats) {
      await chat.says(other)
      await expectComplete(sim, chat)
      expect((await transcript(sim, chat)).labels).toEqual([other])
    }
  },
)
