/** How the chat has to be. */
import { expect, it } from 'vitest'
import { checked } from '../scenario/journal-builder.ts'

const chatIs = (check: object) => ({ chats: { ada: {}, bo: {} }, steps: [{ check, chat: 'ada' }] })

it('check passes as soon as one observation matches', async () => {
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

it('a failure lists every different field', async () => {
  const verdict = await checked(chatIs({ status: 'agent', typing: true, availability: { $not: 'OPEN' } }), journal => {
    journal.step(1, () => {
      journal.observe(1, { status: 'pending' })
      journal.pass(5000)
    })
  })
  expect(verdict.failures).toHaveLength(1)
  expect(verdict.failures[0]).toMatchObject({
    kind: 'check',
    expected: 'check { status: "agent", typing: true, availability: $not "OPEN" } in chat "ada"',
    happened:
      'the chat is not as expected: status: expected "agent", received "pending"; typing: expected true, received false; availability: expected $not "OPEN", received "OPEN"',
    entrySeqs: [5],
  })
})

it('a late observation does not count', async () => {
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
  expect(none.failures[0]!.happened).toBe(
    'the chat is not as expected: events.REQUESTING TAKEOVER: expected 1, received 0',
  )
})

const ROWS = [{ user: 'Hi' }, { bot: 'Wait.', buttons: [] }, { agent: 'Anna', text: 'Hello' }, { user: 'Thanks' }]

it.each([
  [{ last: [{ user: 'Thanks' }] }],
  [{ last: [{ agent: 'Anna', text: { $re: 'ell' } }, { user: 'Thanks' }] }],
  [{ contains: [{ user: 'Hi' }, { agent: { $any: true }, text: 'Hello' }] }],
  [{ lacks: [{ user: 'Bye' }] }],
  [{ length: 4 }],
  [{ length: { $gt: 3 } }],
])('transcript %j matches', async transcript => {
  const verdict = await checked(chatIs({ transcript }), journal => {
    journal.step(1, () => journal.observe(1, { transcript: ROWS }))
  })
  expect(verdict.failures).toEqual([])
})

it.each([
  [
    { last: [{ user: 'thanks' }] },
    'transcript.last[0].user: expected "thanks", received "Thanks" (only upper and lower case differ)',
  ],
  [{ last: [{ bot: 'Bye' }] }, 'transcript.last[0]: expected { bot: "Bye" }, received { user: "Thanks" }'],
  [
    { contains: [{ user: 'Thanks' }, { user: 'Hi' }] },
    'transcript.contains[1]: expected { user: "Hi" }, received nothing',
  ],
  [
    { contains: [{ agent: 'Anna', text: 'Hello!' }] },
    'transcript.contains[0].text: expected "Hello!", received "Hello" (cut off after 5 of 6 characters)',
  ],
  [{ lacks: [{ user: 'Hi' }] }, 'transcript.lacks[0]: expected $not { user: "Hi" }, received { user: "Hi" }'],
  [{ length: 5 }, 'transcript.length: expected 5, received 4'],
  [{ last: [{ user: 'x' }, ...ROWS] }, 'transcript.last[0]: expected { user: "x" }, received nothing'],
])('transcript %j fails', async (transcript, happened) => {
  const verdict = await checked(chatIs({ transcript }), journal => {
    journal.step(1, () => {
      journal.observe(1, { transcript: ROWS })
      journal.pass(5000)
    })
  })
  expect(verdict.failures[0]!.happened).toBe(`the chat is not as expected: ${happened}`)
})
