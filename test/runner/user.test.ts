/** What the end user and the bot do, and what the webhook has to answer to it. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { answers, TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, type Row } from './table.ts'

const A404 = '{ status: 404 }'
const A204 = '{ status: 204 }'
const LATE = '{ status: 200, after: 400 }'
const BUTTONS = 'chat: { history: [{ bot: Hi, buttons: [{ label: Talk to us, handover: true }, { label: Prices }] }] }'

const rows: Record<string, Row> = {
  'a text': { steps: `${TAKEN}- user: Hello\n- agent: { sees: Hello }`, is: 'pass' },
  'a text to the bot': { steps: '- user: Hello\n- check: { events: { MESSAGE FROM USER: 0 } }', is: 'pass' },
  'another 2xx is no 200': { steps: `${TAKEN}${answers(A204)}- user: Hello`, is: /^stimulus: .* answered 204 / },
  'another status that is expected': { steps: `${TAKEN}${answers(A404)}- user: { text: Hi, ack: 404 }`, is: 'pass' },
  'a refusal': { steps: `${TAKEN}${answers(A404)}- user: { text: Hi, ack: non-2xx }`, is: 'pass' },
  'async continues before the answer': {
    steps: `${TAKEN}${answers(LATE)}- user: { text: Hi, async: true }\n- none: { end: {}, for: 20ms }`,
    is: 'pass',
  },
  'an async text whose answer is refused': {
    steps: `${TAKEN}${answers('{ status: 500, after: 50 }')}- user: { text: Hi, async: true }`,
    is: /^stimulus: .* answered 500 /,
  },
  'a described attachment': {
    steps: `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { text: Here, attach: [{ name: a.pdf, type: application/pdf, size_kb: 87 }] }
- agent: { sees: { text: Here, attachments: [{ name: a.pdf, type: application/pdf, size_kb: 87 }] } }`,
    is: 'pass',
  },
  'an attachment alone, from a file': {
    steps: `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { attach: [{ file: bill.txt }, { file: bill.txt, name: b.csv }, { file: bill.txt, name: c, type: text/x-bill }] }
- agent: { sees: { text: "", attachments: [{ name: bill.txt, type: text/plain, size_kb: 1 }, { name: b.csv, type: text/csv }, { name: c, type: text/x-bill }] } }`,
    is: 'pass',
  },
  'the bytes of a file': {
    steps: `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { attach: [{ file: bill.txt }] }
- agent: { does: calls, with: { list: [{ file: {} }] } }
- expect: { message: { message: "One parcel, 3 pounds" } }`,
    is: 'pass',
  },
  'an attachment the agent does not get': {
    steps: `${TAKEN}- user: { text: Here, attach: [{ file: bill.txt }] }\n- agent: { sees: { attachments: [{ name: bill.txt }] }, within: 100ms }`,
    is: /^sees: agent sees .*bill\.txt.* exactly once/,
  },
  'a button by its label': {
    head: BUTTONS,
    steps: '- press: Prices\n- check: { transcript: { contains: [{ user: Prices }] }, status: bot }',
    is: 'pass',
  },
  'a handover button by its label': {
    head: BUTTONS,
    steps: '- press: Talk to us\n- agent: { sees: { request: true } }\n- check: { status: pending }',
    is: 'pass',
  },
  'a button that is not shown': {
    head: BUTTONS,
    steps: '- press: Price\n- check: { status: bot }',
    is: /^stimulus: .*Price.* \| .*Prices/,
  },
  'a press that is refused': {
    steps: `${answers('{ status: 503 }')}- press: handover\n- check: { status: pending }`,
    is: /^stimulus: status 200 from the webhook to REQUESTING TAKEOVER .* answered 503 /,
  },
  'a press with the ack it expects': {
    steps: `${answers('{ status: 503 }')}- press: { button: handover, ack: 503 }\n- check: { status: pending }`,
    is: 'pass',
  },
  'the bot says something': {
    steps: `
- bot: { text: Need help?, buttons: [{ label: Yes please, handover: true }] }
- check: { transcript: { last: [{ bot: Need help?, buttons: [{ label: Yes please }] }] } }
- press: Yes please
- check: { status: pending }`,
    is: 'pass',
  },
  'the bot is silent beside an agent': {
    steps: `${TAKEN}- bot: Hi`,
    is: /^stimulus: bot.* \| bot "Hi" failed: The bot is silent/,
  },
}

describeRows('user, press and bot', rows, { files: { 'bill.txt': 'One parcel, 3 pounds' } })

const ECHO = '- agent: { does: calls, with: { list: [{ echo: {} }] } }'

it('tokens identify the text of a user, and steps do not contain them', async () => {
  const intermediary = await startScriptedIntermediary()
  const onlyFile = '- user: { attach: [{ name: a.txt, type: text/plain, size_kb: 1 }] }'
  const steps = `${TAKEN}- user: Hello\n- agent: { sees: Hello }\n${onlyFile}\n- check: { transcript: { contains: [{ user: Hello }] } }`
  await expectRows(intermediary, {
    marked: { head: 'tokens: true', steps, is: 'pass' },
    plain: { steps, is: 'pass' },
    'its words come back': {
      head: 'tokens: true',
      steps: `${TAKEN}- user: Where is my parcel?\n${ECHO}\n- expect: message`,
      is: /^echo: /,
    },
  })
  const texts = intermediary.received.filter(({ event }) => event === 'MESSAGE FROM USER').map(({ text }) => text)
  const [marked, ...more] = texts.filter(text => text.startsWith('Hello') && text !== 'Hello')
  expect({ marked, more }).toEqual({ marked: expect.stringMatching(/^Hello./), more: [] })
  expect(texts.filter(text => text === '')).toHaveLength(2)
})

it("a user's text in the chat of another user is a leak", async () => {
  await expectRows(await startScriptedIntermediary(), {
    'in another chat': {
      head: 'tokens: true\nchats: { ada: {}, bo: {} }',
      steps: `
- { press: handover, chat: ada }
- { press: handover, chat: bo }
- { agent: accept, chat: ada }
- { agent: accept, chat: bo }
- { expect: start, chat: ada }
- { expect: start, chat: bo }
- { user: A secret of Ada, chat: ada }
- { agent: { does: calls, with: { list: [{ echo: {}, chat: last }] } }, chat: ada }
- { expect: message, chat: bo }`,
      is: /^leak: /,
    },
  })
})
