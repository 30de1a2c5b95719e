/** What the end user and the bot do, and what the webhook has to answer to it. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { answers, TAKEN } from './scripted-steps.ts'
import { describeRows, expectRows, type Row } from './table.ts'

const LATE = '{ status: 200, after: 400 }'
const BUTTONS = 'chat: { history: [{ bot: Hi, buttons: [{ label: Talk to us, handover: true }, { label: Prices }] }] }'

const rows: Record<string, Row> = {
  'a text': `${TAKEN}- user: Hello\n- agent: { sees: Hello }`,
  'a text to the bot': '- user: Hello\n- check: { events: { MESSAGE FROM USER: 0 } }',
  'async continues before the answer': `${TAKEN}${answers(LATE)}- user: { text: Hi, async: true }\n- none: { end: {}, for: 20ms }`,
  'a described attachment': `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { text: Here, attach: [{ name: a.pdf, type: application/pdf, size_kb: 87 }] }
- agent: { sees: { text: Here, attachments: [{ name: a.pdf, type: application/pdf, size_kb: 87 }] } }`,
  'a size with a fraction, and a name of another folder': `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { attach: [{ name: ../a.pdf, type: application/pdf, size_kb: 12.5 }, { name: CON, type: image/png, size_kb: "7" }] }
- agent: { sees: { attachments: [{ name: ../a.pdf, size_kb: 13 }, { name: CON, size_kb: 7 }] } }`,
  'an attachment that no link can carry': {
    steps: '- user: { attach: [{ name: .., type: image/png, size_kb: 1 }] }\n- check: { status: bot }',
    is: /^stimulus: .*the name ".." means a folder/,
  },
  'attachments alone, from files, with their bytes': `
- press: handover
- agent: { does: calls, with: { list: [{ start: { supports_attachment: true } }] } }
- expect: start
- user: { attach: [{ file: bill.txt }, { file: bill.txt, name: b.csv }, { file: bill.txt, name: c, type: text/x-bill }] }
- agent: { sees: { text: "", attachments: [{ name: bill.txt, type: text/plain, size_kb: 1 }, { name: b.csv, type: text/csv }, { name: c, type: text/x-bill }] } }
- agent: { does: calls, with: { list: [{ file: {} }] } }
- expect: { message: { message: "One parcel, 3 pounds" } }`,
  'an attachment the agent does not get': {
    steps: `${TAKEN}- user: { text: Here, attach: [{ file: bill.txt }] }\n- agent: { sees: { attachments: [{ name: bill.txt }] }, within: 100ms }`,
    is: /^sees: agent sees .*bill\.txt.* exactly once/,
  },
  'a button by its label': {
    head: BUTTONS,
    steps: '- press: Prices\n- check: { transcript: { contains: [{ user: Prices }] }, status: bot }',
  },
  'a handover button by its label': {
    head: BUTTONS,
    steps: '- press: Talk to us\n- agent: { sees: { request: true } }\n- check: { status: pending }',
  },
  'a button that is not shown': {
    head: BUTTONS,
    steps: '- press: Price\n- check: { status: bot }',
    is: /^stimulus: .*Price.* \| .*Prices/,
  },
  'a link, a phone and a quick reply of an agent by their labels': `${TAKEN}
- agent: { does: calls, with: { list: [{ message: { message: See, buttons: [
    { button_type: link, label: Open, value: "https://a.example.test" },
    { button_type: phone, label: Call, value: "+47 22" },
    { button_type: quick_reply, label: "Yes", value: yes please } ] } }] } }
- expect: message
- press: Open
- press: Call
- press: "Yes"
- check: { events: { MESSAGE FROM USER: 1 }, transcript: { last: [{ user: yes please }] } }`,
  'a button that is not active': {
    head: 'chat: { history: [{ bot: Hi, buttons: [{ label: Prices, is_active: false }] }] }',
    steps: '- press: Prices\n- check: { status: bot }',
    is: /^stimulus: .*"Prices" cannot be pressed: its is_active is false/,
  },
  'a press that is refused': {
    steps: `${answers('{ status: 503 }')}- press: handover\n- check: { status: pending }`,
    is: /^stimulus: status 200 from the webhook to REQUESTING TAKEOVER .* answered 503 /,
  },
  'a press with the ack it expects': `${answers('{ status: 503 }')}- press: { button: handover, ack: 503 }\n- check: { status: pending }`,
  'a user who closes the chat and comes back': `
- press: handover
- agent: accept
- expect: start
- user: { does: close }
- check: { status: agent, events: { MESSAGE FROM USER: 0 } }
- user: One more thing
- agent: { sees: One more thing }`,
  'a user who deletes the chat': `
- press: handover
- agent: accept
- expect: start
- user: { does: delete }
- check: { status: bot, transcript: { length: 0 } }
- user: hello
- check: { transcript: { lacks: [{ bot: /joined/ }], contains: [{ user: hello }] } }`,
  'the bot says something': `
- bot: { text: Need help?, buttons: [{ label: Yes please, handover: true }] }
- check: { transcript: { last: [{ bot: Need help?, buttons: [{ label: Yes please }] }] } }
- press: Yes please
- check: { status: pending }`,
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
    marked: { head: 'tokens: true', steps },
    plain: steps,
    'its words come back': { steps: `${TAKEN}- user: Where is my parcel?\n${ECHO}\n- expect: message`, is: /^echo: / },
  })
  const texts = intermediary.received.filter(({ event }) => event === 'MESSAGE FROM USER').map(({ text }) => text)
  const [marked, ...more] = texts.filter(text => text.startsWith('Hello') && text !== 'Hello')
  expect({ marked, more }).toEqual({ marked: expect.stringMatching(/^Hello./), more: [] })
  expect(texts.filter(text => text === '')).toHaveLength(2)
})
