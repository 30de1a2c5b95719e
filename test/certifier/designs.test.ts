/** Certifies intermediaries that are correct in another way than the example: only true findings may be reported. */
import { expect, it } from 'vitest'
import type { DesignName } from '../mutants/designs.ts'
import { certifyExample } from './target.ts'

const flags = ['--skip', 'CON', '--skip', 'RST', '--within', '4s', '--seed', '1']

/** All checks that do not pass, with the codes of their findings or the reason. */
async function certifyDesign(design: DesignName, ...only: string[]) {
  const { checks } = await certifyExample(design, ...flags, ...only)
  const others = checks.filter(({ outcome }) => outcome !== 'pass')
  return Object.fromEntries(
    others.map(({ id, outcome, findings, reason_code }) => [
      id,
      [outcome, ...new Set(findings.map(({ code }) => code)), ...(reason_code === null ? [] : [reason_code])],
    ]),
  )
}

it.concurrent('one that calls the platform before an agent accepts, and splits and delays texts', async () => {
  expect(await certifyDesign('does-more')).toEqual({
    'FLW-05': ['info', 'path-form'],
    'TXT-03': ['info', 'long-text-split'],
    'FLT-04': ['info', 'lost-answer'],
  })
})

it.concurrent('one without a queue, a list of requests, and chats that it does not know', async () => {
  expect(await certifyDesign('does-less', '--skip', 'FLT')).toEqual({
    'SIG-08': ['inconclusive', 'no_visible_effect'],
  })
})

/** With the defaults of the platform: the search for a decisive value would play the slow check many times. */
it.concurrent('the same one when calls fail', async () => {
  expect(await certifyDesign('does-less', '--only', 'FLT', '--no-rotate-unspecified')).toEqual({
    'FLT-02': ['warn', 'call-given-up'],
    'FLT-04': ['info', 'lost-answer'],
  })
})

it.concurrent('those whose inbox has no links to open', async () => {
  const designs = ['lists-names-of-files', 'has-relative-links'] as const
  const others = await Promise.all(designs.map(design => certifyDesign(design, '--only', 'ATT-01')))
  expect(others).toEqual(designs.map(() => ({ 'ATT-01': ['info', 'links-not-observed'] })))
})

it.concurrent('one whose chats share five connections, and that stops all calls when its key is refused', async () => {
  const only = ['ACK', 'FLW', 'FLT'].flatMap(id => ['--only', id])
  expect(await certifyDesign('shares-connections', ...only)).toEqual({ 'FLT-04': ['info', 'lost-answer'] })
})

it.concurrent('one that learns of requests late, and is slow for its agents', async () => {
  const only = ['DLV', 'FLW', 'EVT-06', 'FLT'].flatMap(id => ['--only', id])
  expect(await certifyDesign('is-slow', ...only)).toEqual({ 'FLT-04': ['info', 'lost-answer'] })
})

it.concurrent('one whose agents are too slow for many chats at once, which decides nothing', async () => {
  const { checks } = await certifyExample('is-slow', '--only', 'CON-01', '--observe', '50ms')
  const [{ outcome, findings, measurements } = {}] = checks
  expect([outcome, findings?.map(({ code }) => code)]).toEqual(['info', ['load-not-finished']])
  expect(measurements).toHaveProperty('to_user_20_chats_p50_ms')
})

it.concurrent('the example, when the time for many chats at once is over before its agents act', async () => {
  const { checks } = await certifyExample(null, '--only', 'CON-01', '--observe', '1ms')
  expect(checks[0]?.findings.map(({ code }) => code)).toEqual(['load-not-finished'])
})

it.concurrent('one that repeats notices, and reads the transcript with every request', async () => {
  expect(await certifyDesign('repeats-notices', '--only', 'SIG-08')).toEqual({})
})

it.concurrent('one whose inbox the driver cannot read, which is not an empty inbox', async () => {
  const ids = ['EVT-05', 'FLW-02', 'TXT-01', 'ATT-01', 'DLV-01']
  const others = await certifyDesign('has-no-readable-inbox', ...ids.flatMap(id => ['--only', id]))
  expect(others).toEqual(Object.fromEntries(ids.map(id => [id, ['inconclusive', 'inbox_failed']])))
})

it.concurrent.for(['records-calls-late', 'handles-events-late', 'polls-the-desk', 'works-in-batches'] as const)(
  'one that %s',
  async (design, { expect }) => {
    const only = ['ACK', 'ATT', 'AVL', 'DLV', 'EVT', 'FLW', 'TRL', 'TXT', 'TYP'].flatMap(id => ['--only', id])
    expect(await certifyDesign(design, ...only)).toEqual({})
  },
)
