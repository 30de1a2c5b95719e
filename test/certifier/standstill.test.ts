/** FLW-01 names an intermediary that runs only while it answers requests, and no other. */
import { expect, it } from 'vitest'
import type { Changes } from '../mutants/changes.ts'
import { outbox, webhook } from '../mutants/patch.ts'
import { certifyInProcess } from './in-process.ts'

const STANDSTILL =
  /reached the webhook, and not in the 2s before them: the intermediary may stop after its answer, as on a/

/** What FLW-01 finds when start may take 2 seconds. */
async function findingWith(changes: Changes) {
  const { checks } = await certifyInProcess(changes, { only: ['FLW-01'], within: '2s', rotateUnspecified: false })
  expect(checks).toMatchObject([{ outcome: 'fail', findings: [{ level: 'MUST' }] }])
  return checks[0]!.findings[0]!
}

it('work that continues only with the next request may have been stopped', async () => {
  const { code, happened, hint } = await findingWith('runs-only-while-it-answers')
  expect([code, happened]).toEqual(['call-missing', expect.stringMatching(STANDSTILL)])
  expect(happened).toMatch(/^No start came within 2s after the agent accepted \(.*\)\. It came when further events/)
  expect(hint).toContain('docs/how-to/function-platforms.md')
})

it('so may an event that reaches the help desk only with the next request', async () => {
  const DISPATCH = '    this.#dispatch(event)\n'
  const LATER = `    for (const earlier of (this.events ??= []).splice(0)) this.#dispatch(earlier)
    this.events.push(event)\n`
  const { code, happened } = await findingWith([webhook(DISPATCH, LATER)])
  expect([code, happened]).toEqual(['driver-failed', expect.stringMatching(STANDSTILL)])
  expect(happened).toMatch(/^The agent driver failed at accept.*\. The driver succeeded when further events/)
})

const SEND = 'const outcome = await this.#platform.send(call)'
it.each<[string, Changes]>([
  ['makes no call', 'accepts-locally'],
  ['is slow', [outbox.before(SEND, 'await new Promise(resolve => setTimeout(resolve, 3_000))')]],
  ['is slower still', [outbox.before(SEND, 'await new Promise(resolve => setTimeout(resolve, 30_000))')]],
])('nothing of this is said of one that %s', async (_, changes) => {
  const { code, happened } = await findingWith(changes)
  expect(code).toBe('call-missing')
  expect(happened).not.toMatch(/stop after its answer/)
})
