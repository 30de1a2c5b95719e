import { expect, it } from 'vitest'
import type { Api } from '../support/api.ts'
import { AGENT } from '../support/chats.ts'
import { HISTORY } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

const MARKER = 'x-handover-sim-unspecified'

type Run = (api: Api, chat_id: string) => Promise<{ headers: Headers }>

const CLOSED = { availability: 'CLOSED' }
const INVALID = 'errors.body, errors.validation'
const full = { message: 'hi', sender: AGENT }
const TRANSCRIPT =
  'transcript.agentFromBot, transcript.noticeExchange, transcript.source, transcript.state, transcript.takenOver'
const HANDOVER_TRANSCRIPT = TRANSCRIPT.replace(', ', ', transcript.handover, ')
const NO_TAKEOVER = 'a chat that is not taken over'

/** One conversation: each call, the assumptions its answer depends on, and how to make it. */
const STEPS: readonly (readonly [call: string, marks: string | null, run: Run])[] = [
  [`message to ${NO_TAKEOVER}`, 'message.requiresTakeover', (api, chat_id) => api.message({ chat_id, ...full })],
  [`end of ${NO_TAKEOVER}`, 'end.idle', (api, chat_id) => api.end({ chat_id })],
  [`typing in ${NO_TAKEOVER}`, 'typing.idle, typing.response', (api, chat_id) => api.typingStop({ chat_id })],
  ['start without a request', 'start.unrequested', (api, chat_id) => api.start({ chat_id })],
  ['start again', 'start.again', (api, chat_id) => api.start({ chat_id })],
  ['message', null, (api, chat_id) => api.message({ chat_id, ...full })],
  ['buttons', 'buttons.schema', (api, chat_id) => api.message({ chat_id, ...full, buttons: [{ label: 'x' }] })],
  ['message without a sender', 'strict.sender', (api, chat_id) => api.message({ chat_id, message: 'hi' })],
  ['an unknown field', 'api.unknownFields', (api, chat_id) => api.message({ chat_id, ...full, x: 1 })],
  ['a null', 'api.nulls', (api, chat_id) => api.message({ chat_id, ...full, buttons: null })],
  ['an empty list', 'api.emptyFields', (api, chat_id) => api.message({ chat_id, ...full, buttons: [] })],
  ['typing_start', 'typing.response', (api, chat_id) => api.typingStart({ chat_id })],
  ['typing_start again', 'typing.again, typing.response', (api, chat_id) => api.typingStart({ chat_id })],
  ['typing_stop', 'typing.response', (api, chat_id) => api.typingStop({ chat_id })],
  ['chat with an agent in it', TRANSCRIPT, (api, chat_id) => api.chat(chat_id)],
  ['transcript with notices in it', HANDOVER_TRANSCRIPT, (api, chat_id) => api.transcript({ chat_id })],
  ['summarize', 'summarize.text', (api, chat_id) => api.summarize({ chat_id })],
  ['end', null, (api, chat_id) => api.end({ chat_id })],
  ['availability', 'keys.more, time.format', api => api.availability({ ...CLOSED, queue: 'DEFAULT', reason: 'OTHER' })],
  ['start while closed', 'availability.closedBlocksStart, start.unrequested', (api, chat_id) => api.start({ chat_id })],
  ['a wrong key', 'errors.body', (api, chat_id) => api.start({ chat_id }, { key: 'x' })],
  ['no scope', 'errors.body, keys.shared', (api, chat_id) => api.start({ chat_id }, { key: 'sim-bot-key' })],
  ['an unknown chat', 'errors.body', api => api.start({ chat_id: 'x' })],
  ['another queue', `availability.otherQueues, ${INVALID}`, api => api.availability({ ...CLOSED, queue: 'VIP' })],
  [
    'an empty message',
    `${INVALID}, message.allowEmpty`,
    (api, chat_id) => api.message({ chat_id, ...full, message: '' }),
  ],
]

it.each([true, false])('ER4 journal and header name the assumptions: markers %s', async markers => {
  const { sim, api, chat } = await setUpChat({ markers, chat: { history: HISTORY } })
  for (const [name, marks, run] of STEPS) {
    const { headers } = await run(api, chat.id)
    expect([name, headers.get(MARKER)]).toEqual([name, markers ? marks : null])
    expect(Object.keys(sim.journal.query({ kind: 'api' }).at(-1)!.unspecified).join(', ')).toBe(marks ?? '')
  }
  const known: string[] = sim.assumptions().map(({ name }) => name)
  const named = STEPS.flatMap(([, marks]) => marks?.split(', ') ?? [])
  expect(named.filter(name => !known.includes(name))).toEqual([])
})

it('ER4 the journal adds the values in force, without keys', async () => {
  const source = ['web=widget', 'app=app'] as const
  const { sim, api, chat } = await setUpChat({
    knobs: { 'time.format': 'epoch', 'keys.more': ['other-key:2002'], 'transcript.source': source },
  })
  await api.availability({ availability: 'OPEN' })
  await api.chat(chat.id)
  const missing = { 'availability.missingQueue': null, 'availability.missingReason': null }
  expect(sim.journal.query({ kind: 'api' }).map(({ unspecified }) => unspecified)).toMatchObject([
    { ...missing, 'keys.more': '***', 'time.format': 'epoch' },
    { 'transcript.source': source, 'transcript.state': 'off' },
  ])
})

it('ER4 ST6 a requested start depends on no assumption, the refusal of a short chat on three', async () => {
  const { api, chat } = await setUpChat()
  await chat.press('handover')
  expect((await api.start({ chat_id: chat.id })).headers.get(MARKER)).toBeNull()
  const { headers } = await api.summarize({ chat_id: chat.id })
  expect(headers.get(MARKER)).toBe('errors.body, summarize.count, summarize.errorStatus')
})
