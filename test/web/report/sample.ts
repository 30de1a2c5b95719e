/** A run as it might have been: a wrong text, cross-talk, a dead target, a driver with a gap, faults, a warning. */
import {
  describeWarning,
  type RunReport,
  type ScenarioReport,
} from '../../../src/evaluation/evaluator/wording/report.ts'
import { createTape } from './journal-recorder.ts'
import { failure, ref, run, scenarioResult, step } from './verdicts.ts'

const ADA = 'c394b674-c865-4926-9541-db8f3c7cb8b6'
const BO = '51d0a7f2-0c64-4c1e-8f0b-7e9d1a2b3c4d'

/** The text an agent wrote arrives with its apostrophe escaped. */
export function wrongText(): ScenarioReport {
  const file = 'scenarios/happy.yaml'
  const recorder = createTape()
  recorder.begin(1, 'press handover')
  recorder.at(4)
  recorder.press(ADA)
  recorder.done(1)
  recorder.at(410)
  recorder.begin(2, 'agent accept')
  recorder.agent(ADA, 'accept')
  recorder.done(2)
  recorder.at(440)
  recorder.begin(3, 'expect start')
  recorder.at(610)
  const start = recorder.call('start', ADA, { sender: recorder.sender, supports_attachment: true })
  recorder.done(3)
  recorder.at(620)
  recorder.begin(4, 'user My parcel is lost 😢')
  recorder.says(ADA, 'My parcel is lost 😢', { ms: 24 })
  recorder.done(4)
  recorder.at(700)
  recorder.begin(5, `agent { says: "I'm Anna" }`)
  recorder.agent(ADA, 'says', "I'm Anna")
  recorder.done(5)
  recorder.begin(6, `expect message { message: "I'm Anna" }`)
  recorder.at(840)
  const message = recorder.call('message', ADA, { message: 'I&#39;m Anna', sender: recorder.sender })
  recorder.at(2840)
  recorder.done(6)
  const of = 8
  const wanted = ref(file, 6, of, `expect message { message: "I'm Anna" }`)
  return scenarioResult('Happy path', 'fail', {
    file,
    tags: ['smoke', 'en'],
    spec: ['E4', 'E6', 'WH'],
    conversations: { main: ADA },
    captures: { anna: 'Anna' },
    durationMs: 6412,
    journal: recorder.entries,
    failures: [
      failure({
        kind: 'expect',
        step: wanted,
        expected: `expect message { message: "I'm Anna" } within 2s of #15`,
        happened: `nearest: #${message}, message differs (only HTML escaping)`,
        rules: ['E6'],
        entrySeqs: [message],
        hint: 'The text was escaped for HTML on its way; send it as the agent wrote it.',
        nearest: [
          {
            seq: message,
            what: 'POST /api/v2/handover/message/',
            afterMs: 140,
            codes: [],
            why: '1 field differs',
            differences: [
              {
                path: 'message',
                expected: `"I'm Anna"`,
                received: '"I&#39;m Anna"',
                hint: 'only HTML escaping differs',
              },
            ],
          },
          {
            seq: start,
            what: 'POST /api/v2/handover/start',
            afterMs: -90,
            codes: [],
            why: 'already claimed by step 3',
            differences: [],
          },
        ],
      }),
    ],
    steps: [
      step(ref(file, 1, of, 'press handover'), 'pass', 0, 35),
      step(ref(file, 2, of, 'agent accept'), 'pass', 410, 418),
      step(ref(file, 3, of, 'expect start { sender: { name: $type string } }'), 'pass', 440, 611, [start]),
      step(ref(file, 4, of, 'user My parcel is lost 😢'), 'pass', 620, 644),
      step(ref(file, 5, of, `agent { says: "I'm Anna" }`), 'pass', 700, 708),
      step(wanted, 'fail', 708, 2840),
      step(ref(file, 7, of, 'agent leave'), 'not reached'),
      step(ref(file, 8, of, 'expect end'), 'not reached'),
    ],
  })
}

/** Two chats; the answer meant for one turns up in the other. */
export function crossTalk(): ScenarioReport {
  const file = 'scenarios/two-chats.yaml'
  const recorder = createTape()
  recorder.begin(1, 'press handover')
  recorder.press(ADA, { ms: 28 })
  recorder.done(1)
  recorder.at(20)
  recorder.begin(2, 'press handover')
  recorder.press(BO, { ms: 41 })
  recorder.done(2)
  recorder.at(130)
  const one = recorder.call('start', ADA, { sender: recorder.sender })
  recorder.at(150)
  const other = recorder.call('start', BO, { sender: { name: 'Omar', avatar: 'https://desk.example.test/omar.png' } })
  recorder.at(300)
  recorder.begin(5, 'agent { says: "Your parcel is in Oslo [k7f2]" }')
  recorder.agent(ADA, 'says', 'Your parcel is in Oslo [k7f2]')
  recorder.done(5)
  recorder.begin(6, 'expect message')
  recorder.at(420)
  const leaked = recorder.call('message', BO, { message: 'Your parcel is in Oslo [k7f2]', sender: recorder.sender })
  recorder.at(5300)
  recorder.done(6)
  const of = 6
  const conversation = { conversation: 'ada' }
  const wanted = ref(file, 6, of, 'expect message { message: /Oslo/ }', {
    ...conversation,
    id: 'reply',
    name: 'The answer',
  })
  const nearest = [
    {
      seq: leaked,
      what: 'POST /api/v2/handover/message/',
      afterMs: 120,
      codes: [],
      why: 'chat_id belongs to chat "bo": cross-talk?',
      differences: [{ path: 'chat_id', expected: `"${ADA}"`, received: `"${BO}"` }],
    },
  ]
  return scenarioResult('Two chats at once', 'fail', {
    file,
    tags: ['concurrency'],
    conversations: { ada: ADA, bo: BO },
    durationMs: 7700,
    instance: 2,
    journal: recorder.entries,
    failures: [
      failure({
        kind: 'expect',
        step: wanted,
        conversation: 'ada',
        expected: 'expect message { message: /Oslo/ } within 5s of #14',
        happened: `nothing came to chat ada; #${leaked} went to chat bo`,
        entrySeqs: [leaked],
        hint: 'Look where the chat of an answer is kept: a variable shared by all chats would do this.',
        nearest,
      }),
      failure({
        kind: 'leak',
        conversation: 'bo',
        expected: 'no text of chat ada in chat bo',
        happened: `#${leaked} carries [k7f2], which was written in chat ada`,
        entrySeqs: [leaked],
        soft: true,
      }),
    ],
    warnings: [
      describeWarning({
        rule: 'chat-never-ended',
        details: { leaveSeq: other, refusedEnds: 0 },
        conversation: 'bo',
        entrySeqs: [other],
      }),
    ],
    steps: [
      step(ref(file, 1, of, 'press handover', conversation), 'pass', 0, 28),
      step(ref(file, 2, of, 'press handover', { conversation: 'bo' }), 'pass', 20, 61),
      step(ref(file, 3, of, 'expect start', conversation), 'pass', 62, 131, [one]),
      step(ref(file, 4, of, 'expect start', { conversation: 'bo' }), 'pass', 131, 151, [other]),
      step(ref(file, 5, of, 'agent { says: "Your parcel is in Oslo [k7f2]" }', conversation), 'pass', 300, 308),
      step(wanted, 'fail', 308, 5300),
    ],
  })
}

function deadTarget(): ScenarioReport {
  const file = 'scenarios/restart.yaml'
  const recorder = createTape()
  recorder.begin(1, 'press handover')
  recorder.press(ADA, {
    status: null,
    ms: 3,
    failure: { code: 'connection_refused', target: '127.0.0.1:3000', system_code: 'ECONNREFUSED' },
  })
  recorder.done(1, {
    failure: {
      code: 'target_not_started',
      target: 'The target',
      failure: { code: 'address_in_use', address: 'http://127.0.0.1:3000/webhook' },
      output: '',
    },
  })
  return scenarioResult('Restart in the middle of a chat', 'error', {
    file,
    conversations: { main: ADA },
    reason: 'the target is gone: connection refused by 127.0.0.1:3000',
    durationMs: 412,
    journal: recorder.entries,
    failures: [
      failure({
        kind: 'environment',
        step: ref(file, 1, 4, 'press handover'),
        expected: 'REQUESTING TAKEOVER answered with 200',
        happened: 'connection refused by 127.0.0.1:3000',
        entrySeqs: [4],
        hint: 'Is the intermediary running? handover-sim doctor tells who holds the port.',
      }),
    ],
    steps: [
      step(ref(file, 1, 4, 'press handover'), 'error', 0, 3),
      step(ref(file, 2, 4, 'target restart'), 'not reached'),
      step(ref(file, 3, 4, 'agent leave'), 'not reached'),
      step(ref(file, 4, 4, 'expect end'), 'not reached'),
    ],
  })
}

const withoutInbox = (): ScenarioReport =>
  scenarioResult('The agent sees every message', 'inconclusive', {
    file: 'scenarios/inbox.yaml',
    reason: 'the driver has no inbox: step 4 needs it to see what the agent sees',
    durationMs: 96,
    steps: [step(ref('scenarios/inbox.yaml', 4, 4, 'agent { sees: Hello }'), 'inconclusive', 90, 90)],
  })

/** Two 503, a lost answer, and patience. */
function faults(): ScenarioReport {
  const file = 'scenarios/faults.yaml'
  const recorder = createTape()
  const refused = { status: 503, response: { error: { code: 'unavailable', message: 'Try again' } }, faults: ['busy'] }
  recorder.begin(1, 'fault { on: { api: start }, respond: { status: 503 }, times: 2 }')
  recorder.done(1)
  recorder.at(5)
  recorder.begin(2, 'press handover')
  recorder.press(ADA)
  recorder.done(2)
  recorder.begin(3, 'expect start')
  for (const [hit, at] of [90, 1120].entries()) {
    recorder.at(at)
    const call = recorder.call('start', ADA, { sender: recorder.sender }, refused)
    recorder.fault(ADA, 'busy', { respond: { status: 503 } }, hit + 1, 2, { cause: call, endpoint: 'start' })
  }
  recorder.at(5200)
  const start = recorder.call('start', ADA, { sender: recorder.sender })
  recorder.done(3)
  recorder.at(5260)
  recorder.begin(4, 'expect message')
  const message = recorder.call('message', ADA, { message: 'Hi, this is Anna', sender: recorder.sender })
  recorder.done(4)
  recorder.add({
    kind: 'note',
    note: 'observed',
    step: 5,
    chat_id: ADA,
    status: 'agent',
    typing: false,
    availability: 'OPEN',
  })
  return scenarioResult('A busy platform is asked again', 'pass', {
    file,
    conversations: { main: ADA },
    tags: ['resilience'],
    durationMs: 5610,
    journal: recorder.entries,
    steps: [
      step(ref(file, 1, 5, 'fault { on: { api: start }, respond: { status: 503 }, times: 2 }'), 'pass', 0, 1),
      step(ref(file, 2, 5, 'press handover'), 'pass', 5, 36),
      step(ref(file, 3, 5, 'expect start within 10s'), 'pass', 36, 5201, [start]),
      step(ref(file, 4, 5, 'expect message'), 'pass', 5260, 5261, [message]),
      step(ref(file, 5, 5, 'check { status: agent }'), 'pass', 5261, 5262),
    ],
  })
}

function closed(): ScenarioReport {
  const file = 'scenarios/closed.yaml'
  const recorder = createTape()
  recorder.begin(1, 'availability CLOSED')
  recorder.add({
    kind: 'note',
    note: 'availability',
    availability: 'CLOSED',
    reason: 'BUSINESS_HOURS',
    by: 'workspace',
  })
  recorder.done(1)
  recorder.at(12)
  recorder.begin(2, 'press handover')
  recorder.add({ kind: 'user', chat_id: ADA, action: 'press', button: 'Talk to us', message_id: null })
  recorder.add({ kind: 'note', note: 'bot_message', chat_id: ADA, message_id: 'm2', text: 'We are closed until nine.' })
  recorder.done(2)
  return scenarioResult('Closed hours', 'pass', {
    file,
    clock: 'virtual',
    conversations: { main: ADA },
    durationMs: 640,
    journal: recorder.entries,
    warnings: [
      describeWarning({
        rule: 'alias-mixed',
        details: { handoverSeqs: [2], takeoverSeqs: [4] },
        conversation: null,
        entrySeqs: [],
      }),
      describeWarning({
        rule: 'chat-never-ended',
        details: { leaveSeq: 3, refusedEnds: 0 },
        conversation: 'main',
        entrySeqs: [],
      }),
    ],
    steps: [
      step(ref(file, 1, 2, 'availability CLOSED'), 'pass', 0, 2),
      step(ref(file, 2, 2, 'press handover'), 'pass', 12, 14),
    ],
  })
}

/** A call for an unknown chat. */
export function sample(): RunReport {
  const recorder = createTape(900)
  recorder.at(8000)
  const orphan = recorder.call(
    'message',
    '00000000-1111-4222-8333-444444444444',
    { message: 'Hello?' },
    { status: 404 },
  )
  return run([closed(), wrongText(), faults(), withoutInbox(), crossTalk(), deadTarget()], {
    journal: recorder.entries,
    failures: [
      failure({
        kind: 'unexpected',
        conversation: null,
        expected: 'calls for chats of this run only',
        happened: `#${orphan} POST message for chat 00000000-1111-4222-8333-444444444444, which nobody knows`,
        entrySeqs: [orphan],
      }),
    ],
  })
}

const NASTY = [
  '</script><script>broken=1</script>',
  '<img src=x onerror="broken=1">',
  '"><b onclick=broken=1>',
  "' autofocus onfocus='broken=1",
  '<!--<script>',
  '\u2028\u2029\u202Egnp.exe\u202C',
  '\u0024{broken=1}`',
  'javascript:broken=1',
  '\u0000\uD83D ]]>',
]

/** The same run with hostile names, texts and payloads. */
export function hostile(): RunReport {
  let turn = 0
  const spoil = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return UNCHANGED_KEYS.has(key) ? value : `${NASTY[turn++ % NASTY.length]} ${value}`
    if (Array.isArray(value)) return value.map(item => spoil(item, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, spoil(item, name)]))
  }
  return spoil(sample()) as RunReport
}

/** What is not text but one of a few words, or a moment. */
const UNCHANGED_KEYS = new Set([
  'rule',
  'kind',
  'outcome',
  'note',
  'endpoint',
  'startedAt',
  'chat_id',
  'ada',
  'bo',
  'main',
  'answer_lost',
])
