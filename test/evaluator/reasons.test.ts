/** Tests the reasons why calls were not claimed, with the most informative call first. */
import { describe } from 'vitest'
import type { JournalBuilder } from '../scenario/journal-builder.ts'
import {
  begin,
  call,
  driven,
  during,
  end,
  type Happening,
  pass,
  step,
  stimulus,
  testVerdicts,
  type VerdictCase,
} from './verdicts.ts'

const PRESS = { press: 'handover' }
const ANNA = { message: "I'm Anna", sender: { name: 'Anna' } }
const WANTED = {
  chats: { ada: {}, bo: {} },
  strict: { contract: 'off', unexpected: 'off' },
  steps: [
    { ...PRESS, chat: 'ada' },
    { expect: { message: ANNA }, chat: 'ada' },
  ],
}
const UNCALLED = 'message { message: "I\'m Anna", sender: { name: "Anna" } } was not called within 5s'

/** The only failure when a step waits for one message and receives other calls. */
const failing = (happenings: readonly Happening[], failure: object, scenario: object = WANTED): VerdictCase => [
  scenario,
  during(...happenings, pass(5000)),
  failure,
]
const message = (body: object, more: object = {}) => call('message', { ...ANNA, ...body }, more)
const ESCAPED = { path: 'message', expected: '"I\'m Anna"', received: '"I&#39;m Anna"', code: 'html' }

/** The platform did not check the body of a call with a refused key. */
const unchecked: Happening = (journal: JournalBuilder) => {
  const seq = journal.call('message', ANNA, { auth: 'unknown', status: 401 })
  const entry = journal.entries[seq - 1] as unknown as { request: { body: unknown } }
  const request = { ...entry.request, body: JSON.stringify(entry.request.body) }
  Object.assign(entry, { chat_id: undefined, request })
}

describe('the nearest call', () => {
  const key = (auth: string, why: string) => failing([message({}, { auth, status: 401 })], { why: `bad key: ${why}` })
  const branch = (chat: string) => [
    { ...PRESS, chat },
    { expect: 'start', chat },
  ]
  testVerdicts({
    'differs in one field, with both values and the mistake': failing([message({ message: 'I&#39;m Anna' })], {
      ...{ rules: ['E6'], entrySeqs: [10], why: '1 field differs' },
      expected: 'expect message { message: "I\'m Anna", sender: { name: "Anna" } } in chat "ada" within 5s',
      nearest: [
        { seq: 10, what: 'POST /api/v2/handover/message', afterMs: 60, codes: ['fields'], differences: [ESCAPED] },
      ],
    }),
    'differs in several fields': failing([call('message', { message: 'x' })], {
      why: '2 fields differ',
      happened: /and 1 more difference$/,
    }),
    'has a field under another name': failing(
      [call('message', { message: "I'm Anna", senderName: 'Anna' })],
      /it has no sender\.name \(expected .*\) \(the body has senderName: did you mean sender\.name\?\)$/,
    ),
    'is of another chat': failing([message({}, { conversation: 'bo' })], {
      happened: /^no call of message matches; nearest: #10 message .* chat_id belongs to chat "bo": cross-talk\?$/,
      hint: /chat id/,
    }),
    'is of an unknown chat': failing([message({}, { chatId: 'c9' })], {
      why: 'chat_id "c9" is no chat of this scenario',
    }),
    'has no key': failing([message({}, { auth: 'missing', status: 401 })], {
      why: 'bad key: the header Authorization is missing',
      hint: /Bearer/,
    }),
    'has a malformed key': key('malformed', 'the header is not Authorization: Bearer <API_KEY>'),
    'has an unknown key': key('unknown', 'the platform does not know it'),
    'has a key of another scope': key('wrong_scope', 'it does not open this endpoint'),
    'has a refused key, and so an unchecked body': failing([unchecked], { why: /^bad key: the platform does not/ }),
    'is of another bot': failing([message({}, { botId: 7 })], { why: 'bot_id is 7, this bot is 1042' }),
    'has another spelling of the path': failing(
      [call('start')],
      { why: 'under /handover/, not /takeover/', expected: 'expect start under /takeover/ within 5s' },
      { steps: [PRESS, { expect: { start: {}, alias: 'takeover' } }] },
    ),
    'is claimed': [
      { steps: [PRESS, { expect: 'start' }, { expect: 'start' }] },
      [...during(call('start')), step(3, pass(5000))],
      { why: 'already claimed by step 2' },
    ],
    'has several reasons': failing([message({ message: 'x' }, { botId: 7, auth: 'unknown' })], {
      why: 'bad key: the platform does not know it; bot_id is 7, this bot is 1042; 1 field differs',
    }),
    'comes first, then late calls, then calls of other chats': failing(
      [message({}, { conversation: 'bo' }), message({ message: "i'm anna" }), pass(5000), message({})],
      { nearest: [{ seq: 11 }, { seq: 12 }, { seq: 10 }] },
    ),
    'is of another endpoint': failing([call('typing_start', {}, { conversation: 'ada' })], {
      happened: `${UNCALLED}; the nearest call is #10 typing_start +0.06 s`,
    }),
    'is none that another step claimed': [
      { chats: WANTED.chats, steps: [{ parallel: [branch('ada'), branch('bo')] }] },
      [
        ...[stimulus(1), stimulus(3), begin(2), begin(4), call('start', {}, { conversation: 'bo' })],
        ...[end(4), pass(5000), end(2)],
      ],
      { conversation: 'ada', nearest: [], happened: 'start was not called within 5s' },
    ],
  })
})

describe('without any call', () => {
  const CLOSED = { hint: 'step 1 (press handover) caused no webhook event: is the handover closed?' }
  testVerdicts({
    'before an agent has acted, the hint is to let one accept': failing([], {
      hintCode: 'no_agent',
      hint: /^No agent has accepted the chat: write agent: accept before this step\./,
    }),
    'the report names the URL for the intermediary': failing([driven(2, 'accept')], {
      happened: `${UNCALLED}: the intermediary made no call for this scenario`,
      hint: 'Does the intermediary know the address of the platform (http://127.0.0.1:4747)?',
      nearest: [],
    }),
    'a stimulus that caused no event is named': [
      { steps: [PRESS, { expect: 'start' }] },
      [call('transcript'), stimulus(1, null), step(2, pass(5000))],
      CLOSED,
    ],
    'a stimulus without event is named before the address of the platform is doubted': [
      { steps: [PRESS, { expect: 'start' }] },
      [stimulus(1, null), step(2, pass(5000))],
      CLOSED,
    ],
    'an unknown variable is reported': [
      { steps: [PRESS, { expect: { message: { message: '$(env.NAME)' } } }] },
      [stimulus(1), step(2)],
      /^\$\(env\.NAME\) is not known here/,
    ],
  })
})
