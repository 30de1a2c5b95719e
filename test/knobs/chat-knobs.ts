/** What users and agents see of a chat, for each knob of handovers, typing, texts and translation. */

import { type Behaviours, behaviour, matching } from './behaviour.ts'
import { AGENT, call, post, sends, takenOver, texts, transcript, type World } from './support.ts'

const wordsAtRequest =
  (availability: 'OPEN' | 'CLOSED') =>
  async ({ sim }: World) => {
    sim.setAvailability({ availability })
    const chat = await sim.chat()
    await chat.press('handover')
    return texts(chat)
  }

/** The texts at start and end, with the name of the agent and without one. */
const wordsAt =
  (call: 'start' | 'end') =>
  async ({ sim }: World) => {
    const seen: string[] = []
    for (const sender of [{ name: '$& Kim' }, undefined]) {
      const chat = await takenOver(sim, { sender })
      await post(sim, 'end', chat)
      seen.push(texts(chat)[call === 'start' ? 0 : 1]!)
    }
    return seen
  }

/** What an agent who speaks these languages reads when the user writes "Hei" in another one. */
async function agentReads({ sim, inbox }: World, language: string, ...language_codes: string[]): Promise<string> {
  const sender = { ...AGENT, language_codes }
  await (await takenOver(sim, { sender }, await sim.chat({ language }))).says('Hei')
  return inbox.at(-1)!.json.message
}

export const CHAT_KNOBS = {
  'request.repeat': behaviour(
    'event',
    { event: [false, Array(3).fill('REQUESTING TAKEOVER')], ignore: [true, ['REQUESTING TAKEOVER']] },
    async ({ sim, events }) => {
      const chat = await sim.chat()
      await chat.press('handover')
      const { messageId, deliveryId, ack } = await chat.press('handover')
      const isIgnored = [messageId, deliveryId, ack].every(value => value === null)
      await takenOver(sim, {}, chat)
      await chat.press('handover')
      return [isIgnored, events()]
    },
  ),
  'request.forwardPending': behaviour(
    'off',
    { off: ['bot', ['REQUESTING TAKEOVER']], on: ['bot', ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']] },
    async ({ sim, events }) => {
      const chat = await sim.chat()
      await chat.press('handover')
      await chat.says('Anyone?')
      return [chat.transcript.at(-1)!.from, events()]
    },
  ),
  'bot.delay': behaviour('0s', { '0s': [1, 1, 1], '2s': [0, 0, 1] }, async ({ sim }) => {
    const chat = await sim.chat()
    const answers = () => chat.transcript.filter(({ from }) => from === 'bot').length
    await chat.says('Hi')
    const seen = [answers()]
    for (const time of ['1999ms', '1ms'] as const) {
      await sim.clock.advance(time)
      seen.push(answers())
    }
    return seen
  }),
  'start.unrequested': behaviour('accept', { accept: [200, 200], '409': [409, 200] }, async ({ sim }) => {
    const chat = await sim.chat()
    const { status } = await post(sim, 'start', chat)
    await chat.press('handover')
    return [status, (await post(sim, 'start', chat)).status]
  }),
  'start.again': behaviour(
    'accept',
    {
      accept: [200, [], ['Kim has joined the chat.', 'Lou has joined the chat.', 'Hi', 'Lou has left the chat.']],
      '409': [409, undefined, ['Kim has joined the chat.', 'Hi', 'Kim has left the chat.']],
    },
    async ({ sim, inbox }) => {
      const chat = await takenOver(sim, { sender: { name: 'Kim' } })
      const second = await post(sim, 'start', chat, { sender: { name: 'Lou' }, supports_attachment: true })
      await chat.says('Hi')
      await post(sim, 'end', chat)
      return [second.status, inbox[0]!.json.attachments, texts(chat)]
    },
  ),
  'end.idle': behaviour(
    'accept',
    { accept: 200, 409: 409 },
    async ({ sim }) => (await post(sim, 'end', await sim.chat())).status,
  ),
  'message.requiresTakeover': behaviour(
    'off',
    { off: ['Before', 'Kim has joined the chat.', 'After'], on: ['Kim has joined the chat.', 'After'] },
    async ({ sim }) => {
      const chat = await sim.chat()
      await sends(sim, chat, 'Before')
      await takenOver(sim, {}, chat)
      await sends(sim, chat, 'After')
      return texts(chat)
    },
  ),
  'messages.open': behaviour(
    'by-language',
    { 'by-language': [matching(/^One moment, /)], 'Et øyeblikk {name}': ['Et øyeblikk {name}'] },
    wordsAtRequest('OPEN'),
  ),
  'messages.closed': behaviour(
    'by-language',
    { 'by-language': [matching(/not available right now/)], Stengt: ['Stengt'] },
    wordsAtRequest('CLOSED'),
  ),
  'messages.entering': behaviour(
    'by-language',
    {
      'by-language': ['$& Kim has joined the chat.', 'An agent has joined the chat.'],
      '+{name}{name}': ['+$& Kim$& Kim', matching(/^\+/)],
    },
    wordsAt('start'),
  ),
  'messages.left': behaviour(
    'by-language',
    {
      'by-language': ['$& Kim has left the chat.', 'An agent has left the chat.'],
      '-{name}': ['-$& Kim', matching(/^-/)],
    },
    wordsAt('end'),
  ),
  'typing.webhook': behaviour(
    'echo',
    { echo: ['AGENT TYPING START', 'AGENT TYPING STOP', 'AGENT TYPING STOP'], off: [] },
    async ({ sim, events }) => {
      const chat = await takenOver(sim)
      await post(sim, 'typing_start', chat, { timeout: 500 })
      await sim.clock.advance('1s')
      await post(sim, 'typing_stop', chat)
      await sim.settled()
      return events()
    },
  ),
  'typing.response': behaviour(
    'empty',
    {
      empty: ['{}', '{}'],
      event: ['{"event":"AGENT TYPING START","chat_id":"ID"}', '{"event":"AGENT TYPING STOP","chat_id":"ID"}'],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const answers = [await post(sim, 'typing_start', chat), await post(sim, 'typing_stop', chat)]
      return answers.map(({ text }) => text.replace(chat.id, 'ID'))
    },
  ),
  // Whether the indicator is still shown after a message, and after the end.
  'typing.clearOn': behaviour(
    'end',
    { end: [true, false], message: [false, true], 'end,message': [false, false], off: [true, true] },
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
  'chat.idleTimeout': behaviour(
    'off',
    { off: [true, true, true, true], '30m': [true, true, false, true] },
    async ({ sim }) => {
      const chat = await sim.chat()
      const seen: boolean[] = []
      for (const time of ['29m', '29m', '1m'] as const) {
        if (seen.length < 2) await chat.says('Hi')
        await sim.clock.advance(time)
        seen.push((await transcript(sim, chat)).active)
      }
      await chat.says('Back again')
      return [...seen, chat.view().active]
    },
  ),
  'availability.initial': behaviour(
    'OPEN',
    { OPEN: [true, true, true], CLOSED: [false, true, true] },
    async ({ sim }) => {
      const isRequested = async () => (await (await sim.chat()).press('handover')).deliveryId !== null
      const before = await isRequested()
      await call(sim, '/api/v2/handover/availability', { body: { availability: 'OPEN' } })
      const updated = await isRequested()
      await sim.configure({ 'availability.initial': 'CLOSED' })
      return [before, updated, await isRequested()]
    },
  ),
  'availability.closedBlocksStart': behaviour(
    'off',
    {
      off: [200, 'pending', 'agent', 'agent', ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']],
      on: [409, 'pending', 'agent', 'bot', ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']],
    },
    async ({ sim, events }) => {
      const [pending, taken, other] = [await sim.chat(), await takenOver(sim), await sim.chat()]
      await pending.press('handover')
      await call(sim, '/api/v2/handover/availability', { body: { availability: 'CLOSED' } })
      await taken.says('Still there?')
      const { status } = await post(sim, 'start', other)
      return [status, pending.status, taken.status, other.status, events()]
    },
  ),
  'translation.match': behaviour(
    'primary',
    { primary: ['Hei', 'Hei', '[no>nb] Hei'], exact: ['[en-GB>de] Hei', 'Hei', '[no>nb] Hei'] },
    async w => [
      await agentReads(w, 'en-GB', 'de', 'EN'),
      await agentReads(w, 'en-GB', 'en-gb'),
      await agentReads(w, 'no', 'nb'),
    ],
  ),
  'translation.aliases': behaviour(
    'off',
    { off: ['[no>nb] Hei', '[nb>nn-NO] Hei'], 'no=nb,NN=nb': ['Hei', 'Hei'] },
    async w => [await agentReads(w, 'no', 'nb'), await agentReads(w, 'nb', 'nn-NO')],
  ),
  // Also that an empty list of languages turns it off, at the first start and at a second one.
  'translation.engine': behaviour(
    'marker',
    {
      marker: ['[no>en] Hei', 'Hei', 'Hei'],
      identity: ['Hei', 'Hei', 'Hei'],
      'test/knobs/shouting-engine.mjs': ['HEI (no to en)', 'Hei', 'Hei'],
    },
    async w => {
      const seen = [await agentReads(w, 'no', 'en'), await agentReads(w, 'no')]
      const chat = await takenOver(w.sim, { sender: { language_codes: ['en'] } }, await w.sim.chat({ language: 'no' }))
      await takenOver(w.sim, { sender: { language_codes: [] } }, chat)
      await chat.says('Hei')
      return [...seen, w.inbox.at(-1)!.json.message]
    },
  ),
} satisfies Partial<Behaviours>
