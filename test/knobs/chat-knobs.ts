/** What users and agents see of a chat, for each knob of handovers, typing, texts and translation. */

import { messageOf } from '../../src/base/text/error-text.ts'
import { AGENT, post, sends, takenOver, texts, transcript, type World } from '../support/test-simulator.ts'
import { type Behaviours, behaviour, matching } from './behaviour.ts'

/** The texts of a request, of a start and of an end. */
async function notices({ sim }: World, availability: 'OPEN' | 'CLOSED' = 'OPEN') {
  sim.setAvailability({ availability })
  const chat = await sim.chat()
  await chat.press('handover')
  await takenOver(sim, { sender: { name: '$& Kim' } }, chat)
  await post(sim, 'end', chat)
  return texts(chat)
}

/** What an agent who speaks these languages reads when the user writes "Hei" in another one. */
async function agentReads({ sim, inbox }: World, language: string, ...language_codes: string[]): Promise<string> {
  const sender = { ...AGENT, language_codes }
  await (await takenOver(sim, { sender }, await sim.chat({ language }))).says('Hei')
  return inbox.at(-1)!.json.message
}

export const CHAT_KNOBS = {
  'request.repeat': behaviour({ '*event': [200, 2], ignore: [undefined, 1] }, async ({ sim, inbox }) => {
    const chat = await sim.chat()
    await chat.press('handover')
    const { ack } = await chat.press('handover')
    return [ack?.status, inbox.length]
  }),
  'request.forwardPending': behaviour(
    { '*off': ['REQUESTING TAKEOVER'], on: ['REQUESTING TAKEOVER', 'MESSAGE FROM USER'] },
    async ({ sim, events }) => {
      const chat = await sim.chat()
      await chat.press('handover')
      await chat.says('Anyone?')
      return events()
    },
  ),
  // Presses of two buttons of an agent, and what the transcript says of a button of the bot.
  'buttons.form': behaviour(
    {
      '*typed': [
        ['yes please'],
        { button_type: 'quick_reply', label: 'Agent', value: 'Agent', index: 0, is_active: true, language_code: 'en' },
      ],
      own: [['Open', 'Yes'], { label: 'Agent', handover: true }],
    },
    async ({ sim, inbox }) => {
      const chat = await takenOver(
        sim,
        {},
        await sim.chat({ history: [{ bot: 'Hello', buttons: [{ label: 'Agent', handover: true }] }] }),
      )
      const buttons = [
        { button_type: 'link', label: 'Open', value: 'https://shop.example.test' },
        { button_type: 'quick_reply', label: 'Yes', value: 'yes please' },
      ]
      await sends(sim, chat, 'Look', { buttons })
      await chat.press('Open')
      await chat.press('Yes')
      const { hide_outside_business_hours: _, ...button } = (await transcript(sim, chat)).messages[0].buttons[0]
      return [inbox.map(({ json }) => json.message), button]
    },
  ),
  'request.closedButton': behaviour(
    { '*shown': [['Agent'], 'closed text'], hidden: [[], matching(/hidden while handover is closed/)] },
    async ({ sim }) => {
      const chat = await sim.chat({ history: [{ bot: 'Hello', buttons: [{ label: 'Agent', handover: true }] }] })
      sim.setAvailability({ availability: 'CLOSED' })
      const shown = chat.transcript[0]!.buttons.map(({ label }) => label)
      return [shown, await chat.press('handover').then(() => 'closed text', messageOf)]
    },
  ),
  'bot.delay': behaviour({ '*0s': ['bot', 'bot', 'bot'], '2s': ['user', 'user', 'bot'] }, async ({ sim }) => {
    const chat = await sim.chat()
    await chat.says('Hi')
    const seen: unknown[] = []
    for (const time of ['0s', '1999ms', '1ms'] as const) {
      await sim.clock.advance(time)
      seen.push(chat.transcript.at(-1)!.from)
    }
    return seen
  }),
  'start.unrequested': behaviour({ '*accept': [200, 200], '409': [409, 200] }, async ({ sim }) => {
    const chat = await sim.chat()
    const { status } = await post(sim, 'start', chat)
    await chat.press('handover')
    return [status, (await post(sim, 'start', chat)).status]
  }),
  'start.again': behaviour({ '*accept': [200, []], '409': [409, undefined] }, async ({ sim, inbox }) => {
    const chat = await takenOver(sim)
    const { status } = await post(sim, 'start', chat, { supports_attachment: true })
    await chat.says('Hi')
    return [status, inbox[0]!.json.attachments]
  }),
  'end.idle': behaviour(
    { '*accept': 200, 409: 409 },
    async ({ sim }) => (await post(sim, 'end', await sim.chat())).status,
  ),
  'message.requiresTakeover': behaviour({ '*off': [200, 'agent'], on: [409, undefined] }, async ({ sim }) => {
    const chat = await sim.chat()
    const { status } = await sends(sim, chat, 'Before')
    return [status, chat.transcript.at(-1)?.from]
  }),
  'messages.open': behaviour(
    { '*by-language': matching(/^One moment, /), 'Et øyeblikk {name}': 'Et øyeblikk {name}' },
    async w => (await notices(w))[0],
  ),
  'messages.closed': behaviour(
    { '*by-language': matching(/not available right now/), Stengt: 'Stengt' },
    async w => (await notices(w, 'CLOSED'))[0],
  ),
  'messages.entering': behaviour(
    { '*by-language': '$& Kim has joined the chat.', '+{name}{name}': '+$& Kim$& Kim' },
    async w => (await notices(w))[1],
  ),
  'messages.left': behaviour(
    { '*by-language': '$& Kim has left the chat.', '-{name}': '-$& Kim' },
    async w => (await notices(w))[2],
  ),
  'typing.webhook': behaviour(
    { '*echo': ['AGENT TYPING START', 'AGENT TYPING STOP'], off: [] },
    async ({ sim, events }) => {
      await post(sim, 'typing_start', await takenOver(sim), { timeout: 500 })
      await sim.clock.advance('1s')
      return events()
    },
  ),
  'typing.response': behaviour(
    { '*empty': [undefined, undefined], event: ['AGENT TYPING START', 'AGENT TYPING STOP'] },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const answers = [await post(sim, 'typing_start', chat), await post(sim, 'typing_stop', chat)]
      return answers.map(({ json }) => json.event)
    },
  ),
  // Whether the indicator is still shown after a message, and after the end.
  'typing.clearOn': behaviour(
    { '*end': [true, false], message: [false, true], 'end,message': [false, false], off: [true, true] },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      await post(sim, 'typing_start', chat)
      await sends(sim, chat, 'Hi')
      const afterMessage = chat.typing
      await post(sim, 'typing_start', chat)
      await post(sim, 'end', chat)
      return [afterMessage, chat.typing]
    },
  ),
  'chat.idleTimeout': behaviour({ '*off': [true, true], '30m': [true, false] }, async ({ sim }) => {
    const chat = await sim.chat()
    await sim.clock.advance('29m')
    await chat.says('Hi')
    const seen: boolean[] = []
    for (const time of ['29m', '1m'] as const) {
      await sim.clock.advance(time)
      seen.push((await transcript(sim, chat)).active)
    }
    return seen
  }),
  // Status of the answers, and who has the chat.
  'chat.closed': behaviour(
    { '*kept': [200, 'agent', 200, 'bot'], ended: [200, 'bot', 200, 'bot'], 404: [404, 'bot', 404, 'bot'] },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      await chat.closes()
      const said = await sends(sim, chat, 'Are you there?')
      const { status } = chat
      return [said.status, status, (await post(sim, 'end', chat)).status, chat.status]
    },
  ),
  'chat.deleted': behaviour({ '*404': [404, undefined], empty: [200, 0] }, async ({ sim }) => {
    const chat = await takenOver(sim)
    await chat.deletes()
    const { status, json } = await post(sim, 'transcript', chat)
    return [status, json.chat?.messages.length]
  }),
  'chat.reopens': behaviour({ '*on': [200, true], off: [undefined, false] }, async ({ sim }) => {
    const chat = await takenOver(sim)
    await chat.closes()
    const { ack } = await chat.says('In the old tab')
    return [ack?.status, chat.view().active]
  }),
  'availability.initial': behaviour({ '*OPEN': [true, true], CLOSED: [false, true] }, async ({ sim }) => {
    const isRequested = async () => (await (await sim.chat()).press('handover')).deliveryId !== null
    const before = await isRequested()
    sim.setAvailability({ availability: 'OPEN' })
    await sim.configure({ 'availability.initial': 'CLOSED' })
    return [before, await isRequested()]
  }),
  'availability.closedBlocksStart': behaviour({ '*off': [200, 'agent'], on: [409, 'bot'] }, async ({ sim }) => {
    const chat = await sim.chat()
    sim.setAvailability({ availability: 'CLOSED' })
    return [(await post(sim, 'start', chat)).status, chat.status]
  }),
  'translation.match': behaviour(
    { '*primary': ['Hei', '[no>nb] Hei'], exact: ['[en-GB>de] Hei', '[no>nb] Hei'] },
    async w => [await agentReads(w, 'en-GB', 'de', 'EN'), await agentReads(w, 'no', 'nb')],
  ),
  'translation.aliases': behaviour(
    { '*off': ['[no>nb] Hei', '[nb>nn-NO] Hei'], 'no=nb,NN=nb': ['Hei', 'Hei'] },
    async w => [await agentReads(w, 'no', 'nb'), await agentReads(w, 'nb', 'nn-NO')],
  ),
  'translation.engine': behaviour(
    { '*marker': '[no>en] Hei', identity: 'Hei', 'test/knobs/shouting-engine.mjs': 'HEI (no to en)' },
    async w => agentReads(w, 'no', 'en'),
  ),
} satisfies Partial<Behaviours>
