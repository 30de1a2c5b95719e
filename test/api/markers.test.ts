import { expect, it } from 'vitest'
import type { EntryOf } from '../../src/journal/entry.ts'
import { type Bench, setUp } from '../support/bench.ts'
import { describeDoors } from '../support/doors.ts'
import { HISTORY } from '../support/raw.ts'
import { AGENT } from '../support/talk.ts'

const MARKER = 'x-handover-sim-unspecified'

/** One conversation in which every call has a row to lean on, or none: what it is, its marks, and how to make it. */
type Step = readonly [
  call: string,
  marks: string | null,
  run: (bench: Bench, chatId: string) => Promise<{ headers: Headers }>,
]

const full = { message: 'hi', sender: AGENT }
const STEPS: readonly Step[] = [
  ['message to a chat nobody took over', '21', ({ api }, chat_id) => api.message({ chat_id, ...full })],
  ['end of a chat nobody took over', '21', ({ api }, chat_id) => api.end({ chat_id })],
  ['typing in a chat nobody took over', '8, 21', ({ api }, chat_id) => api.typingStop({ chat_id })],
  ['start nobody asked for', '20', ({ api }, chat_id) => api.start({ chat_id })],
  ['start again', '20', ({ api }, chat_id) => api.start({ chat_id })],
  ['message', null, ({ api }, chat_id) => api.message({ chat_id, ...full })],
  ['message with buttons', '26', ({ api }, chat_id) => api.message({ chat_id, ...full, buttons: [{ label: 'x' }] })],
  ['message without a sender', '25', ({ api }, chat_id) => api.message({ chat_id, message: 'hi' })],
  ['message with an unknown field', '44', ({ api }, chat_id) => api.message({ chat_id, ...full, x: 1 })],
  ['typing_start', '8', ({ api }, chat_id) => api.typingStart({ chat_id })],
  ['typing_start again', '8, 9', ({ api }, chat_id) => api.typingStart({ chat_id })],
  ['typing_stop', '8', ({ api }, chat_id) => api.typingStop({ chat_id })],
  ['chat with an agent in it', '35, 36, 37, 40', ({ api }, chat_id) => api.chat(chat_id)],
  ['transcript with notices in it', '35, 36, 37, 39, 40', ({ api }, chat_id) => api.transcript({ chat_id })],
  ['summarize', '13', ({ api }, chat_id) => api.summarize({ chat_id })],
  ['end', null, ({ api }, chat_id) => api.end({ chat_id })],
  [
    'availability',
    '15, 17',
    ({ api }) => api.availability({ availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' }),
  ],
  ['start while closed', '18, 20', ({ api }, chat_id) => api.start({ chat_id })],
  ['a wrong key', '10', ({ api }, chat_id) => api.start({ chat_id }, { key: 'x' })],
  ['a key without the scope', '10, 42', ({ api, sim }, chat_id) => api.start({ chat_id }, { key: sim.botApiKey })],
  ['an unknown chat', '10', ({ api }) => api.start({ chat_id: 'x' })],
  ['another queue', '10, 16', ({ api }) => api.availability({ availability: 'OPEN', queue: 'VIP' })],
  ['an empty message', '10, 27', ({ api }, chat_id) => api.message({ chat_id, message: '', sender: AGENT })],
]

describeDoors('marks', door => {
  it('ER4 each answer names exactly the assumptions it leans on, and the journal the same', async () => {
    const bench = await setUp(door)
    const chat = await bench.sim.chat({ history: HISTORY })
    for (const [name, marks, run] of STEPS) {
      const { headers } = await run(bench, chat.id)
      expect([name, headers.get(MARKER)]).toEqual([name, marks])
      const call = bench.sim.journal.query({ kind: 'api' }).at(-1) as EntryOf<'api'>
      expect([...call.unspecified].sort((a, b) => a - b).join(', ')).toBe(marks ?? '')
    }
  })

  it('ER4 ST6 a requested start leans on nothing', async () => {
    const { sim, api } = await setUp(door)
    const chat = await sim.chat()
    await chat.press('handover')
    expect((await api.start({ chat_id: chat.id })).headers.get(MARKER)).toBeNull()
  })

  it('ER4 a too short chat leans on what counts as a character and on the status', async () => {
    const { sim, api } = await setUp(door)
    const chat = await sim.chat()
    expect((await api.summarize({ chat_id: chat.id })).headers.get(MARKER)).toBe('10, 11, 12')
  })

  it('ER4 markers: false leaves the header out of every answer; the journal still knows', async () => {
    const bench = await setUp(door, { markers: false })
    const chat = await bench.sim.chat({ history: HISTORY })
    for (const [, marks, run] of STEPS) {
      const { headers } = await run(bench, chat.id)
      expect(headers.get(MARKER)).toBeNull()
      const call = bench.sim.journal.query({ kind: 'api' }).at(-1) as EntryOf<'api'>
      expect(call.unspecified.length > 0).toBe(marks !== null)
    }
  })

  it('ER4 every row that is named exists', async () => {
    const bench = await setUp(door)
    const known = bench.sim.assumptions().map(row => row.id)
    const named = STEPS.flatMap(([, marks]) => (marks === null ? [] : marks.split(', ').map(Number)))
    expect(named.filter(row => !known.includes(row))).toEqual([])
  })
})
