/** Tests `check`: the state of the chat, its events and its transcript. */
import type { TranscriptRow } from '../../src/evaluation/scenario/run-events.ts'
import type { JournalBuilder } from '../scenario/journal-builder.ts'
import { observe, pass, step, testVerdicts, type VerdictCase } from './verdicts.ts'

const chatIs = (check: object) => ({ chats: { ada: {}, bo: {} }, steps: [{ check, chat: 'ada' }] })
const event = (name: string, conversation: string) => (journal: JournalBuilder) => journal.event(name, conversation)
const differs = (happened: string) => ({ kind: 'check', happened: `the chat is not as expected: ${happened}` })

const EVENTS = chatIs({ events: { 'REQUESTING TAKEOVER': 1, 'MESSAGE FROM USER': 0 } })
const ROWS: TranscriptRow[] = [
  { user: 'Hi' },
  { bot: 'Wait.', buttons: [] },
  { agent: 'Anna', text: 'Hello' },
  { user: 'Thanks' },
]

/** What a check wants of the transcript, and how the transcript differs. */
const TRANSCRIPTS: readonly (readonly [object, string?])[] = [
  [{ last: [{ user: 'Thanks' }] }],
  [{ last: [{ agent: 'Anna', text: { $re: 'ell' } }, { user: 'Thanks' }] }],
  [{ contains: [{ user: 'Hi' }, { agent: { $any: true }, text: 'Hello' }] }],
  [{ lacks: [{ user: 'Bye' }] }],
  [{ length: 4 }],
  [{ length: { $gt: 3 } }],
  [
    { last: [{ user: 'thanks' }] },
    'last[0].user: expected "thanks", received "Thanks" (only upper and lower case differ)',
  ],
  [{ last: [{ bot: 'Bye' }] }, 'last[0]: expected { bot: "Bye" }, received { user: "Thanks" }'],
  [{ contains: [{ user: 'Thanks' }, { user: 'Hi' }] }, 'contains[1]: expected { user: "Hi" }, received nothing'],
  [{ lacks: [{ user: 'Hi' }] }, 'lacks[0]: expected $not { user: "Hi" }, received { user: "Hi" }'],
  [{ length: 5 }, 'length: expected 5, received 4'],
  [{ last: [{ user: 'x' }, ...ROWS] }, 'last[0]: expected { user: "x" }, received nothing'],
]

const transcripts = TRANSCRIPTS.map(([transcript, difference]): [string, VerdictCase] => {
  const isWrong = difference !== undefined
  const seen = step(1, observe(1, { transcript: ROWS }), pass(isWrong ? 5000 : 0))
  const failures = isWrong ? differs(`transcript.${difference}`) : 'pass'
  return [`transcript ${JSON.stringify(transcript)}`, [chatIs({ transcript }), [seen], failures]]
})

testVerdicts({
  'passes as soon as one observation matches': [
    chatIs({ status: 'agent', typing: false }),
    [step(1, observe(1, { status: 'pending' }), pass(1000), observe(1, { status: 'agent' }), observe(1))],
  ],
  'a failure lists every different field': [
    chatIs({ status: 'agent', typing: true, availability: { $not: 'OPEN' } }),
    [step(1, observe(1, { status: 'pending' }), pass(5000))],
    {
      ...differs(
        'status: expected "agent", received "pending"; typing: expected true, received false; ' +
          'availability: expected $not "OPEN", received "OPEN"',
      ),
      expected: 'check { status: "agent", typing: true, availability: $not "OPEN" } in chat "ada"',
      entrySeqs: [5],
    },
  ],
  'a late observation does not count': [
    chatIs({ status: 'agent' }),
    [step(1, observe(1), pass(5000), observe(1, { status: 'agent' }))],
    { kind: 'check' },
  ],
  'events are counted in their own chat, also when one comes after the last observation': [
    EVENTS,
    [event('REQUESTING TAKEOVER', 'bo'), step(1, observe(1), event('REQUESTING TAKEOVER', 'ada'))],
  ],
  'missing events are reported': [
    EVENTS,
    [step(1, observe(1), pass(5000))],
    differs('events.REQUESTING TAKEOVER: expected 1, received 0'),
  ],
  ...Object.fromEntries(transcripts),
})
