/** Errors of the testing API name the field that is wrong, and nothing passes or fails for another reason. */
import express from 'express'
import { expect, it } from 'vitest'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { createSimulator, type SimulatorOptions, startSimulator } from '../../src/testing/simulator.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { requestHandover, simulatorWith } from './desk.ts'

const ok = () => new Response('ok')

it.each([
  [{ webhookUrl: 'http://127.0.0.1:3000' }, 'createSimulator takes no webhookUrl; did you mean webhook?'],
  [{ webhook: ok }, 'got a function; write { fetch: ... } or { listener: ... }.'],
  [{ webhook: 'http://a.test' }, 'got "http://a.test"; write { url: ... }.'],
  [{ webhook: { handler: ok } }, 'webhook takes no handler; it takes url, fetch, env, listener.'],
  [{ webhook: { url: '/webhook' } }, 'webhook.url must be an http or https URL such as http'],
  [{ webhook: { fetch: express() } }, 'an Express application goes into fromNode), got a function.'],
  [{ baseUrl: 'https://a.test/?b=c' }, 'baseUrl must be an http or https URL without a query'],
  [{ clock: 'virtul' }, 'clock must be "real", "virtual" or { mode: "virtual", start }, got "virtul".'],
  [{ clock: { start: '2024-01-01' } }, 'clock must be "real", "virtual" or { mode: "virtual", start }'],
  [{ seed: Number.NaN }, 'seed must be a whole number from 0, got NaN.'],
  [{ bot: { replies: [{ match: 'hi' }] } }, 'bot.replies[0] must be { match, text, buttons? }, got {"match":"hi"}.'],
  [{ agent: { inbx: ok } }, 'agent takes no inbx; did you mean inbox?'],
  [{ journalLimit: 0 }, 'journalLimit must be a whole number from 1, got 0.'],
  [{ translate: 'deepl' }, 'translate must be a function, got "deepl".'],
  [{ expectTimeout: 2000 }, 'expectTimeout must be a duration such as 500ms or 2s, got 2000.'],
  [{ port: 4747 }, 'createSimulator takes no port, because it opens no port; startSimulator takes it.'],
  [{ seed: -1, markers: 'no' }, /^seed must .* markers must /],
  [null, 'createSimulator must be an object with seed, clock,'],
])('createSimulator(%j)', (options, message) => {
  const make = () => createSimulator(options as SimulatorOptions)
  expect(make).toThrow(InvalidOptionError)
  expect(make).toThrow(message)
})

it('startSimulator and server.workspace reject unknown options too', async () => {
  await expect(startSimulator({ prt: 0 } as never)).rejects.toThrow('startSimulator takes no prt; did you mean port?')
  await using server = await startSimulator({ port: 0 })
  const wrong = server.workspace({ baseUrl: 'https://a.test' } as never)
  await expect(wrong).rejects.toThrow(/^workspace takes no baseUrl/)
})

it.each([
  ['handver', 'There is no button "handver"; to press: "handover", "Yes", "No"; did you mean handover?'],
  ['agent', 'There is no button "agent"; to press: "handover", "Yes", "No".'],
])('lists the buttons for %j, which there is not', async (button, message) => {
  const buttons = [{ label: 'Yes' }, { label: 'No' }]
  const pressed = (await createSimulator().chat({ history: [{ bot: 'Are you there?', buttons }] })).press(button)
  await expect(pressed).rejects.toThrow(InvalidOptionError)
  await expect(pressed).rejects.toMatchObject({ message, problems: [{ name: 'button' }] })
})

it.each([
  [{ user: { first_name: 'Ada' } }, 'user takes no first_name; it takes id, firstName, lastName, gender.'],
  [{ user: 'Ada' }, 'user must be an object with id, firstName, lastName, gender, got "Ada".'],
  [{ usr: {} }, 'chat takes no usr; did you mean user?'],
  [{ language: 12 }, 'language must be a string, got 12.'],
  [{ history: 'Hello' }, 'history must be an array, got "Hello".'],
  [{ history: [{ user: 'Hi' }, {}] }, 'history[1] must be { user }, { bot, buttons? } or { agent, text }, got {}.'],
  [{ history: [{ bot: 'Hi', buttons: ['Yes'] }] }, 'history[0] must be { user }, { bot, buttons? } or'],
  [{ history: [{ agent: 'Anna' }] }, 'history[0] must be { user }, { bot, buttons? } or'],
  [{ labels: ['vip', 5] }, 'labels[1] must be a string, got 5.'],
])('chat(%j)', async (options, message) => {
  await expect(createSimulator().chat(options as never)).rejects.toThrow(message)
})

it.each([
  [{ availability: 'open' }, 'availability must be "OPEN" or "CLOSED", got "open".'],
  [{ availability: 'OPEN', cause: 'x' }, 'setAvailability takes no cause'],
])('setAvailability(%j)', (options, message) => {
  expect(() => createSimulator().setAvailability(options as never)).toThrow(message)
})

it.each([
  ['says', [5], 'text must be a string, got 5.'],
  ['says', ['x', { attach: 'a.pdf' }], 'attach must be an array, got "a.pdf".'],
  ['says', ['x', { attach: [{ nam: 'a' }] }], 'attach takes no nam'],
  ['says', [''], 'text or at least one attachment'],
  ['says', ['x', { asyn: true }], 'says takes no asyn; it takes text, async, attach.'],
  ['press', ['handover', { asyn: true }], 'press takes no asyn'],
  ['expectCall', ['strat'], '"strat" is not a call of the platform; did you mean start?'],
  ['expectCall', [], 'undefined is not a call of the platform; the calls are transcript,'],
  ['expectCall', ['availability'], "availability belongs to the bot, not to a chat: sim.expectCall('availability')."],
  ['expectCall', ['start', {}, { timeout: '1s' }], 'expectCall takes no timeout; it takes within, times, since.'],
  ['expectCall', ['start', {}, { within: '5' }], 'within must be a duration such as 500ms or 2s, got "5".'],
  ['expectCall', ['start', {}, { times: -1 }], 'times must be a number, or { min, max } in this order, got -1.'],
  ['expectCall', ['start', {}, { times: { min: 2, max: 1 } }], 'times must be a number, or { min, max } in this'],
  ['expectCall', ['start', {}, { since: { seq: 99 } }], 'since must be what an action of this chat resolved with'],
  ['expectCall', ['start', 'Anna'], 'body must be an object, or a matcher of one, got "Anna".'],
  ['expectCall', ['start', { sender: { $typ: 'string' } }], 'sender.$typ is not a matcher; did you mean $type'],
  ['expectCall', ['start', { within: '1s' }], 'body must not be options, got {"within":"1s"}. Options come after'],
  ['expectCall', ['start', { sender: { nam: 'Anna' } }], 'start has no field sender.nam; did you mean name?'],
  ['expectCall', ['message', { 'sender.name': 'Anna' }], 'message has no field sender.name; write sender: {'],
  ['expectNone', ['start', { ticket: 7 }, { for: '0s' }], 'start has no field ticket; it has bot_id, chat_id,'],
  ['expectNone', ['start'], "expectNone needs a duration: { for: '500ms' } also"],
  ['expectNone', ['start', { fr: '0s' }], 'expectNone takes no fr; it takes for.'],
  ['expectAgentSees', ['Hello', { withn: '1s' }], 'expectAgentSees takes no withn; it takes within, times, for.'],
  ['waitFor', ['agent'], 'waitFor takes a function, got "agent".'],
] as const)('%s(%j)', async (name, args, message) => {
  const { sim } = simulatorWith()
  const ada = await sim.chat()
  const refused = Reflect.apply(ada[name], ada, args) as Promise<unknown>
  await expect(refused).rejects.toThrow(InvalidOptionError)
  await expect(refused).rejects.toThrow(message)
  expect(ada.transcript).toEqual([])
  await sim.assertClean()
})

it.each([
  [{ alow: [] }, 'assertClean takes no alow; it takes allow, settle.'],
  [{ allow: 'start' }, 'allow must be an array, got "start".'],
  [{ allow: ['mesage'] }, /got "mesage"/],
  [{ settle: 'soon' }, /settle must be a duration/],
])('assertClean(%j)', async (options, message) => {
  await expect(simulatorWith().sim.assertClean(options as never)).rejects.toThrow(message)
})

it('a field that the platform does not define can be expected, unless its name is similar to one', async () => {
  const { call, ada } = await requestHandover()
  await call('start', { chat_id: ada.id, sender: { name: 'Anna', avatar: 'https://a.test/a.png' }, ticket: 7 })
  const jest = { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true }
  await ada.expectCall('start', { ticket: 7, sender: { name: jest }, note: { $absent: true } } as object)
  expect(matchers.toHaveReceived.call({ isNot: false }, ada, 'start', { ticket: 7 }).pass).toBe(true)
  const negated = () => matchers.toHaveReceived.call({ isNot: true }, ada, 'start', { tickt: 7 })
  expect(negated).toThrow('start has no field tickt; it has bot_id, chat_id,')
})

it('a call about a removed chat is distinguished from one about an unknown chat', async () => {
  const { sim, call } = simulatorWith()
  const { id } = await sim.chat()
  sim.reset()
  sim.reset()
  const late = await call('end', { chat_id: id })
  expect(await late.text()).toContain('is not a chat here any more: it was removed when the simulator was reset.')
  expect(await (await call('end', { chat_id: 'unknown' })).text()).toContain('\\"unknown\\" is not a chat here.')
})
