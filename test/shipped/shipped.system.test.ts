/** Runs the shipped scenarios against programs, which can be killed and started again. */
import { expect, it } from 'vitest'
import { BUGS } from '../mutants/bugs.ts'
import { runMinimal, runShipped } from './target.ts'

it('the example passes all scenarios without warnings', async () => {
  const { exitCode, scenarios, failures, stderr } = await runShipped(null, ['scenarios'])
  const others = scenarios.filter(({ outcome, warnings }) => outcome !== 'pass' || warnings.length > 0)
  expect(others.map(({ name, outcome, reason, warnings }) => ({ name, outcome, reason, warnings }))).toEqual([])
  expect({ exitCode, failures }, stderr).toEqual({ exitCode: 0, failures: [] })
})

it('an intermediary that does only what is required, and never retries, passes with warnings', async () => {
  const { exitCode, scenarios, failures, stderr } = await runMinimal()
  const failed = scenarios.filter(({ outcome }) => outcome !== 'pass')
  // It has no verb for notices and transfers.
  expect(failed.map(({ name, outcome }) => `${outcome}: ${name}`).sort(), stderr).toEqual([
    'inconclusive: Agent transfers',
    'inconclusive: Notice before the takeover',
    'inconclusive: Queue position',
  ])
  expect({ exitCode, failures }).toEqual({ exitCode: 0, failures: [] })
  const rules = new Set(scenarios.flatMap(({ warnings }) => warnings.map(({ rule }) => rule)))
  expect(rules).toEqual(new Set(['recommended', 'sender-incomplete', 'reason-missing', 'typing-never-stopped']))
})

it.concurrent.for(BUGS.filter(({ scenario }) => scenario === 'restart'))('$scenario finds $bug', async row => {
  const { scenarios, exitCode } = await runShipped(row.bug, [`scenarios/${row.scenario}.yaml`])
  const [first] = scenarios.flatMap(({ warnings }) => warnings.flatMap(({ failure }) => failure ?? []))
  expect(first?.kind).toBe(row.kind)
  expect(`${first?.expected} | ${first?.happened}`).toMatch(row.says)
  expect(exitCode).toBe(0)
})
