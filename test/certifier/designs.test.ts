/** Certifies intermediaries that are correct in another way than the example: only true findings may be reported. */
import { expect, it } from 'vitest'
import type { CertifyOptions } from '../../src/testing/certify.ts'
import type { Changes } from '../mutants/changes.ts'
import type { DesignName } from '../mutants/designs.ts'
import type { Patch } from '../mutants/patch.ts'
import { certifyInProcess, idsOf } from './in-process.ts'

/** The codes of the findings of each check that does not pass, or the reason. */
type Others = Readonly<Record<string, readonly string[]>>

const LOST_ANSWER: Others = { 'FLT-04': ['info', 'lost-answer'] }
const LINKS_NOT_OBSERVED: Others = { 'ATT-01': ['info', 'links-not-observed'] }
const READS_INBOX = ['EVT-05', 'FLW-02', 'FLW-08', 'TXT-01', 'ATT-01', 'DLV-01']
const INBOX_FAILED = Object.fromEntries(READS_INBOX.map(id => [id, ['inconclusive', 'inbox_failed']]))
const WITHOUT_FAULTS = { skip: ['CON', 'RST', 'WIR-01', 'FLT'] }

const DESIGNS: readonly [design: DesignName | null, options: CertifyOptions, others: Others][] = [
  // FLW-05 alone, because it sees the call about a chat of the check before it that comes after the reset.
  ['does-more', { skip: [...WITHOUT_FAULTS.skip, 'FLW-05'] }, { 'TXT-03': ['info', 'long-text-split'] }],
  ['does-more', { only: ['FLW-05'] }, { 'FLW-05': ['info', 'path-form'] }],
  ['does-more', { only: ['FLT'] }, LOST_ANSWER],
  ['does-less', WITHOUT_FAULTS, { 'SIG-08': ['inconclusive', 'no_visible_effect'] }],
  ['does-less', { only: ['FLT'] }, { 'FLT-02': ['warn', 'call-given-up'], ...LOST_ANSWER }],
  ['shows-one-block', { only: ['FLW'] }, {}],
  ['describes-the-request', { only: ['FLW'] }, {}],
  // What is behind the link is not known.
  ['links-to-the-conversation', { only: ['FLW'] }, { 'FLW-08': ['inconclusive', 'conversation_linked'] }],
  ['lists-names-of-files', { only: ['ATT-01'] }, LINKS_NOT_OBSERVED],
  ['has-relative-links', { only: ['ATT-01'] }, LINKS_NOT_OBSERVED],
  ['shares-connections', { only: ['ACK', 'FLW', 'FLT'] }, LOST_ANSWER],
  ['is-slow', { only: ['DLV', 'FLW', 'EVT-06', 'FLT'] }, LOST_ANSWER],
  // The time for many chats at once is over before its agents act, which decides nothing.
  ['is-slow', { only: ['CON-01'], observe: '50ms' }, { 'CON-01': ['info', 'load-not-finished'] }],
  ['repeats-notices', { only: ['SIG-08'] }, {}],
  // An inbox that the driver cannot read is not an empty inbox.
  ['has-no-readable-inbox', { only: READS_INBOX }, INBOX_FAILED],
  ['records-calls-late', WITHOUT_FAULTS, {}],
  ['handles-events-late', WITHOUT_FAULTS, {}],
  ['polls-the-desk', WITHOUT_FAULTS, {}],
  ['works-in-batches', WITHOUT_FAULTS, {}],
]

it.for(DESIGNS)('%s with %j', async ([design, options, others]) => {
  const { checks } = await certifyInProcess(design, { within: '4s', rotateUnspecified: false, ...options })
  const notPassed = checks
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ id, outcome, findings, reasonCode }) => [
      id,
      [outcome, ...new Set(findings.map(({ code }) => code)), ...(reasonCode === null ? [] : [reasonCode])],
    ])
  expect(Object.fromEntries(notPassed)).toEqual(others)
})

const sends = (body: string): Patch[] => [
  { file: 'platform.js', find: 'JSON.stringify(call.body)', replacement: `JSON.stringify(${body})` },
]
/** What the description leaves open to an intermediary. */
const LIBERTIES: readonly [what: string, changes: Changes][] = [
  ['null in place of a list', sends("call.name === 'message' ? { ...call.body, buttons: null } : call.body")],
  ['null in a sender', sends('{ ...call.body, sender: call.body.sender && { ...call.body.sender, avatar: null } }')],
  ['an empty text', sends("{ ...call.body, sender: call.body.sender && { ...call.body.sender, avatar: '' } }")],
  ['an empty list', sends("call.name === 'message' ? { ...call.body, buttons: [] } : call.body")],
  ['a field that nobody knows', sends("{ ...call.body, trace: 'x' }")],
  ['typing that ends at once', sends("call.name === 'typing_start' ? { ...call.body, timeout: 0 } : call.body")],
  ['other slashes', [{ file: 'platform.js', find: "'message/'", replacement: "'message'" }]],
  ['a second end', 'ends-twice'],
  ['a farewell after the end', 'says-goodbye-late'],
  ['typing calls for typing events', 'returns-typing'],
  ['an acknowledgement after a second and a half', 'acks-slowly'],
]

it.for(LIBERTIES)('no MUST rests on what the description leaves open: %s', async ([, changes]) => {
  const { checks } = await certifyInProcess(changes, { ...WITHOUT_FAULTS, within: '2s', ackLimit: '1s' })
  expect(idsOf(checks, 'fail', 'error')).toEqual([])
  expect(idsOf(checks, 'warn')).not.toEqual([])
})
