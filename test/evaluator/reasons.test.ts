/** Why a call was not taken: every reason in the words a reader gets, the most telling call first. */
import { expect, it } from 'vitest'
import type { FailureReport } from '../../src/evaluation/evaluator/wording/report.ts'
import { checked, type JournalBuilder } from '../scenario/journal-builder.ts'

const HI = { message: { message: "I'm Anna", sender: { name: 'Anna' } } }
const CHATS = {
  chats: { ada: {}, bo: {} },
  steps: [
    { press: 'handover', chat: 'ada' },
    { expect: HI, chat: 'ada' },
  ],
}

/** The failure of a step that waits for one message and receives other calls. */
async function failing(came: (journal: JournalBuilder) => void, scenario: object = CHATS): Promise<FailureReport> {
  const { failures } = await checked(scenario, journal => {
    journal.stimulus(1)
    journal.step(2, () => {
      came(journal)
      journal.pass(5000)
    })
  })
  return failures.find(({ kind }) => kind === 'expect')!
}

const GOOD = { message: "I'm Anna", sender: { name: 'Anna' } }

it('a different field is reported with both values and the mistake', async () => {
  const failure = await failing(journal => journal.call('message', { ...GOOD, message: 'I&#39;m Anna' }))
  expect(failure).toMatchObject({
    expected: 'expect message { message: "I\'m Anna", sender: { name: "Anna" } } in chat "ada" within 5s',
    happened: `no call of message matches; nearest: #10 message +0.06 s: message: expected "I'm Anna", received "I&#39;m Anna" (only HTML escaping differs)`,
    rules: ['E6'],
    entrySeqs: [10],
  })
  expect(failure.nearest).toEqual([
    {
      seq: 10,
      what: 'POST /api/v2/handover/message',
      afterMs: 60,
      codes: ['fields'],
      why: '1 field differs',
      differences: [
        {
          path: 'message',
          expected: '"I\'m Anna"',
          received: '"I&#39;m Anna"',
          hint: 'only HTML escaping differs',
          code: 'html',
        },
      ],
    },
  ])
})

it('several different fields are reported', async () => {
  const failure = await failing(journal => journal.call('message', { message: 'x' }))
  expect(failure.nearest[0]).toMatchObject({ why: '2 fields differ' })
  expect(failure.happened).toMatch(/and 1 more difference$/)
})

it('a field under another name is reported', async () => {
  const failure = await failing(journal => journal.call('message', { message: "I'm Anna", senderName: 'Anna' }))
  expect(failure.happened).toMatch(
    /sender\.name: expected "Anna", received nothing \(the body has senderName: did you mean sender\.name\?\)$/,
  )
})

it('a call of another chat is reported', async () => {
  const failure = await failing(journal => journal.call('message', GOOD, { conversation: 'bo' }))
  expect(failure.happened).toMatch(
    /^no call of message matches; nearest: #10 message \+0\.06 s: chat_id belongs to chat "bo": cross-talk\?$/,
  )
  expect(failure.hint).toMatch(/chat id/)
})

it('a call of an unknown chat is reported', async () => {
  const failure = await failing(journal => journal.call('message', GOOD, { chatId: 'c9' }))
  expect(failure.nearest[0]!.why).toBe('chat_id "c9" is no chat of this scenario')
})

it('a call with another key is reported', async () => {
  const failure = await failing(journal =>
    journal.call('message', GOOD, { auth: 'missing', status: 401, response: { error: { code: 'unauthorized' } } }),
  )
  expect(failure.nearest[0]!.why).toBe('bad key: the header Authorization is missing')
  expect(failure.hint).toMatch(/Bearer/)
})

it.each([
  ['malformed', 'bad key: the header is not Authorization: Bearer <API_KEY>'],
  ['unknown', 'bad key: the platform does not know it'],
  ['wrong_scope', 'bad key: it does not open this endpoint'],
])('a key that is %s', async (auth, why) => {
  const failure = await failing(journal => journal.call('message', GOOD, { auth, status: 401 }))
  expect(failure.nearest[0]!.why).toBe(why)
})

it('a call with a refused key is reported with its chat, although its body was not checked', async () => {
  const failure = await failing(journal => {
    const entry = journal.entries[journal.call('message', GOOD, { auth: 'unknown', status: 401 }) - 1]!
    const { chat_id, request } = entry as unknown as { chat_id?: string; request: { body: unknown } }
    Object.assign(entry, { chat_id: undefined, request: { ...request, body: JSON.stringify(request.body) } })
    expect(chat_id).toBe('c-ada')
  })
  expect(failure.nearest[0]!.why).toBe('bad key: the platform does not know it')
})

it('a call of another bot is reported', async () => {
  const failure = await failing(journal => journal.call('message', GOOD, { botId: 7 }))
  expect(failure.nearest[0]!.why).toBe('bot_id is 7, this bot is 1042')
})

it('another spelling of the path is reported', async () => {
  const steps = [{ press: 'handover' }, { expect: { start: {}, alias: 'takeover' } }]
  const failure = await failing(journal => journal.call('start'), { steps })
  expect(failure.nearest[0]!.why).toBe('under /handover/, not /takeover/')
  expect(failure.expected).toBe('expect start under /takeover/ within 5s')
})

it('a claimed call is reported', async () => {
  const steps = [{ press: 'handover' }, { expect: 'start' }, { expect: 'start' }]
  const { failures } = await checked({ steps }, journal => {
    journal.stimulus(1)
    journal.step(2, () => journal.call('start'))
    journal.step(3, () => journal.pass(5000))
  })
  expect(failures).toHaveLength(1)
  expect(failures[0]!.nearest[0]!.why).toBe('already claimed by step 2')
})

it('several reasons are all reported', async () => {
  const failure = await failing(journal =>
    journal.call('message', { ...GOOD, message: 'x' }, { botId: 7, auth: 'unknown' }),
  )
  expect(failure.nearest[0]!.why).toBe(
    'bad key: the platform does not know it; bot_id is 7, this bot is 1042; 1 field differs',
  )
})

it('the nearest call comes first, then late calls, then calls of other chats', async () => {
  const failure = await failing(journal => {
    journal.call('message', GOOD, { conversation: 'bo' })
    journal.call('message', { ...GOOD, message: "i'm anna" })
    journal.pass(5000)
    journal.call('message', GOOD)
  })
  expect(failure.nearest.map(({ seq }) => seq)).toEqual([11, 12, 10])
})

it('calls that other steps claimed are not reported', async () => {
  const scenario = {
    chats: { ada: {}, bo: {} },
    steps: [
      {
        parallel: [
          [
            { press: 'handover', chat: 'ada' },
            { expect: 'start', chat: 'ada' },
          ],
          [
            { press: 'handover', chat: 'bo' },
            { expect: 'start', chat: 'bo' },
          ],
        ],
      },
    ],
  }
  const { failures } = await checked(scenario, journal => {
    journal.stimulus(1)
    journal.stimulus(3)
    journal.begin(2)
    journal.begin(4)
    journal.call('start', {}, { conversation: 'bo' })
    journal.end(4)
    journal.pass(5000)
    journal.end(2)
  })
  expect(failures[0]).toMatchObject({ conversation: 'ada', nearest: [], happened: 'start was not called within 5s' })
})

it('without any call before an agent has acted, the hint is to let one accept', async () => {
  const { hint, hintCode } = await failing(() => {})
  expect(hintCode).toBe('no_agent')
  expect(hint).toMatch(/^No agent has accepted the chat: write agent: accept before this step\./)
})

it('without any call, the report names the URL for the intermediary', async () => {
  const failure = await failing(journal => journal.driver('accept'))
  expect(failure).toMatchObject({
    happened:
      'message { message: "I\'m Anna", sender: { name: "Anna" } } was not called within 5s: the intermediary made no call for this scenario',
    hint: 'Does the intermediary know the address of the platform (http://127.0.0.1:4747)?',
    nearest: [],
  })
})

it('other calls are reported', async () => {
  const failure = await failing(journal => journal.call('typing_start', {}, { conversation: 'ada' }))
  expect(failure.happened).toBe(
    'message { message: "I\'m Anna", sender: { name: "Anna" } } was not called within 5s; the nearest call is #10 typing_start +0.06 s',
  )
})

it.each([
  ['', true],
  [', before the address of the platform is doubted', false],
])('a stimulus that caused no event is named%s', async (_, called) => {
  const { failures } = await checked({ steps: [{ press: 'handover' }, { expect: 'start' }] }, journal => {
    if (called) journal.call('transcript')
    journal.stimulus(1, null)
    journal.step(2, () => journal.pass(5000))
  })
  expect(failures[0]!.hint).toBe('step 1 (press handover) caused no webhook event: is the handover closed?')
})

it('an unknown variable is reported', async () => {
  const steps = [{ press: 'handover' }, { expect: { message: { message: '$(env.NAME)' } } }]
  const { failures } = await checked({ steps }, journal => {
    journal.stimulus(1)
    journal.step(2)
  })
  expect(failures[0]!.happened).toMatch(/^\$\(env\.NAME\) is not known here/)
})
