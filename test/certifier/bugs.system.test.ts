/** Checks what only shows where the intermediary is a process: connections, links, its end, and its restart. */
import { expect, it } from 'vitest'
import { expectFound, SYSTEM_BUGS } from './bugs.ts'
import { certifyExample } from './target.ts'

// First and alone: it measures with 200 chats.
it('the example passes the checks of load and restart, which measure', async () => {
  const { checks, exitCode, stderr } = await certifyExample(
    null,
    '--only',
    'CON',
    '--only',
    'RST',
    ...['--ack-limit', '10s', '--observe', '2s'],
  )
  expect(checks.map(({ id, outcome, findings }) => [id, outcome, findings])).toEqual([
    ['CON-01', 'pass', []],
    ['RST-01', 'pass', []],
  ])
  const measured = checks[0]!.measurements
  for (const what of ['ack', 'to_agent', 'to_user'])
    for (const chats of [20, 200]) {
      const [p50, p95, p99] = ['p50', 'p95', 'p99'].map(share => measured[`${what}_${chats}_chats_${share}_ms`]!)
      expect(p50! <= p95! && p95! <= p99! && p50! > 0).toBe(true)
    }
  expect(stderr).not.toContain('ended during the run')
  expect(exitCode).toBe(0)
})

it('the example passes the checks of connections and links', async () => {
  const { checks } = await certifyExample(null, '--only', 'WIR', '--only', 'ATT')
  expect(checks.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(['WIR-01 pass', 'WIR-02 pass', 'ATT-01 pass'])
})

it.concurrent.for(SYSTEM_BUGS)('%s is found', async ([bug, found, ...flags]) => {
  const { checks } = await certifyExample(bug, '--only', found.check, '--no-rotate-unspecified', ...flags)
  expectFound(found, checks)
})
