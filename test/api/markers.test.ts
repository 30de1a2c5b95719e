import { expect, it } from 'vitest'
import { AGENT } from '../support/chats.ts'
import { HISTORY } from '../support/raw-requests.ts'
import { inProcess, type SimulatorSetup, setUp, setUpChat } from '../support/test-simulator.ts'

const MARKER = 'x-handover-sim-unspecified'

/** One conversation in which every call rests on assumptions, or none: what it is, their names, and how to make it. */
type Step = readonly [
  call: string,
  marks: string | null,
  run: (harness: SimulatorSetup, chatId: string) => Promise<{ headers: Headers }>,
]

const full = { message: 'hi', sender: AGENT }
const STEPS: readonly Step[] = [
  [
    'message to a chat that is not taken over',
    'message.requiresTakeover',
    ({ api }, chat_id) => api.message({ chat_id, ...full }),
  ],
  ['end of a chat that is not taken over', 'end.idle', ({ api }, chat_id) => api.end({ chat_id })],
  [
    'typing in a chat that is not taken over',
    'typing.idle, typing.response',
    ({ api }, chat_id) => api.typingStop({ chat_id }),
  ],
  ['start without a request', 'start.unrequested', ({ api }, chat_id) => api.start({ chat_id })],
  ['start again', 'start.again', ({ api }, chat_id) => api.start({ chat_id })],
  ['message', null, ({ api }, chat_id) => api.message({ chat_id, ...full })],
  [
    'message with buttons',
    'buttons.schema',
    ({ api }, chat_id) => api.message({ chat_id, ...full, buttons: [{ label: 'x' }] }),
  ],
  ['message without a sender', 'strict.sender', ({ api }, chat_id) => api.message({ chat_id, message: 'hi' })],
  ['message with an unknown field', 'api.unknownFields', ({ api }, chat_id) => api.message({ chat_id, ...full, x: 1 })],
  ['typing_start', 'typing.response', ({ api }, chat_id) => api.typingStart({ chat_id })],
  ['typing_start again', 'typing.again, typing.response', ({ api }, chat_id) => api.typingStart({ chat_id })],
  ['typing_stop', 'typing.response', ({ api }, chat_id) => api.typingStop({ chat_id })],
  [
    'chat with an agent in it',
    'transcript.agentFromBot, transcript.noticeExchange, transcript.source, transcript.state, transcript.takenOver',
    ({ api }, chat_id) => api.chat(chat_id),
  ],
  [
    'transcript with notices in it',
    'transcript.agentFromBot, transcript.handover, transcript.noticeExchange, transcript.source, transcript.state, transcript.takenOver',
    ({ api }, chat_id) => api.transcript({ chat_id }),
  ],
  ['summarize', 'summarize.text', ({ api }, chat_id) => api.summarize({ chat_id })],
  ['end', null, ({ api }, chat_id) => api.end({ chat_id })],
  [
    'availability',
    'keys.more, time.format',
    ({ api }) => api.availability({ availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' }),
  ],
  [
    'start while closed',
    'availability.closedBlocksStart, start.unrequested',
    ({ api }, chat_id) => api.start({ chat_id }),
  ],
  ['a wrong key', 'errors.body', ({ api }, chat_id) => api.start({ chat_id }, { key: 'x' })],
  [
    'a key without the scope',
    'errors.body, keys.shared',
    ({ api, sim }, chat_id) => api.start({ chat_id }, { key: sim.botApiKey }),
  ],
  ['an unknown chat', 'errors.body', ({ api }) => api.start({ chat_id: 'x' })],
  [
    'another queue',
    'availability.otherQueues, errors.body, errors.validation',
    ({ api }) => api.availability({ availability: 'OPEN', queue: 'VIP' }),
  ],
  [
    'an empty message',
    'errors.body, errors.validation, message.allowEmpty',
    ({ api }, chat_id) => api.message({ chat_id, message: '', sender: AGENT }),
  ],
]

it('ER4 each answer and its journal entry name exactly the assumptions it depends on', async () => {
  const harness = await setUpChat({ chat: { history: HISTORY } })
  const { chat } = harness
  for (const [name, marks, run] of STEPS) {
    const { headers } = await run(harness, chat.id)
    expect([name, headers.get(MARKER)]).toEqual([name, marks])
    const call = harness.sim.journal.query({ kind: 'api' }).at(-1)!
    expect(Object.keys(call.unspecified).join(', ')).toBe(marks ?? '')
  }
})

it('ER4 the journal adds the values in force, without keys', async () => {
  const { sim, api } = await setUp(inProcess, {
    knobs: {
      'time.format': 'epoch',
      'keys.more': ['other-key:2002'],
      'transcript.source': ['web=widget', 'app=app'],
    },
  })
  const chat = await sim.chat()
  await api.availability({ availability: 'OPEN' })
  await api.chat(chat.id)
  expect(sim.journal.query({ kind: 'api' })).toMatchObject([
    {
      unspecified: {
        'availability.missingQueue': null,
        'availability.missingReason': null,
        'keys.more': '***',
        'time.format': 'epoch',
      },
    },
    { unspecified: { 'transcript.source': ['web=widget', 'app=app'], 'transcript.state': 'off' } },
  ])
})

it('ER4 ST6 a requested start depends on no assumption', async () => {
  const { api, chat } = await setUpChat()
  await chat.press('handover')
  expect((await api.start({ chat_id: chat.id })).headers.get(MARKER)).toBeNull()
})

it('ER4 the refusal of a short chat depends on what counts as a character and on the status', async () => {
  const { api, chat } = await setUpChat()
  expect((await api.summarize({ chat_id: chat.id })).headers.get(MARKER)).toBe(
    'errors.body, summarize.count, summarize.errorStatus',
  )
})

it('ER4 markers: false omits the header from every answer; the journal still names the assumptions', async () => {
  const harness = await setUpChat({ markers: false, chat: { history: HISTORY } })
  const { chat } = harness
  for (const [, marks, run] of STEPS) {
    const { headers } = await run(harness, chat.id)
    expect(headers.get(MARKER)).toBeNull()
    const call = harness.sim.journal.query({ kind: 'api' }).at(-1)!
    expect(Object.keys(call.unspecified).length > 0).toBe(marks !== null)
  }
})

it('ER4 every assumption that is named exists', async () => {
  const harness = await setUp()
  const known: string[] = harness.sim.assumptions().map(({ name }) => name)
  const named = STEPS.flatMap(([, marks]) => (marks === null ? [] : marks.split(', ')))
  expect(named.filter(name => !known.includes(name))).toEqual([])
})
