/** How the chat has to be. */
import { expect, it } from 'vitest'
import { checked } from '../scenario/journal-builder.ts'

const chatIs = (check: object) => ({ chats: { ada: {}, bo: {} }, steps: [{ check, chat: 'ada' }] })

it('is met as soon as one observation holds', async () => {
  const verdict = await checked(chatIs({ status: 'agent', typing: false }), journal => {
    journal.step(1, () => {
      journal.observe(1, { status: 'pending' })
      journal.pass(1000)
      journal.observe(1, { status: 'agent' })
      journal.observe(1, { status: 'bot' })
    })
  })
  expect(verdict.outcome).toBe('pass')
})

it('tells every field that is not as it should be', async () => {
  const verdict = await checked(chatIs({ status: 'agent', typing: true, availability: { $not: 'OPEN' } }), journal => {
    journal.step(1, () => {
      journal.observe(1, { status: 'pending' })
      journal.pass(5000)
    })
  })
  expect(verdict.failures).toHaveLength(1)
  expect(verdict.failures[0]).toMatchObject({
    kind: 'check',
    wanted: 'check { status: "agent", typing: true, availability: $not "OPEN" } in chat "ada"',
    happened:
      'status: "agent" wanted, "pending" there; typing: true wanted, false there; availability: $not "OPEN" wanted, "OPEN" there',
    marks: [5],
  })
})

it('an observation after its time does not help', async () => {
  const verdict = await checked(chatIs({ status: 'agent' }), journal => {
    journal.step(1, () => {
      journal.observe(1, {})
      journal.pass(5000)
      journal.observe(1, { status: 'agent' })
    })
  })
  expect(verdict.outcome).toBe('fail')
})

it('events are counted in their own chat, also when one comes after the last observation', async () => {
  const scenario = chatIs({ events: { 'REQUESTING TAKEOVER': 1, 'MESSAGE FROM USER': 0 } })
  const verdict = await checked(scenario, journal => {
    journal.event('REQUESTING TAKEOVER', 'bo')
    journal.step(1, () => {
      journal.observe(1, {})
      journal.event('REQUESTING TAKEOVER', 'ada')
    })
  })
  expect(verdict.outcome).toBe('pass')
  const none = await checked(scenario, journal => {
    journal.step(1, () => {
      journal.observe(1, {})
      journal.pass(5000)
    })
  })
  expect(none.failures[0]!.happened).toBe('events.REQUESTING TAKEOVER: 1 wanted, 0 there')
})

const ROWS = [{ user: 'Hi' }, { bot: 'Wait.', buttons: [] }, { agent: 'Anna', text: 'Hello' }, { user: 'Thanks' }]

it.each([
  [{ last: [{ user: 'Thanks' }] }],
  [{ last: [{ agent: 'Anna', text: { $re: 'ell' } }, { user: 'Thanks' }] }],
  [{ contains: [{ user: 'Hi' }, { agent: { $any: true }, text: 'Hello' }] }],
  [{ lacks: [{ user: 'Bye' }] }],
  [{ length: 4 }],
  [{ length: { $gt: 3 } }],
])('transcript %j holds', async transcript => {
  const verdict = await checked(chatIs({ transcript }), journal => {
    journal.step(1, () => journal.observe(1, { transcript: ROWS }))
  })
  expect(verdict.failures).toEqual([])
})

it.each([
  [
    { last: [{ user: 'thanks' }] },
    'transcript.last[0].user: "thanks" wanted, "Thanks" there (only upper and lower case differ)',
  ],
  [{ last: [{ bot: 'Bye' }] }, 'transcript.last[0]: { bot: "Bye" } wanted, { user: "Thanks" } there'],
  [{ contains: [{ user: 'Thanks' }, { user: 'Hi' }] }, 'transcript.contains[1]: { user: "Hi" } wanted, nothing there'],
  [
    { contains: [{ agent: 'Anna', text: 'Hello!' }] },
    'transcript.contains[0].text: "Hello!" wanted, "Hello" there (cut off after 5 of 6 characters)',
  ],
  [{ lacks: [{ user: 'Hi' }] }, 'transcript.lacks[0]: no { user: "Hi" } wanted, { user: "Hi" } there'],
  [{ length: 5 }, 'transcript.length: 5 wanted, 4 there'],
  [{ last: [{ user: 'x' }, ...ROWS] }, 'transcript.last[0]: { user: "x" } wanted, nothing there'],
])('transcript %j fails', async (transcript, happened) => {
  const verdict = await checked(chatIs({ transcript }), journal => {
    journal.step(1, () => {
      journal.observe(1, { transcript: ROWS })
      journal.pass(5000)
    })
  })
  expect(verdict.failures[0]!.happened).toBe(happened)
})
