/** Tests each rule with a journal that breaks it and some that nearly do. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { History } from '../../src/evaluation/history.ts'
import { endRepeated, startAfterEnd } from '../../src/evaluation/rules/call-after-end.ts'
import { RULES as LINT_RULES } from '../../src/evaluation/rules/index.ts'
import { lint } from '../../src/evaluation/rules/lint.ts'
import { isProof, judge, type Rule } from '../../src/evaluation/rules/rule.ts'
import { typingNeverStopped } from '../../src/evaluation/rules/typing-never-stopped.ts'
import type { PlannedItem } from '../../src/evaluation/scenario/plan.ts'
import { planOf, type Written, writeJournal } from './journal.ts'

type Write = (journal: Written) => unknown
type Call = Parameters<Written['call']>
type Step = Call[0] | readonly [Call[0], NonNullable<Call[2]>] | Write

/** Writes calls of chat c1, in this order, and what functions write. */
const traffic =
  (...steps: readonly Step[]): Write =>
  journal => {
    for (const step of steps) {
      if (typeof step === 'function') step(journal)
      else if (Array.isArray(step)) journal.call(step[0], 'c1', step[1])
      else journal.call(step as Call[0], 'c1')
    }
  }
const note =
  (name: string, more: object = {}): Write =>
  journal =>
    journal.add({ kind: 'note', note: name, ...more })
/** A call with this text that the platform refused because the user has left. */
const gone = (message: string, atMs: number, knob = 'chat.closed') =>
  ({ atMs, status: 404, unspecified: { [knob]: '404' }, ...(message !== '' && { body: { message } }) }) as const
const agentSays: Write = journal => journal.driver('says', 'c1')
const leave: Write = journal => journal.driver('leave', 'c1')

/** The findings of a run with the chats c1 (Ada) and c2 (Bo), whose entries are 1 and 2. */
function found(write: Write, plan = planOf()) {
  const journal = writeJournal()
  journal.conversation('c1', 'ada')
  journal.conversation('c2', 'bo')
  write(journal)
  return lint(plan, new History(journal.entries))
}

/** The webhook took from 100 to 400 ms. The call was answered at `answeredAtMs`. */
const callDuringEvent = (answeredAtMs: number, duration_ms: number, follows?: number, endpoint: Call[0] = 'message') =>
  traffic(journal => {
    const event = journal.event('REQUESTING TAKEOVER', 'c1', 100)
    journal.call(endpoint, 'c1', { atMs: answeredAtMs, duration_ms, follows: follows ?? event })
    journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { atMs: 400, duration_ms: 300 })
  })

const TIMED_OUT = { status: null, response: null, failure: { code: 'timeout', timeout_ms: 2000 } } as const
const deliveredTwice =
  (first: object, second: object | null = {}): Write =>
  journal => {
    const event = journal.event('REQUESTING TAKEOVER', 'c1')
    journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { outcome: 'failed', retry_in_ms: 1000, ...first })
    if (second !== null) journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { attempt: 2, ...second })
  }

const reads =
  (count: number, gapMs: number): Write =>
  journal => {
    for (let i = 0; i < count; i++) journal.call(i % 2 ? 'chat' : 'transcript', 'c1', { atMs: 1000 + i * gapMs })
  }

const requestWith = (authorization: string, more: object) => ({
  request: { headers: { authorization }, bytes: 0, body: { bot_id: 1042, chat_id: 'c1', ...more } },
})
const ownKey: Step = ['start', requestWith('Bearer my-own-key-1', {})]
const SIGNATURE = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='
const signatureInAnswer: Write = journal =>
  journal.delivery(1, 'MESSAGE FROM USER', 'c1', {
    request: { headers: { 'Kindly-HMAC': SIGNATURE }, body: '{}' },
    response: { headers: {}, body: `expected ${SIGNATURE}`, truncated: false },
  })

const effect = { respond: { status: 503 } }
const setFault = note('fault_set', { fault: 'flaky', effect, chat_id: 'c1' })
const applyFault: Write = journal => journal.add({ kind: 'fault', fault: 'flaky', effect, hit: 1 })
const endStep = (step: number) => note('step_ended', { step })
const TWO_STEPS = planOf([1, 2].map(number => ({ kind: 'step', number }) as PlannedItem))

const typing = (atMs: number): Step => ['typing_start', { atMs, body: { timeout: 5000 } }]
/** Calls of `typing_start`, so many milliseconds apart. */
const types = (count: number, gapMs: number): Write =>
  traffic(...Array.from({ length: count }, (_, at) => typing(1000 + at * gapMs)), 'end')
const says = (message: string): Step => ['message', { body: { message, sender: { name: 'Anna', avatar: null } } }]

const named = (name: string): Step => ['message', { body: { message: 'Hello', sender: { name, avatar: null } } }]
const pictured = (avatar: string): Step => ['message', { body: { message: 'Hello', sender: { name: 'Anna', avatar } } }]

const UNFOUND_END = { findings: [{ rule: 'E5', message: 'end for a chat that is not taken over.' }] }

/** One read of the inbox for each list of texts. */
const inboxReads =
  (...lists: readonly (readonly string[])[]): Write =>
  journal => {
    for (const texts of lists) journal.driver('inbox', 'c1', { items: texts.map(text => ({ text })) })
  }

/** Repeated while the agent types, and never stopped. */
const KEEPS_TYPING: Step[] = [1000, 11_000, 21_000, 31_000].map(atMs => ['typing_start', { atMs }])

/** What a rule says of the chat at this time. */
function observe(rule: Rule, write: Write, nowMs: number) {
  const journal = writeJournal()
  write(journal)
  return [...judge([rule], new History(journal.entries), { ...FACTS, nowMs })].map(({ observation }) => observation)
}

interface Cases {
  /** What breaks the rule, and the entries that the finding names. */
  readonly reports: Readonly<Record<string, readonly [Write, ...entrySeqs: number[]]>>
  readonly ignores: Readonly<Record<string, Write>>
  readonly plan?: ReturnType<typeof planOf>
}

const RULES: Record<string, Cases> = {
  'call-after-end': {
    reports: {
      'a message after the end': [traffic('start', 'end', 'message'), 5, 7],
      'a message after an end whose answer was lost': [
        traffic('start', ['end', { status: 0, answer_lost: 'after' }], 'message'),
        ...[5, 7],
      ],
      'a message that the platform refused then': [traffic('start', 'end', ['message', { status: 412 }]), 5, 7],
    },
    ignores: {
      'a message of a new handover': traffic('end', 'start', 'message'),
      'a message after a new request': traffic('end', j => j.event('REQUESTING TAKEOVER', 'c1'), 'message'),
      'a message after a refused end': traffic(['end', { status: 503 }], 'message'),
      'a message after the end of another chat': traffic(j => j.call('end', 'c2'), 'message'),
    },
  },
  'call-after-user-left': {
    reports: {
      'a refused call that is repeated': [traffic(['message', gone('Hi', 100)], ['message', gone('Hi', 900)]), 3, 4],
      'an end that is repeated': [traffic(['end', gone('', 100)], ['end', gone('', 900)]), 3, 4],
      'an agent who goes on': [traffic(['message', gone('Hi', 100)], agentSays, ['message', gone('Bye', 900)]), 3, 5],
      'typing for a user who deleted the chat': [
        traffic(['message', gone('Hi', 100, 'chat.deleted')], ['typing_start', gone('', 900, 'chat.deleted')]),
        ...[3, 4],
      ],
    },
    ignores: {
      'an end, and reads': traffic(
        ['message', gone('Hi', 100)],
        ['end', gone('', 900)],
        ['transcript', { atMs: 1000 }],
      ),
      'a call that was sent before the answer': traffic(
        ['message', gone('Hi', 100)],
        ['message', { ...gone('Bye', 200), duration_ms: 150 }],
      ),
      'an agent whom the desk has told': traffic(
        ['message', gone('Hi', 100)],
        journal => journal.driver('says', 'c1', { outcome: 'failed' }),
        ['message', gone('Bye', 900)],
      ),
      'an agent who has seen something new': traffic(
        journal => journal.driver('inbox', 'c1', { items: [] }),
        ['message', gone('Hi', 100)],
        journal => journal.driver('inbox', 'c1', { items: [{ text: 'The user has left.' }] }),
        ['message', gone('Bye', 900)],
      ),
      'a user who is back': traffic(['message', gone('Hi', 100)], note('chat_reopened', { chat_id: 'c1' }), [
        'message',
        { atMs: 900, body: { message: 'Hi' } },
      ]),
      'calls that are accepted': traffic(
        ['message', { atMs: 100, unspecified: { 'chat.closed': 'kept' } }],
        ['message', { atMs: 900, unspecified: { 'chat.closed': 'kept' } }],
      ),
      'a refusal that a fault caused': traffic(
        ['message', { ...gone('Hi', 100), faults: ['fault-1'] }],
        ['message', { ...gone('Hi', 900), faults: ['fault-1'] }],
      ),
    },
  },
  'start-twice': {
    reports: { 'a second start within one takeover': [traffic('start', 'start'), 3, 5] },
    ignores: {
      'a start after an end, a refusal or a lost answer': traffic(
        ...(['start', 'end', ['start', { status: 503 }]] as const),
        ...([['start', { faults: ['fault-1'], answer_lost: 'after' }], 'start'] as const),
      ),
    },
  },
  'typing-never-stopped': {
    reports: {
      'typing_start without a timeout': [traffic('typing_start'), 3],
      'typing_start with a timeout too short to count': [traffic(['typing_start', { body: { timeout: 100 } }]), 3],
      'typing_start with a timeout of hours': [traffic(['typing_start', { body: { timeout: 7_200_000 } }]), 3],
      'a message, which does not clear the indicator': [traffic('typing_start', 'message'), 3],
    },
    ignores: {
      'typing_start before typing_stop': traffic('typing_start', 'typing_stop'),
      'typing_start before end': traffic('typing_start', 'end'),
      'a timeout of some seconds': traffic(['typing_start', { body: { timeout: 10_000 } }]),
      'a message with the knob typing.clearOn': traffic(
        note('scenario_started', { config: { 'typing.clearOn': ['message'] } }),
        ...(['typing_start', 'message'] as const),
      ),
    },
  },
  'chat-never-ended': {
    reports: {
      'a chat whose agent left': [traffic('start', leave), 3, 5],
      'a chat whose end failed': [traffic('start', leave, ['end', { status: 503 }]), 3, 5, 6],
    },
    ignores: {
      'a running conversation': traffic('start'),
      'a chat after its end': traffic('start', leave, 'end'),
      'a chat that the help desk refused to close': traffic('start', j =>
        j.driver('leave', 'c1', { outcome: 'failed' }),
      ),
    },
  },
  'inbox-alternates': {
    reports: {
      'a text that comes and goes twice': [inboxReads(['a'], [], ['a'], ['a', 'b'], ['b']), 3, 4, 5, 7],
      'two instances with other texts each': [inboxReads(['a'], ['b'], ['a'], ['b']), 3, 4, 5, 6],
    },
    ignores: {
      'an inbox that shows only the conversation of now': j => {
        for (const texts of [['a'], [], ['a'], []]) {
          inboxReads(texts)(j)
          j.event('MESSAGE FROM USER', 'c1')
        }
      },
      'an inbox that grows': inboxReads([], ['a'], ['a', 'a'], ['a', 'a', 'b']),
      'an inbox that is emptied by each read': inboxReads(['a'], [], ['b'], [], ['c']),
      'an inbox that a restart emptied, and that has its texts again': inboxReads(['a'], [], ['a'], ['a', 'b']),
    },
  },
  'call-before-ack': {
    reports: {
      'a call that was answered while the webhook waited': [callDuringEvent(200, 5), 4, 5],
      'a call that was answered right before the webhook': [callDuringEvent(398, 200), 4, 5],
      'a read of a transcript without a start': [callDuringEvent(200, 5, undefined, 'chat'), 4, 5],
      'a second read after a start': [traffic('start', 'chat', callDuringEvent(200, 5, undefined, 'chat')), 7, 8],
    },
    ignores: {
      'a call that was recorded shortly after the answer': callDuringEvent(380, 5),
      'a call before the webhook was sent': callDuringEvent(102, 5),
      'a call that was answered after the webhook': callDuringEvent(500, 200),
      'a call that follows from another event': callDuringEvent(200, 5, 1),
      'the first read of a transcript after a start': traffic('start', callDuringEvent(200, 5, undefined, 'chat')),
    },
  },
  'ack-slower-than-retry': {
    reports: { 'an event that was sent again after a timeout': [deliveredTwice(TIMED_OUT), 4, 5] },
    ignores: {
      'a retry that has not come': deliveredTwice(TIMED_OUT, null),
      'a retry of another event': deliveredTwice(TIMED_OUT, { delivery_id: 'other' }),
      'a refused event': deliveredTwice({ status: 503 }),
      'a copy that a fault made': deliveredTwice(TIMED_OUT, { duplicate: true }),
    },
  },
  'transcript-polling': {
    reports: { 'many reads in a short time, once': [reads(6, 500), 3, 4, 5, 6, 7, 8] },
    ignores: {
      'few reads': reads(3, 10),
      'slow reads': reads(8, 4000),
      'reads with a message between': traffic(reads(2, 10), j => j.user('c1', 'Hi'), reads(2, 10)),
    },
  },
  'secret-exposed': {
    reports: {
      'the key of the headers in a text': [traffic(ownKey, ['message', { body: { message: 'Key: my-own-key-1' } }]), 5],
      'a key in the address': [traffic(['message', { path: '/api/v2/handover/message?access_token=***' }]), 3],
      'a key as a parameter': [
        traffic(ownKey, ['message', { path: '/api/v2/handover/message?for=my%2Down-key-1' }]),
        5,
      ],
      'a key in the path': [traffic(ownKey, ['message', { path: '/api/v2/my-own-key-1/message', endpoint: null }]), 5],
      'the default key': [traffic(['message', { body: { sender: { name: 'sim-handover-key' } } }]), 3],
      'a signature in the answer to the webhook': [signatureInAnswer, 3],
    },
    ignores: {
      'masked keys and keys that are short as a word': traffic(
        note('scenario_started', { config: { 'keys.handover': 'hi' } }),
        ...([['message', requestWith('Bearer ***', { message: 'three stars: ***, hi' })]] as const),
      ),
    },
  },
  'alias-mixed': {
    reports: { 'both aliases, once': [traffic('start', ['message', { alias: 'takeover' }], 'end'), 3, 5] },
    ignores: {
      'a run that uses only takeover': traffic(['start', { alias: 'takeover' }], ['end', { alias: 'takeover' }]),
      'a read, which has no alias': traffic(['start', { alias: 'takeover' }], ['chat', { alias: null }]),
    },
  },
  'fault-unused': {
    plan: TWO_STEPS,
    reports: {
      'a fault that was not applied': [traffic(setFault, endStep(1), endStep(2)), 3],
      'a second fault of the same name': [traffic(setFault, applyFault, setFault, endStep(1), endStep(2)), 5],
    },
    ignores: {
      'a fault that was applied': traffic(setFault, applyFault, endStep(1), endStep(2)),
      'a run that ended early': traffic(setFault, endStep(1)),
    },
  },
  'typing-for-each-key': {
    reports: { 'a call for each of eight keys': [types(8, 90), 3, 4, 5, 6, 7, 8, 9, 10] },
    ignores: {
      'three calls at once': types(3, 10),
      'a call every second': types(8, 1000),
      'calls in two chats': traffic(
        ...[0, 1, 2, 3].map(
          at => (j: Written) => void j.call('typing_start', at % 2 ? 'c2' : 'c1', { body: { timeout: 5000 } }),
        ),
        'end',
      ),
    },
  },
  'broken-characters': {
    reports: {
      'half of an emoji': [traffic(says('Lost \ud83d')), 3],
      'the second half': [traffic(says('\ude22 lost')), 3],
      'a sign for broken bytes': [traffic(says('bl\ufffdb\ufffdr')), 3],
    },
    ignores: {
      'whole emoji': traffic(says('Lost 😢, 👩‍👧')),
      'a quoted text of the user': traffic(j => j.user('c1', 'bl\ufffdb'), says('You wrote: bl\ufffdb')),
    },
  },
  'placeholder-text': {
    reports: {
      'a name of two missing parts': [traffic(named('undefined undefined')), 3],
      'a name of blanks': [traffic(named(' \u200b ')), 3],
      'a text that is an object': [traffic(says('It is [object Object].')), 3],
      'a text that is missing': [traffic(says('null')), 3],
      'a template that nothing filled': [traffic(says('Hi {{ agent.name }}, welcome')), 3],
      'the label of a button': [
        traffic(['message', { body: { message: 'Which?', buttons: [{ label: '%{first}' }] } }]),
        3,
      ],
    },
    ignores: {
      'words in a sentence': traffic(says('The value is null, or undefined.'), named('Nil Null-Berg')),
      'what the user or the agent wrote': traffic(
        j => j.user('c1', 'What is {{name}}?'),
        j => j.driver('says', 'c1', { text: 'null' }),
        says('You wrote: What is {{name}}?'),
        says('null'),
      ),
    },
  },
  'avatar-address': {
    reports: {
      'a path without a host': [traffic(pictured('/avatars/1.png')), 3],
      'an address that is not of the web': [traffic(pictured('javascript:alert(1)')), 3],
      'this machine': [traffic(pictured('http://localhost:3000/a.png')), 3],
      'a network of its own': [traffic(pictured('https://192.168.1.7/a.png')), 3],
      'a name of a container': [traffic(pictured('http://desk:8080/a.png')), 3],
      'the loopback address of IPv6': [traffic(pictured('http://[::1]/a.png')), 3],
    },
    ignores: {
      'addresses of the web': traffic(
        ...[
          'https://desk.example.com/a.png',
          'http://172.32.0.1/a.png',
          'https://[2001:db8::1]/a',
          'data:image/png,a',
        ].map(pictured),
      ),
    },
  },
  'end-without-takeover': {
    reports: { 'a repeated end': [traffic('end', ['end', UNFOUND_END]), 5] },
    ignores: {
      'an end that is repeated because its answer was lost': traffic(
        ['end', { faults: ['fault-1'], answer_lost: 'after' }],
        ['end', UNFOUND_END],
      ),
    },
  },
}

describe.each(Object.entries(RULES))('%s', (rule, { reports, ignores, plan }) => {
  it.each(Object.entries(reports))('reports %s', (_, [write, ...entrySeqs]) => {
    const conversation = rule === 'alias-mixed' ? null : 'ada'
    expect(found(write, plan)).toMatchObject([{ code: rule, conversation, entrySeqs }])
  })
  it.each(Object.entries(ignores))('ignores %s', (_, write) => expect(found(write, plan)).toEqual([]))
})

it.each([
  [traffic('end', 'message'), /#5 POST \/api\/v2\/handover\/message came \S+ after the handover was ended with #3/],
  [traffic(['typing_start', { body: { timeout: 7_200_000 } }]), /`timeout` of 7200000 ms/],
  [traffic('start', leave, ['end', { status: 503 }]), /\(1 tried\)/],
  [deliveredTwice(TIMED_OUT), /REQUESTING TAKEOVER \(#4\) within 2s, so it was sent again 1s later \(#5\)/],
  [reads(6, 500), /5 more reads of the same chat came within 2\.5 s/],
  [traffic(setFault, endStep(1), endStep(2)), /^The fault flaky .*, set with #3, was not applied/, TWO_STEPS],
])('the text of a finding names the entries and the measure', (write, text, plan = planOf()) => {
  expect(found(write, plan)[0]!.happened).toMatch(text)
})

const FACTS = {
  plan: planOf(),
  effectMs: 0,
  typingMs: 30_000,
  typingEnds: ['typing_stop'],
  hasAnswered: true,
  inbox: null,
}

describe('a rule of a check', () => {
  it.each([
    ['a start after the end', startAfterEnd, traffic('start', 'end', 'start'), [3, 5]],
    ['a second end', endRepeated, traffic('start', 'end', 'end'), [3, 5]],
    ['the first typing_start that nothing ended', typingNeverStopped, traffic(...KEEPS_TYPING), [1]],
  ])('reports %s', (_, rule, write, entrySeqs) => {
    const mistakes = observe(rule, write, 40_000).filter(observation => !isProof(observation))
    expect(mistakes).toMatchObject([{ entries: entrySeqs.map(seq => ({ seq })) }])
  })
  it.each([
    ['a start after a new request', startAfterEnd, traffic('end', j => j.event('REQUESTING TAKEOVER', 'c1'), 'start')],
    ['an end after a new start', endRepeated, traffic('end', 'start', 'end')],
    ['an indicator whose time is not over', typingNeverStopped, traffic(['typing_start', { atMs: 20_000 }])],
  ])('does not report %s', (_, rule, write) => {
    expect(observe(rule, write, 40_000).every(isProof)).toBe(true)
  })
})

it('a finding of the platform is reported once per chat', () => {
  const findings = [{ rule: 'ER1', message: 'timeout_ms is not a known field; it was ignored.' }]
  const stop: Step = ['typing_stop', { findings }]
  expect(found(traffic(stop, stop, j => j.call('typing_stop', 'c2', { findings })))).toMatchObject([
    { code: 'unknown-fields', conversation: 'ada', entrySeqs: [3, 4] },
    { code: 'unknown-fields', conversation: 'bo', entrySeqs: [5] },
  ])
})

it('findings have the order of the journal', () => {
  const noSender = { findings: [{ rule: 'R-SENDER.4', message: 'sender is missing.' }] }
  const write = traffic(
    j => j.call('message', 'c2', noSender),
    'end',
    'message',
    j => j.call('end', 'c2', UNFOUND_END),
  )
  const rules = ['sender-incomplete', 'call-after-end', 'end-without-takeover']
  expect(found(write).map(({ code }) => code)).toEqual(rules)
})

it('docs/reference/lint.md has a heading for each rule', () => {
  const page = readFileSync(new URL('../../docs/reference/lint.md', import.meta.url), 'utf8')
  expect([...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual(LINT_RULES.map(({ id }) => id))
})
