/** What an editor knows of the library: right things compile, wrong ones do not. Nothing here runs. */
import { expect } from 'vitest'
import { createSimulator, type ReceivedCall, type Simulator, startSimulator } from '../../src/index.ts'
import '../../src/vitest/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <_T extends true>(): void => {}

export async function everyCall(sim: Simulator): Promise<void> {
  const ada = await sim.chat({ language: 'nb' })

  const start = await ada.expectCall('start', { supports_attachment: true }, { within: '3s' })
  is<Same<typeof start, ReceivedCall<'start'>>>()
  is<Same<typeof start.body.chat_id, string>>()
  is<Same<typeof start.body.bot_id, number>>()
  is<Same<typeof start.body.supports_attachment, boolean | undefined>>()
  is<Same<typeof start.response.event, 'TAKEOVER STARTED'>>()
  start.body.sender?.language_codes?.map(code => code.toUpperCase())
  // @ts-expect-error not a field of start
  start.body.message
  // @ts-expect-error not a field of its answer
  start.response.updated_at

  const messages = await ada.expectCall('message', { message: /hi/ }, { times: 2 })
  is<Same<typeof messages, ReceivedCall<'message'>[]>>()
  is<Same<(typeof messages)[0]['body']['message'], string>>()
  const end = await ada.expectCall('end', { sender: { name: expect.any(String) } })
  is<Same<typeof end.response.event, 'TAKEOVER ENDED'>>()
  const typing = await ada.expectCall('typing_start', { timeout: { $lte: 10_000 } })
  is<Same<typeof typing.body.timeout, number | undefined>>()
  await ada.expectCall('typing_stop')
  const summary = await ada.expectCall('summarize')
  is<Same<typeof summary.response.summary, string>>()
  const transcript = await ada.expectCall('transcript')
  is<Same<(typeof transcript.response.chat.messages)[0]['from_bot'], boolean>>()
  const chat = await ada.expectCall('chat')
  is<Same<typeof chat.response.chat.language_code, string>>()
  const availability = await sim.expectCall('availability', { availability: 'CLOSED', reason: 'OTHER' })
  is<Same<typeof availability.body.availability, 'OPEN' | 'CLOSED'>>()
  is<Same<typeof availability.response.bot_id, string>>()

  // @ts-expect-error no such call
  await ada.expectCall('begin')
  // @ts-expect-error availability belongs to the bot
  await ada.expectCall('availability')
  // @ts-expect-error start belongs to a chat
  await sim.expectCall('start')
  // @ts-expect-error misspelt
  await ada.expectCall('start', { suports_attachment: true })
  // @ts-expect-error misspelt inside
  await ada.expectCall('start', { sender: { nam: 'Anna' } })
  // @ts-expect-error a text is wanted
  await ada.expectCall('message', { message: 7 })
  // @ts-expect-error a number is wanted
  await ada.expectCall('message', { bot_id: /7/ })
  // @ts-expect-error not a value of it
  await sim.expectCall('availability', { availability: 'AWAY' })
  // @ts-expect-error a duration has a unit and is a text
  await ada.expectCall('start', {}, { within: 3000 })
  // @ts-expect-error a negative says for how long
  await ada.expectNone('message')
  await ada.expectNone('message', { for: '500ms' })
  await ada.expectNone('message', { message: 'Hi' }, { for: '500ms' })
  // @ts-expect-error not a call or a finding
  await sim.assertClean({ allow: ['mesage'] })
  await sim.assertClean({ allow: ['typing_start', 'sender-incomplete'] })
}

export async function everythingElse(): Promise<void> {
  const sim = createSimulator({ agent: { inbox: () => [{ text: 'Hi' }], does: { transfer: ({ chat }) => chat?.id } } })
  const ada = await sim.chat()
  await ada.expectAgentSees('Hi', { times: 1, within: '1s' })
  await ada.expectAgentSees({ request: true })
  is<Same<Awaited<ReturnType<typeof ada.waitFor<string | undefined>>>, string>>()
  const pressed = await ada.press('handover', { async: true })
  is<Same<NonNullable<typeof pressed.ack>['durationMs'], number>>()
  await ada.expectCall('start', {}, { since: pressed })
  await ada.says('Hi', { attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 87 }] })
  // @ts-expect-error not an option
  await ada.says('Hi', { wait: true })
  await using server = await startSimulator({ port: 0, expectTimeout: '1s' })
  await (await server.chat()).expectCall('start')
  // @ts-expect-error not a verb
  createSimulator({ agent: { answers: () => {} } })
}

export async function matchers(sim: Simulator): Promise<void> {
  const ada = await sim.chat()
  expect(ada).toHaveReceived('start', { sender: { name: 'Anna' } }, { times: 1 })
  expect(sim).not.toHaveReceived('message', { message: expect.stringContaining('Hi') })
  expect(sim).toHaveDelivered('MESSAGE FROM USER', { message: /Hi/, attachments: [{ name: 'a.pdf' }] })
  // @ts-expect-error no such call
  expect(ada).toHaveReceived('begin')
  // @ts-expect-error not a field of start
  expect(ada).toHaveReceived('start', { message: 'Hi' })
  // @ts-expect-error no such event
  expect(ada).toHaveDelivered('MESSAGE')
  // @ts-expect-error not a field of the event
  expect(ada).toHaveDelivered('REQUESTING TAKEOVER', { message: 'Hi' })
}

export function fetchOf(sim: Simulator): void {
  const handedIn: typeof fetch = sim.fetch
  const webhook: (request: Request) => Promise<Response> = sim.fetch
  is<Same<ReturnType<typeof handedIn>, ReturnType<typeof webhook>>>()
}
